//! What lies in a data folder, without opening any of it.

use std::path::{Path, PathBuf};

use super::connect;
use crate::model::ChainId;
use crate::store::{Result, StoreError};

/// The chains that have a database in the folder, ascending. None where the folder does not exist.
pub fn chains_in(data: &Path) -> Result<Vec<ChainId>> {
    let mut chains: Vec<ChainId> = names(data)?.iter().filter_map(|name| chain_of(name)).collect();
    chains.sort();
    Ok(chains)
}

/// The databases in the folder with all that SQLite keeps beside them.
pub fn database_files(data: &Path) -> Result<Vec<PathBuf>> {
    let chains = chains_in(data)?;
    let own = |name: &String| chains.iter().any(|chain| name.starts_with(&file_name(data, *chain)));
    Ok(names(data)?.iter().filter(|name| own(name)).map(|name| data.join(name)).collect())
}

fn file_name(data: &Path, chain: ChainId) -> String {
    let path = connect::database(data, chain);
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn chain_of(name: &str) -> Option<ChainId> {
    name.strip_prefix("chain-")?.strip_suffix(".sqlite")?.parse().ok().map(ChainId)
}

fn names(data: &Path) -> Result<Vec<String>> {
    let unreadable = |error: std::io::Error| StoreError::Database {
        path: data.display().to_string(),
        reason: format!("the folder cannot be read: {error}"),
    };
    let entries = match std::fs::read_dir(data) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unreadable)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
