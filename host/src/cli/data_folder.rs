//! Which chains a data folder holds.

use std::path::{Path, PathBuf};

use super::args::data_folder;
use crate::model::ChainId;
use crate::store::sqlite::SqliteReader;

/// Nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    /// No such folder.
    #[error("there is no data in {0}; `nuthatch dev` in a nest folder makes some")]
    Absent(PathBuf),
    /// Not readable.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The data folder that is meant by a folder: a nest's own, or that folder itself.
pub fn resolve(dir: &Path) -> PathBuf {
    let below = data_folder(dir);
    if below.is_dir() { below } else { dir.to_owned() }
}

/// The chains that have a store there, in the order of their ids. Never empty.
pub fn chains(folder: &Path) -> Result<Vec<ChainId>, DataFolderError> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => DataFolderError::Absent(folder.to_owned()),
        _ => DataFolderError::Read { path: folder.to_owned(), source },
    };
    let mut chains = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix("chain-")?.strip_suffix(".sqlite")?.parse().ok());
        chains.extend(id.map(ChainId));
    }
    chains.sort();
    if chains.is_empty() { Err(DataFolderError::Absent(folder.to_owned())) } else { Ok(chains) }
}

/// Readers of all its chains.
pub async fn readers(folder: &Path) -> anyhow::Result<Vec<(ChainId, SqliteReader)>> {
    let mut readers = Vec::new();
    for chain in chains(folder)? {
        readers.push((chain, SqliteReader::open(folder, chain).await?));
    }
    Ok(readers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn stores_are_found_by_their_names() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join(".nuthatch");
        assert_eq!(resolve(dir.path()), dir.path());
        assert!(matches!(chains(&data), Err(DataFolderError::Absent(_))));
        std::fs::create_dir(&data).unwrap();
        assert_eq!(resolve(dir.path()), data);
        assert!(matches!(chains(&data), Err(DataFolderError::Absent(_))));
        for name in ["chain-100.sqlite", "chain-1.sqlite", "chain-1.sqlite-wal", "chain-x.sqlite", "lock"] {
            std::fs::write(data.join(name), "").unwrap();
        }
        assert_eq!(chains(&data).unwrap(), [ChainId(1), ChainId(100)]);
    }
}
