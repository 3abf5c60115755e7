//! From nest folders to nests that run, by chain.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::Usage;
use crate::cursor::Nest;
use crate::model::{ChainId, NestName};
use crate::plugin::nest_folder::{self, BuiltNest};
use crate::plugin::{Budget, Decoder, PluginHost};

/// Builds every folder and loads its bundle. Compiles guest code, so it runs on a blocking thread.
pub(super) async fn load_folders(
    host: Arc<PluginHost>,
    folders: Vec<PathBuf>,
    backfill: Option<u64>,
) -> anyhow::Result<BTreeMap<ChainId, Vec<Arc<Nest>>>> {
    let loaded = tokio::task::spawn_blocking(move || {
        let mut nests = Vec::new();
        for folder in &folders {
            let built = nest_folder::build(&host, folder)?;
            nest_folder::write_lock(folder, &built)
                .with_context(|| format!("{} cannot be written", folder.join("nest.lock").display()))?;
            nests.push((folder.clone(), ready(&host, built, backfill)?));
        }
        anyhow::Ok(nests)
    })
    .await
    .context("loading the nests broke down")??;
    let mut seen: BTreeMap<NestName, PathBuf> = BTreeMap::new();
    let mut chains: BTreeMap<ChainId, Vec<Arc<Nest>>> = BTreeMap::new();
    for (folder, (chain, nest)) in loaded {
        if let Some(other) = seen.insert(nest.name.clone(), folder.clone()) {
            return Err(Usage::error(format!(
                "{} and {} both hold a nest named '{}'; a process runs each name once: rename one in its nest.toml",
                other.display(),
                folder.display(),
                nest.name
            )));
        }
        chains.entry(chain).or_default().push(Arc::new(nest));
    }
    Ok(chains)
}

/// A built nest with a decoder around its code.
pub(super) fn ready(host: &PluginHost, built: BuiltNest, backfill: Option<u64>) -> anyhow::Result<(ChainId, Nest)> {
    let manifest = built.bundle.manifest();
    let budget = manifest.budget.map_or(host.limits().budget, |own| Budget {
        base: own.base,
        per_log: own.per_log,
        per_byte: own.per_byte,
    });
    let decoder = Decoder::new(
        built.plugin.clone(),
        &manifest.name,
        built.bundle.plan().to_vec(),
        manifest.tables.clone(),
        budget,
    );
    let views = built.bundle.sql_views()?;
    let nest = Nest {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        bundle: built.bundle.hash(),
        identity: built.bundle.data_identity(),
        manifest: built.bundle.manifest_json().to_owned(),
        tables: manifest.tables.clone(),
        filters: manifest.filters.clone(),
        views: views.into_iter().map(|(name, sql)| (name.to_owned(), sql.to_owned())).collect(),
        engine: host.fingerprint().to_owned(),
        decoder: Arc::new(decoder),
        backfill,
    };
    Ok((ChainId(manifest.chain_id), nest))
}
