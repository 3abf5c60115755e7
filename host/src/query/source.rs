//! Where scans get columns from: of chunks the cache, what was read ahead, or the store; of segments their files.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::cache::ChunkCache;
use super::chunk::Chunk;
use super::sealed::SegmentFiles;
use super::tables::Table;
use crate::store::chunk::BadChunk;
use crate::store::{ChunkId, ChunkMeta, HotReader, ReadTxn, StoreError};

/// Why a chunk's columns cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The chunk left the store while the query ran.
    #[error("rows of blocks {} left the store while the query ran", .0.range)]
    Gone(ChunkMeta),
    /// The segment left the catalogue while the query ran.
    #[error("segment {0} left the store while the query ran")]
    SegmentGone(String),
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
        error: BadChunk,
    },
}

/// The chunks of one query.
pub struct ChunkSource {
    reader: Arc<dyn HotReader>,
    cache: Arc<ChunkCache>,
    files: Option<Arc<SegmentFiles>>,
    ahead: Mutex<HashMap<ChunkId, Bytes>>,
}

impl fmt::Debug for ChunkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkSource").finish_non_exhaustive()
    }
}

impl ChunkSource {
    /// Chunks read through this reader.
    pub fn new(reader: Arc<dyn HotReader>, cache: Arc<ChunkCache>) -> Self {
        ChunkSource { reader, cache, files: None, ahead: Mutex::default() }
    }

    /// With the files of segments.
    #[must_use]
    pub fn with_files(self, files: Option<Arc<SegmentFiles>>) -> Self {
        ChunkSource { files, ..self }
    }

    /// The files of segments; none where their place is not known.
    pub fn files(&self) -> Option<Arc<SegmentFiles>> {
        self.files.clone()
    }

    /// Reads the bytes that the cache cannot answer, within the transaction and up to `cap` bytes.
    pub async fn read_ahead(&self, txn: &mut dyn ReadTxn, needs: Vec<&ChunkMeta>, cap: u64) -> Result<(), SourceError> {
        let mut left = cap;
        for chunk in needs {
            if self.cache.holds(chunk.id) || self.is_ahead(chunk.id) {
                continue;
            }
            let Some(rest) = left.checked_sub(chunk.bytes) else { break };
            left = rest;
            let bytes = txn.chunk(chunk.id).await?.ok_or(SourceError::Gone(*chunk))?;
            self.lock().insert(chunk.id, bytes);
        }
        Ok(())
    }

    /// These chunks, in the order asked for.
    pub async fn chunks(&self, table: &Table, wanted: &[ChunkMeta]) -> Result<Vec<Arc<Chunk>>, SourceError> {
        let mut found = Vec::with_capacity(wanted.len());
        let mut txn: Option<Box<dyn ReadTxn>> = None;
        for meta in wanted {
            if let Some(chunk) = self.cache.get(meta.id) {
                found.push(chunk);
                continue;
            }
            let ahead = self.lock().remove(&meta.id);
            let bytes = match (ahead, &mut txn) {
                (Some(bytes), _) => bytes,
                (None, Some(txn)) => fetch(txn.as_mut(), meta).await?,
                (None, slot) => fetch(slot.insert(self.reader.read().await?).as_mut(), meta).await?,
            };
            let chunk = Chunk::decode(bytes, table, meta).map_err(|error| SourceError::Decode {
                meta: *meta,
                table: table.name.clone(),
                error,
            })?;
            let chunk = Arc::new(chunk);
            self.cache.put(meta.id, &chunk);
            found.push(chunk);
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
