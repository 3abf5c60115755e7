//! The suite on SQLite, and what only SQLite does.
#![allow(clippy::unwrap_used)]

mod files;
mod ownership;
mod reading;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;

use super::{DataLock, SqliteOptions, SqliteStore};
use crate::model::{ChainId, DatasetId};
use crate::store::HotStore;
use crate::store::suite::world::{Opened, dataset, finals, range, window};

const CHAIN: ChainId = ChainId(1);
/// Retired bytes may go at once, so that a sweep is seen to do something.
const NO_GRACE: SqliteOptions = SqliteOptions { keep_retired: Duration::ZERO };

async fn open(lock: &Arc<DataLock>) -> SqliteStore {
    SqliteStore::open(lock, CHAIN, NO_GRACE).await.unwrap()
}

async fn fresh() -> Opened<SqliteStore, TempDir> {
    let keep = TempDir::new().unwrap();
    let lock = DataLock::acquire(keep.path()).unwrap();
    Opened { store: open(&lock).await, keep }
}

/// A dataset with two rows in each of the final blocks 10 to 19.
async fn filled(store: &SqliteStore) -> DatasetId {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.commit(finals(vec![window(id, None, range(10, 19), 0, 2)], 19)).await.unwrap();
    id
}

/// Changes the database by hand, beside the store.
async fn alter(path: &Path, sql: &str) {
    let mut connection = SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap();
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

crate::store::suite::all_behaviours!(super::fresh());
