//! Reads: one moment each, beside the writer or without one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::Access;
use sqlx::SqlitePool;

use super::claim::check_readable;
use super::connect::{ReadMode, Txn, database, readers};
use super::fail::{Fail, Step};
use super::rows::{block, branch, final_block, meta, meta_number, now};
use super::{chunks, datasets, endpoints, segments};
use crate::model::{BlockRef, ChainId, DatasetId, Endpoint, Fence, NestName};
use crate::store::{
    ChunkId, ChunkMeta, CursorState, DroppedKey, HotReader, ReadTxn, Result, SegmentMeta, Snapshot, StoreError,
    StoreId, StoreTime,
};

/// Reads that may run side by side.
const READERS: u32 = 4;

/// Read access to a chain's store without owning it: beside the process that does, or while none does.
#[derive(Clone, Debug)]
pub struct SqliteReader {
    path: Arc<Path>,
    chain: ChainId,
    pool: SqlitePool,
}

impl SqliteReader {
    /// Opens the store of a chain in a data folder. Changes nothing in it; a folder that cannot be written will do,
    /// if the process that wrote it ended properly.
    pub async fn open(data: &Path, chain: ChainId) -> Result<SqliteReader> {
        let data = data.canonicalize().unwrap_or_else(|_| data.to_path_buf());
        let path = database(&data, chain);
        let mode = mode(&path, chain)?;
        let reader = SqliteReader::at(path, chain, mode);
        match reader.read().await {
            Ok(_) => Ok(reader),
            Err(StoreError::NotWritable { path, reason }) => Err(unfolded(path, &reason)),
            Err(error) => Err(error),
        }
    }

    pub(super) fn at(path: PathBuf, chain: ChainId, mode: ReadMode) -> SqliteReader {
        let pool = readers(&path, READERS, mode);
        SqliteReader { path: path.into(), chain, pool }
    }

    /// Closes its connections; reads that run end first.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) async fn begin(&self) -> Step<Txn> {
        let mut txn = Txn::read(&self.pool).await?;
        // Another process may have brought the schema forward since. This is also the first read, which fixes what
        // the transaction sees: SQLite takes no snapshot at BEGIN.
        check_readable(txn.connection(), &self.path.display().to_string(), self.chain).await?;
        Ok(txn)
    }
}

/// SQLite needs its shared index to read beside a writer, and makes it if it is not there. Where it cannot, the file
/// is safe to read as it is if its log was folded in: then log and index are gone.
fn mode(path: &Path, chain: ChainId) -> Result<ReadMode> {
    if !path.exists() {
        return Err(StoreError::NoStore { path: path.display().to_string(), chain: chain.0 });
    }
    let folder = path.parent().unwrap_or(path);
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display())).exists();
    let writable = rustix::fs::access(folder, Access::WRITE_OK).is_ok();
    match (writable, beside("-wal"), beside("-shm")) {
        (true, _, _) | (false, _, true) => Ok(ReadMode::Shared),
        (false, false, false) => Ok(ReadMode::Immutable),
        (false, true, false) => Err(unfolded(path.display().to_string(), "the index of its log is missing")),
    }
}

fn unfolded(path: String, reason: &str) -> StoreError {
    let way_out = "its folder cannot be written, and the last process did not end properly: make the folder writable, \
                   or copy it to where it is";
    StoreError::NotReadable { path, reason: format!("{reason}; {way_out}") }
}

#[async_trait]
impl HotReader for SqliteReader {
    async fn read(&self) -> Result<Box<dyn ReadTxn>> {
        let txn = self.begin().await.map_err(|fail| fail.at(&self.path))?;
        Ok(Box::new(SqliteRead { txn, path: self.path.clone(), chain: self.chain }))
    }
}

struct SqliteRead {
    txn: Txn,
    path: Arc<Path>,
    chain: ChainId,
}

#[async_trait]
impl ReadTxn for SqliteRead {
    async fn state(&mut self) -> Result<CursorState> {
        state(&mut self.txn, self.chain).await.map_err(|fail| fail.at(&self.path))
    }

    async fn endpoints(&mut self) -> Result<Vec<Endpoint>> {
        endpoints::all(self.txn.connection()).await.map_err(|fail| fail.at(&self.path))
    }

    async fn snapshot(&mut self, endpoint: &NestName) -> Result<Option<Snapshot>> {
        snapshot(&mut self.txn, self.chain, endpoint).await.map_err(|fail| fail.at(&self.path))
    }

    async fn chunk(&mut self, id: ChunkId) -> Result<Option<Bytes>> {
        chunks::bytes(self.txn.connection(), id).await.map_err(|fail| fail.at(&self.path))
    }

    async fn chunks(&mut self, dataset: DatasetId) -> Result<Vec<ChunkMeta>> {
        chunks::current(self.txn.connection(), dataset).await.map_err(|fail| fail.at(&self.path))
    }

    async fn segments(&mut self, dataset: DatasetId) -> Result<Vec<SegmentMeta>> {
        segments::all(self.txn.connection(), dataset).await.map_err(|fail| fail.at(&self.path))
    }

    async fn segment_tree(&mut self, key: &str) -> Result<Option<Bytes>> {
        segments::tree(self.txn.connection(), key).await.map_err(|fail| fail.at(&self.path))
    }

    async fn dropped_keys(&mut self) -> Result<Vec<DroppedKey>> {
        segments::dropped(self.txn.connection()).await.map_err(|fail| fail.at(&self.path))
    }

    async fn store_id(&mut self) -> Result<StoreId> {
        store_id(&mut self.txn).await.map_err(|fail| fail.at(&self.path))
    }

    async fn now(&mut self) -> Result<StoreTime> {
        // One machine, one clock.
        Ok(StoreTime(now()))
    }
}

async fn store_id(txn: &mut Txn) -> Step<StoreId> {
    let text = meta(txn.connection(), "store_id").await?.unwrap_or_default();
    let mut id = [0; 16];
    hex::decode_to_slice(&text, &mut id).map_err(|_| Fail::Damaged(format!("store_id '{text}'")))?;
    Ok(StoreId(id))
}

async fn state(txn: &mut Txn, chain_id: ChainId) -> Step<CursorState> {
    let connection = txn.connection();
    let rows: Vec<(i64, Vec<u8>)> =
        sqlx::query_as("SELECT number, hash FROM blocks ORDER BY number").fetch_all(&mut *connection).await?;
    Ok(CursorState {
        chain_id,
        fence: Fence(meta_number(connection, "owner_fence").await?),
        branch: branch(connection).await?,
        final_block: final_block(connection).await?,
        blocks: rows.iter().map(|(number, hash)| block(*number, hash)).collect::<Step<_>>()?,
        halted: meta(connection, "halted").await?,
        datasets: datasets::all(connection).await?,
    })
}

async fn snapshot(txn: &mut Txn, chain_id: ChainId, name: &NestName) -> Step<Option<Snapshot>> {
    let connection = txn.connection();
    let Some(endpoint) = endpoints::one(connection, name).await? else { return Ok(None) };
    let dataset = datasets::one(connection, endpoint.dataset).await?;
    let dataset = dataset.ok_or_else(|| {
        Fail::Damaged(format!("endpoint '{name}' names dataset {}, which is not there", endpoint.dataset))
    })?;
    let final_block = final_block(connection).await?;
    let last: Option<(i64, Vec<u8>)> = sqlx::query_as("SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    let last: Option<BlockRef> = last.map(|(number, hash)| block(number, &hash)).transpose()?;
    let halted = meta(connection, "halted").await?;
    let chunks = chunks::current(connection, endpoint.dataset).await?;
    let segments = segments::all(connection, endpoint.dataset).await?;
    let head = last.or(final_block);
    Ok(Some(Snapshot { chain_id, endpoint, dataset, final_block, head, halted, chunks, segments }))
}
