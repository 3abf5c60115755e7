//! Where scans get the columns of chunks from: the cache, what was read ahead, or the store.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::ArrayRef;
use bytes::Bytes;

use super::cache::ChunkCache;
use super::decode::{DecodeError, decode};
use super::tables::Table;
use crate::store::{ChunkId, ChunkMeta, HotReader, ReadTxn, StoreError};

/// Why a chunk's columns cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The chunk left the store while the query ran.
    #[error("rows of blocks {} left the store while the query ran", .0.range)]
    Gone(ChunkMeta),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chunk cannot be decoded.
    #[error("rows of blocks {} of table {table}: {error}", meta.range)]
    Decode {
        /// The chunk.
        meta: ChunkMeta,
        /// Its table.
        table: String,
        /// What is wrong with it.
        error: DecodeError,
    },
}

/// The chunks of one query.
pub struct ChunkSource {
    reader: Arc<dyn HotReader>,
    cache: Arc<ChunkCache>,
    ahead: Mutex<HashMap<ChunkId, Bytes>>,
}

impl fmt::Debug for ChunkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkSource").finish_non_exhaustive()
    }
}

/// Columns of one chunk that a plan needs.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    /// The chunk.
    pub chunk: &'a ChunkMeta,
    /// Places of the columns in the table.
    pub columns: &'a [usize],
}

impl ChunkSource {
    /// Chunks read through this reader.
    pub fn new(reader: Arc<dyn HotReader>, cache: Arc<ChunkCache>) -> Self {
        ChunkSource { reader, cache, ahead: Mutex::default() }
    }

    /// Reads the bytes that the cache cannot answer, within the transaction and up to `cap` bytes.
    pub async fn read_ahead(
        &self,
        txn: &mut dyn ReadTxn,
        needs: impl IntoIterator<Item = Need<'_>>,
        cap: u64,
    ) -> Result<(), SourceError> {
        let mut left = cap;
        for Need { chunk, columns } in needs {
            if columns.is_empty() || self.cache.holds(chunk.id, columns) || self.is_ahead(chunk.id) {
                continue;
            }
            let Some(rest) = left.checked_sub(chunk.bytes) else { break };
            left = rest;
            let bytes = txn.chunk(chunk.id).await?.ok_or(SourceError::Gone(*chunk))?;
            self.lock().insert(chunk.id, bytes);
        }
        Ok(())
    }

    /// These columns of these chunks, in the order asked for.
    pub async fn columns(
        &self,
        table: &Table,
        chunks: &[ChunkMeta],
        wanted: &[usize],
    ) -> Result<Vec<Vec<ArrayRef>>, SourceError> {
        let mut found = Vec::with_capacity(chunks.len());
        let mut txn: Option<Box<dyn ReadTxn>> = None;
        for meta in chunks {
            if let Some(columns) = self.cache.get(meta.id, wanted) {
                found.push(columns);
                continue;
            }
            let ahead = self.lock().get(&meta.id).cloned();
            let bytes = match (ahead, &mut txn) {
                (Some(bytes), _) => bytes,
                (None, Some(txn)) => fetch(txn.as_mut(), meta).await?,
                (None, slot) => fetch(slot.insert(self.reader.read().await?).as_mut(), meta).await?,
            };
            let columns = decode(&bytes, table, wanted, meta.rows).map_err(|error| SourceError::Decode {
                meta: *meta,
                table: table.name.clone(),
                error,
            })?;
            self.cache.put(meta.id, table.columns.len(), wanted, &columns);
            found.push(columns);
        }
        Ok(found)
    }

    fn is_ahead(&self, chunk: ChunkId) -> bool {
        self.lock().contains_key(&chunk)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ChunkId, Bytes>> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fetch(txn: &mut dyn ReadTxn, meta: &ChunkMeta) -> Result<Bytes, SourceError> {
    txn.chunk(meta.id).await?.ok_or(SourceError::Gone(*meta))
}
