//! Connections: one that writes, a few that read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Sqlite, SqliteConnection, SqlitePool};

use super::fail::{BUSY_SECONDS, Step};
use crate::model::ChainId;

/// The database of a chain in a data folder.
pub(super) fn database(data: &Path, chain: ChainId) -> PathBuf {
    data.join(format!("chain-{chain}.sqlite"))
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(BUSY_SECONDS))
        .disable_statement_logging()
}

pub(super) fn writer(path: &Path) -> SqlitePool {
    let options = options(path)
        .create_if_missing(true)
        // Chunks are large; a page of 8 KiB halves the chains of overflow pages and still suits the small tables.
        .page_size(8192)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL syncs the log at every commit: what returned Ok survives a loss of power, not only of the process.
        .synchronous(SqliteSynchronous::Full)
        .pragma("wal_autocheckpoint", "2000")
        // A large window must not leave a large log behind for ever.
        .pragma("journal_size_limit", "67108864")
        .pragma("temp_store", "MEMORY");
    pool(1).connect_lazy_with(options)
}

/// How a reader gets at the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// With SQLite's log and locks, beside a writer.
    Shared,
    /// From a folder that cannot be written and has no log: nobody can be writing.
    Immutable,
}

pub(super) fn readers(path: &Path, connections: u32, mode: ReadMode) -> SqlitePool {
    let options = options(path).read_only(true).immutable(mode == ReadMode::Immutable);
    pool(connections).connect_lazy_with(options)
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(Duration::from_secs(60))
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        // Ends what an error or a dropped future left open. Outside a transaction it is an error that means nothing.
        .after_release(|connection, _| {
            Box::pin(async move {
                let _ = sqlx::query("ROLLBACK").execute(connection).await;
                Ok(true)
            })
        })
}

/// A transaction. SQLite ends one by itself on some errors (a full disk, say), so it is counted nowhere: whatever is
/// open when the connection goes back is rolled back then.
pub(super) struct Txn(PoolConnection<Sqlite>);

impl Txn {
    /// Begins to write; waits for other writers first.
    pub(super) async fn write(pool: &SqlitePool) -> Step<Txn> {
        let mut connection = pool.acquire().await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        Ok(Txn(connection))
    }

    /// Begins to read. What it sees is fixed by the first read in it.
    pub(super) async fn read(pool: &SqlitePool) -> Step<Txn> {
        let mut connection = pool.acquire().await?;
        sqlx::query("BEGIN DEFERRED").execute(&mut *connection).await?;
        Ok(Txn(connection))
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.0
    }

    /// Commits what went well, undoes what did not.
    pub(super) async fn finish<T>(mut self, result: Step<T>) -> Step<T> {
        let value = result?;
        sqlx::query("COMMIT").execute(&mut *self.0).await?;
        Ok(value)
    }
}
