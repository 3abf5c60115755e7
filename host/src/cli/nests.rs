//! From nest folders and bundle files to nests that run, by chain.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use nuthatch_registry::MAX_BUNDLE_BYTES;

use super::{Usage, view_lint};
use crate::cursor::Nest;
use crate::model::{ChainId, NestName};
use crate::plugin::nest_folder;
use crate::plugin::{Budget, Decoder, LoadedBundle, PluginHost, load_bundle};

/// Where a nest comes from.
#[derive(Clone, Debug)]
pub(super) enum NestOrigin {
    /// A folder with a nest.toml, built into a bundle at every start.
    Folder(PathBuf),
    /// A bundle file.
    Bundle(PathBuf),
}

impl fmt::Display for NestOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (NestOrigin::Folder(path) | NestOrigin::Bundle(path)) = self;
        path.display().fmt(f)
    }
}

impl NestOrigin {
    fn load(&self, host: &PluginHost) -> anyhow::Result<LoadedBundle> {
        match self {
            NestOrigin::Folder(folder) => {
                let built = nest_folder::build(host, folder)?;
                for (name, sql) in built.bundle.sql_views()? {
                    view_lint::check(name, sql)?;
                }
                view_lint::warn_of_unnamed(folder, built.bundle.manifest());
                nest_folder::write_lock(folder, &built)
                    .with_context(|| format!("{} cannot be written", folder.join("nest.lock").display()))?;
                Ok(built.into_loaded())
            }
            NestOrigin::Bundle(file) => {
                let bytes = read_bundle(file)?;
                load_bundle(host, &bytes).with_context(|| format!("{} cannot be run", file.display()))
            }
        }
    }
}

/// A bundle file's bytes, at most one more than a bundle may have.
pub(super) fn read_bundle(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)
        .and_then(|open| open.take(MAX_BUNDLE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .with_context(|| format!("{} cannot be read", file.display()))?;
    Ok(bytes)
}

/// Loads every nest. Compiles guest code, so it runs on a blocking thread.
pub(super) async fn load(
    host: Arc<PluginHost>,
    origins: Vec<NestOrigin>,
    backfill: Option<u64>,
) -> anyhow::Result<BTreeMap<ChainId, Vec<Arc<Nest>>>> {
    let loaded = tokio::task::spawn_blocking(move || {
        let mut nests = Vec::new();
        for origin in origins {
            let loaded = origin.load(&host)?;
            nests.push((ready(&host, loaded, backfill)?, origin));
        }
        anyhow::Ok(nests)
    })
    .await
    .context("loading the nests broke down")??;
    let mut seen: BTreeMap<NestName, NestOrigin> = BTreeMap::new();
    let mut chains: BTreeMap<ChainId, Vec<Arc<Nest>>> = BTreeMap::new();
    for ((chain, nest), origin) in loaded {
        if let Some(other) = seen.insert(nest.name.clone(), origin.clone()) {
            return Err(Usage::error(format!(
                "{other} and {origin} both hold a nest named '{}'; a process runs each name once: rename one in its \
                 nest.toml",
                nest.name
            )));
        }
        chains.entry(chain).or_default().push(Arc::new(nest));
    }
    Ok(chains)
}

/// A loaded bundle with a decoder around its code.
pub(super) fn ready(host: &PluginHost, loaded: LoadedBundle, backfill: Option<u64>) -> anyhow::Result<(ChainId, Nest)> {
    let manifest = loaded.bundle.manifest();
    let budget = manifest.budget.map_or(host.limits().budget, |own| Budget {
        base: own.base,
        per_log: own.per_log,
        per_byte: own.per_byte,
    });
    let decoder = Decoder::new(
        loaded.plugin.clone(),
        &manifest.name,
        loaded.bundle.plan().to_vec(),
        manifest.tables.clone(),
        budget,
    );
    let views = loaded.bundle.sql_views()?;
    let nest = Nest {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        bundle: loaded.bundle.hash(),
        identity: loaded.bundle.data_identity(),
        manifest: loaded.bundle.manifest_json().to_owned(),
        tables: manifest.tables.clone(),
        filters: manifest.filters.clone(),
        views: views.into_iter().map(|(name, sql)| (name.to_owned(), sql.to_owned())).collect(),
        engine: host.fingerprint().to_owned(),
        decoder: Arc::new(decoder),
        backfill,
    };
    Ok((ChainId(manifest.chain_id), nest))
}
