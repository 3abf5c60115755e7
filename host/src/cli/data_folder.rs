//! Which chains a data folder holds.

use std::path::{Path, PathBuf};

use super::args::data_folder;
use crate::model::ChainId;
use crate::segments::{Place, PlaceError, default_place};
use crate::store::StoreError;
use crate::store::sqlite::{self, SqliteReader};

/// Nothing to read.
#[derive(Debug, thiserror::Error)]
pub enum DataFolderError {
    /// No such folder.
    #[error("there is no data in {0}; `nuthatch dev` in a nest folder makes some")]
    Absent(PathBuf),
    /// Not readable.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The data folder that is meant by a folder: a nest's own, or that folder itself.
pub fn resolve(dir: &Path) -> PathBuf {
    let below = data_folder(dir);
    if below.is_dir() { below } else { dir.to_owned() }
}

/// The chains that have a store there, in the order of their ids. Never empty.
pub fn chains(folder: &Path) -> Result<Vec<ChainId>, DataFolderError> {
    let chains = sqlite::chains_in(folder)?;
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

/// Where its segments are: the place named, else the usual one if it is there.
pub fn segments(folder: &Path, named: Option<&str>) -> Result<Option<Place>, PlaceError> {
    let usual = default_place(folder);
    match named {
        Some(named) => Place::open_existing(named).map(Some),
        None if usual.is_dir() => Place::existing_folder(&usual).map(Some),
        None => Ok(None),
    }
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
