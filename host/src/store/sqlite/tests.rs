//! The suite on SQLite, and what only SQLite does.
#![allow(clippy::unwrap_used)]

use tempfile::TempDir;

use super::{DataLock, SqliteOptions, SqliteStore};
use crate::model::ChainId;
use crate::store::suite::world::Opened;

const CHAIN: ChainId = ChainId(1);
/// Retired bytes may go at once, so that a sweep is seen to do something.
const NO_GRACE: SqliteOptions = SqliteOptions { keep_retired: std::time::Duration::ZERO };

async fn fresh() -> Opened<SqliteStore, TempDir> {
    let keep = TempDir::new().unwrap();
    let lock = DataLock::acquire(keep.path()).unwrap();
    Opened { store: SqliteStore::open(&lock, CHAIN, NO_GRACE).await.unwrap(), keep }
}

crate::store::suite::all_behaviours!(super::fresh());
