//! Sealing: from final hot chunks to a file that the catalogue names.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::cut::{CutRule, Due, Piece};
use super::key;
use super::place::{Place, PlaceError};
use super::write::{Encoded, WriteError, encode};
use crate::model::{BlockNumber, TableId};
use crate::store::chunk::{self, BadChunk};
use crate::store::{
    ChunkMeta, DatasetState, HotStore, NewChunk, ReadTxn, Seal, SealOutcome, SegmentMeta, StoreError, StoreId,
    StoreTime,
};

/// Seals what is due in one store, into one place.
#[derive(Clone, Debug)]
pub struct Sealer {
    place: Place,
    rule: CutRule,
}

/// Why a cut could not be sealed. Its rows stay hot.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The place refused or failed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The rows cannot be written.
    #[error("table {table} cannot be sealed: {reason}")]
    Rows {
        /// Table.
        table: String,
        /// Why.
        reason: String,
    },
}

/// A cut that is due, with its rows in memory.
struct Job {
    dataset: DatasetState,
    table: TableId,
    sources: Vec<ChunkMeta>,
    bytes: Vec<bytes::Bytes>,
    final_to: BlockNumber,
    store: StoreId,
    began_at: StoreTime,
}

/// A job's file, made.
struct Made {
    encoded: Encoded,
    meta: SegmentMeta,
    sealed_to: BlockNumber,
    rest: Option<NewChunk>,
}

impl Sealer {
    /// Seals by this rule into this place.
    pub fn new(place: Place, rule: CutRule) -> Sealer {
        Sealer { place, rule }
    }

    /// Seals the next cut that is due, of whichever dataset; none where none is. Repeating one that was sealed already
    /// changes nothing.
    pub async fn seal_next(&self, store: &dyn HotStore) -> Result<Option<SegmentMeta>, SealError> {
        loop {
            let Some(job) = self.next_job(store).await? else { return Ok(None) };
            let (dataset, began_at, sources) = (job.dataset.id, job.began_at, job.sources.clone());
            let name = job.dataset.table_name(job.table).to_owned();
            let rule = self.rule;
            let made = tokio::task::spawn_blocking(move || job.make(rule)).await;
            let made = made.map_err(|error| SealError::Rows { table: name, reason: error.to_string() })??;
            let Made { encoded, meta: segment, sealed_to, rest } = made;
            self.place.put(&segment.key, encoded.bytes).await?;
            let seal = Seal { dataset, segment: segment.clone(), sealed_to, sources, rest, began_at };
            match store.seal(seal).await? {
                SealOutcome::Sealed => return Ok(Some(segment)),
                // The upload is nobody's and goes with gc; what the store has by now decides what comes next.
                SealOutcome::Stale | SealOutcome::Expired => {}
            }
        }
    }

    async fn next_job(&self, store: &dyn HotStore) -> Result<Option<Job>, SealError> {
        let mut read = store.read().await?;
        let state = read.state().await?;
        let Some(final_block) = state.final_block.filter(|_| state.halted.is_none()) else { return Ok(None) };
        for dataset in state.datasets {
            let Some(done) = dataset.done_to else { continue };
            let final_to = done.number.min(final_block.number);
            let mut tables: BTreeMap<TableId, Vec<ChunkMeta>> = BTreeMap::new();
            for meta in read.chunks(dataset.id).await? {
                tables.entry(meta.table).or_default().push(meta);
            }
            for (table, mut sources) in tables {
                let pieces: Vec<Piece> =
                    sources.iter().map(|meta| Piece { range: meta.range, rows: meta.rows }).collect();
                if let Some(Due(held)) = self.rule.due(&pieces, final_to) {
                    sources.truncate(held);
                    let bytes = bytes_of(read.as_mut(), &sources).await?;
                    let (store, began_at) = (read.store_id().await?, read.now().await?);
                    return Ok(Some(Job { dataset, table, sources, bytes, final_to, store, began_at }));
                }
            }
        }
        Ok(None)
    }
}

async fn bytes_of(read: &mut dyn ReadTxn, sources: &[ChunkMeta]) -> Result<Vec<bytes::Bytes>, SealError> {
    let mut all = Vec::with_capacity(sources.len());
    for meta in sources {
        let bytes = read.chunk(meta.id).await?;
        all.push(bytes.ok_or_else(|| StoreError::Corrupt {
            path: "the hot store".to_owned(),
            reason: format!("the bytes of chunk {} are gone", meta.id),
        })?);
    }
    Ok(all)
}

impl Job {
    /// Takes a while, so not on a thread that serves others.
    fn make(self, rule: CutRule) -> Result<Made, SealError> {
        let table = self.dataset.table_name(self.table).to_owned();
        let failed = |reason: String| SealError::Rows { table: table.clone(), reason };
        let bad = |error: BadChunk| failed(error.to_string());
        let schema =
            self.dataset.table_schema(self.table).ok_or_else(|| failed("it is not in the manifest".to_owned()))?;
        let batches = self.bytes.into_iter().map(|bytes| chunk::decode(&schema, bytes));
        let batches = batches.collect::<Result<Vec<RecordBatch>, _>>().map_err(bad)?;
        let all = chunk::concat(&schema, &batches).map_err(bad)?;
        drop(batches);
        let blocks = chunk::blocks(&all).map_err(bad)?;
        if !blocks.is_sorted() {
            return Err(failed("its rows are not in block order".to_owned()));
        }
        let last = rule.last_block(blocks, self.final_to).ok_or_else(|| failed("no cut is due".to_owned()))?;
        let count = blocks.partition_point(|block| *block <= last.0);
        let rows = all.slice(0, count);
        let range = chunk::range(&rows).map_err(bad)?.ok_or_else(|| failed("the cut has no rows".to_owned()))?;
        let rest = all.slice(count, all.num_rows() - count);
        let rest = chunk::of(self.table, &rest).map_err(bad)?;
        let encoded = encode(&rows).map_err(|error: WriteError| failed(error.to_string()))?;
        let meta = SegmentMeta {
            table: self.table,
            range,
            rows: rows.num_rows() as u64,
            bytes: encoded.bytes.len() as u64,
            hash: encoded.hash,
            key: key::key(self.store, self.dataset.key, &table, encoded.hash),
        };
        Ok(Made { encoded, meta, sealed_to: last, rest })
    }
}
