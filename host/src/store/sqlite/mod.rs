//! The SQLite backend: one file a chain in a data folder that one process owns.
//!
//! What keeps a second writer out is the folder's lock ([`DataLock`]). What catches one that got in all the same (the
//! lock file was deleted, say) is the fence: opening adds one to it, and every write reads it first.

mod branch;
mod chunks;
mod claim;
mod connect;
mod datasets;
mod endpoints;
mod fail;
mod folder;
mod lock;
mod read;
mod rows;
mod segments;
#[cfg(test)]
mod tests;
mod tidy;
mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::SqlitePool;

use super::{Commit, HotReader, HotStore, NewDataset, ReadTxn, Result, Rollback, Seal, SealOutcome, StoreId};
use crate::model::{BlockRef, Branch, ChainId, DatasetId, Endpoint, Fault, Fence, NestName};
use claim::Claim;
use connect::{ReadMode, Txn};
use fail::{BUSY_SECONDS, Fail, Step};

pub use folder::{chains_in, database_files};
pub use lock::DataLock;
pub use read::SqliteReader;

/// Pause between two tries for a lock that SQLite does not wait for by itself.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// What may differ from one store to another.
#[derive(Clone, Copy, Debug)]
pub struct SqliteOptions {
    /// How long the bytes of a chunk outlive its place in the current set: twice the longest query.
    pub keep_retired: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions { keep_retired: Duration::from_secs(120) }
    }
}

/// The store of the process that owns a chain's cursor.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    claim: Claim,
    writer: SqlitePool,
    reader: SqliteReader,
    keep_retired_ms: i64,
    // Kept locked as long as the store lives.
    _lock: Arc<DataLock>,
}

impl SqliteStore {
    /// Opens the store of a chain in the locked folder, makes or migrates its schema, and takes it over: whoever had
    /// it before is refused from now on.
    pub async fn open(lock: &Arc<DataLock>, chain: ChainId, options: SqliteOptions) -> Result<SqliteStore> {
        let path = connect::database(lock.data(), chain);
        let writer = connect::writer(&path);
        let claim = match take_over(&writer, &path, chain).await {
            Ok(claim) => claim,
            Err(fail) => {
                writer.close().await;
                return Err(fail.at(&path));
            }
        };
        let reader = SqliteReader::at(path.clone(), chain, ReadMode::Shared);
        let keep_retired_ms = i64::try_from(options.keep_retired.as_millis()).unwrap_or(i64::MAX);
        Ok(SqliteStore { path, claim, writer, reader, keep_retired_ms, _lock: lock.clone() })
    }

    /// The database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A reader of the same store, for those who only query.
    pub fn reader(&self) -> SqliteReader {
        self.reader.clone()
    }

    /// Closes the database, so that its log is folded into it. Without it nothing is lost; the next open does it.
    pub async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    /// Begins a write: no other can run, and fence and owner are this process's own.
    async fn begin(&self) -> Step<Txn> {
        let mut txn = Txn::write(&self.writer).await?;
        claim::guard(txn.connection(), &self.claim).await?;
        Ok(txn)
    }

    fn at<T>(&self, result: Step<T>) -> Result<T> {
        result.map_err(|fail| fail.at(&self.path))
    }

    async fn merge_some(&self) -> Step<usize> {
        let mut read = self.reader.begin().await?;
        let jobs = tidy::jobs(read.connection()).await?;
        drop(read);
        if jobs.is_empty() {
            return Ok(0);
        }
        let work = move || jobs.into_iter().map(tidy::Job::run).collect::<Step<Vec<_>>>();
        let merged = tokio::task::spawn_blocking(work).await;
        let merged = merged.map_err(|error| Fail::Sql(sqlx::Error::Io(error.into())))??;
        let mut txn = self.begin().await?;
        let fewer = tidy::swap(txn.connection(), &merged).await;
        txn.finish(fewer).await
    }

    async fn sweep_all(&self) -> Step<usize> {
        let mut swept = 0;
        loop {
            let mut read = self.reader.begin().await?;
            if !tidy::sweepable(read.connection(), self.keep_retired_ms).await? {
                return Ok(swept);
            }
            drop(read);
            let mut txn = self.begin().await?;
            let slice = tidy::sweep(txn.connection(), self.keep_retired_ms).await;
            swept += txn.finish(slice).await?;
        }
    }
}

/// Claims the database. SQLite does not wait for a lock while a new file becomes one with a log, so the wait that any
/// other statement has is made here.
async fn take_over(writer: &SqlitePool, path: &Path, chain: ChainId) -> Step<Claim> {
    let started = Instant::now();
    loop {
        match claim_once(writer, path, chain).await {
            Err(fail) if fail.is_busy() && started.elapsed() < Duration::from_secs(BUSY_SECONDS) => {
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            done => return done,
        }
    }
}

async fn claim_once(writer: &SqlitePool, path: &Path, chain: ChainId) -> Step<Claim> {
    let mut txn = Txn::write(writer).await?;
    let claim = claim::claim(txn.connection(), &path.display().to_string(), chain).await;
    txn.finish(claim).await
}

#[async_trait]
impl HotReader for SqliteStore {
    async fn read(&self) -> Result<Box<dyn ReadTxn>> {
        self.reader.read().await
    }
}

/// One write: begin with the guard, do it, commit or undo.
macro_rules! write {
    ($store:expr, |$connection:ident| $step:expr) => {{
        let run = async {
            let mut txn = $store.begin().await?;
            let $connection = txn.connection();
            let result = $step.await;
            txn.finish(result).await
        };
        $store.at(run.await)
    }};
}

#[async_trait]
impl HotStore for SqliteStore {
    fn fence(&self) -> Fence {
        self.claim.fence
    }

    async fn check_owner(&self) -> Result<()> {
        write!(self, |_connection| async { Ok(()) })
    }

    async fn create_dataset(&self, new: NewDataset) -> Result<DatasetId> {
        write!(self, |connection| datasets::create(connection, &new))
    }

    async fn drop_dataset(&self, dataset: DatasetId) -> Result<()> {
        write!(self, |connection| datasets::drop_dataset(connection, dataset))
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        write!(self, |connection| window::commit(connection, &commit))
    }

    async fn rollback(&self, rollback: Rollback) -> Result<Branch> {
        write!(self, |connection| branch::rollback(connection, &rollback))
    }

    async fn quarantine(&self, dataset: DatasetId, fault: Fault) -> Result<()> {
        write!(self, |connection| datasets::set_fault(connection, dataset, Some(&fault)))
    }

    async fn retry(&self, dataset: DatasetId) -> Result<()> {
        write!(self, |connection| datasets::set_fault(connection, dataset, None))
    }

    async fn set_halted(&self, reason: Option<String>) -> Result<()> {
        write!(self, |connection| rows::set_halted(connection, reason.as_deref()))
    }

    async fn rebuild(&self, ancestor: Option<BlockRef>) -> Result<()> {
        write!(self, |connection| branch::rebuild(connection, ancestor))
    }

    async fn put_endpoint(&self, endpoint: Endpoint) -> Result<Endpoint> {
        write!(self, |connection| endpoints::put(connection, endpoint))
    }

    async fn remove_endpoint(&self, name: &NestName) -> Result<()> {
        write!(self, |connection| endpoints::remove(connection, name))
    }

    async fn merge(&self) -> Result<usize> {
        self.at(self.merge_some().await)
    }

    async fn seal(&self, seal: Seal) -> Result<SealOutcome> {
        write!(self, |connection| segments::seal(connection, &seal))
    }

    async fn forget_keys(&self, keys: Vec<String>) -> Result<()> {
        write!(self, |connection| segments::forget(connection, &keys))
    }

    async fn fork(&self) -> Result<StoreId> {
        write!(self, |connection| claim::fork(connection))
    }

    async fn sweep(&self) -> Result<usize> {
        self.at(self.sweep_all().await)
    }
}
