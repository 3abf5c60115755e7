//! SQL straight on a data folder, beside the process that writes it or without one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nuthatch_registry::NestName;

use super::refusal;
use crate::cli::{Usage, data_folder};
use crate::query::{Answer, QueryEngine, QueryLimits, Served};

/// A data folder and the nest that is asked.
pub struct Local {
    folder: PathBuf,
    nest: NestName,
    engine: QueryEngine,
}

impl Local {
    /// Opens all stores of the folder and finds the nest: the one that is named, or the only one that is there.
    pub async fn open(dir: &Path, nest: Option<NestName>, segments: Option<&str>) -> anyhow::Result<Self> {
        let folder = data_folder::resolve(dir);
        let readers = data_folder::readers(&folder).await?;
        let place = data_folder::segments(&folder, segments)?;
        let served = |reader| Served { reader: Arc::new(reader), segments: place.clone() };
        let stores = readers.into_iter().map(|(_, reader)| served(reader)).collect();
        let engine = QueryEngine::over(stores, QueryLimits::default())?;
        let nest = match nest {
            Some(nest) => nest,
            None => {
                let names: Vec<NestName> =
                    engine.endpoints().await?.into_iter().map(|info| info.endpoint.name).collect();
                only(&names, &folder.display().to_string())?
            }
        };
        Ok(Local { folder, nest, engine })
    }

    /// The nest that is asked.
    pub fn nest(&self) -> &NestName {
        &self.nest
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The answer to one statement.
    pub async fn query(&self, sql: &str) -> anyhow::Result<Answer> {
        self.engine.query(&self.nest, sql).await.map_err(refusal::of_engine)
    }
}

/// The nest to ask where none is named.
pub fn only(names: &[NestName], place: &str) -> anyhow::Result<NestName> {
    match names {
        [one] => Ok(one.clone()),
        [] => Err(anyhow::anyhow!("{place} serves no nest yet; try again once `nuthatch dev` has started")),
        several => {
            let names: Vec<&str> = several.iter().map(NestName::as_str).collect();
            Err(Usage::error(format!("{place} serves several nests; choose one with --nest: {}", names.join(", "))))
        }
    }
}
