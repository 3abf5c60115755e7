//! Sealing: from final hot chunks to a file that the catalogue names.

use std::collections::{BTreeMap, HashSet};

use arrow::array::RecordBatch;

use super::cut::{CutRule, Due, Piece};
use super::make::Owner;
use super::place::{Place, PlaceError};
use super::write::Encoded;
use crate::model::{BlockNumber, DatasetId, TableId};
use crate::store::chunk;
use crate::store::{
    ChunkMeta, DatasetState, HotStore, NewChunk, ReadTxn, Seal, SealOutcome, SegmentMeta, StoreError, StoreTime,
};

/// Seals what is due in one store, into one place.
#[derive(Clone, Debug)]
pub struct Sealer {
    pub(super) place: Place,
    pub(super) rule: CutRule,
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
    owner: Owner,
    sources: Vec<ChunkMeta>,
    bytes: Vec<bytes::Bytes>,
    final_to: BlockNumber,
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

    /// Rows that fill a segment.
    pub fn segment_rows(&self) -> u64 {
        self.rule.rows()
    }

    /// Seals the next cut that is due, of whichever dataset but these; none where none is. Repeating one that was
    /// sealed already changes nothing.
    pub async fn seal_next(
        &self,
        store: &dyn HotStore,
        but: &HashSet<DatasetId>,
    ) -> Result<Option<SegmentMeta>, SealError> {
        loop {
            let Some(job) = self.next_job(store, but).await? else { return Ok(None) };
            let (dataset, began_at, sources) = (job.dataset.id, job.began_at, job.sources.clone());
            let (rule, owner) = (self.rule, job.owner.clone());
            let made = tokio::task::spawn_blocking(move || job.make(rule)).await;
            let Made { encoded, meta: segment, sealed_to, rest } = made.map_err(|error| owner.failed(error))??;
            let tree = encoded.tree.leaves().clone();
            self.place.put(&segment.key, encoded.bytes).await?;
            let seal = Seal { dataset, segment: segment.clone(), sealed_to, sources, rest, tree, began_at };
            match store.seal(seal).await? {
                SealOutcome::Sealed => return Ok(Some(segment)),
                // The upload is nobody's and goes with gc; what the store has by now decides what comes next.
                SealOutcome::Stale | SealOutcome::Expired => {}
            }
        }
    }

    async fn next_job(&self, store: &dyn HotStore, but: &HashSet<DatasetId>) -> Result<Option<Job>, SealError> {
        let mut read = store.read().await?;
        let state = read.state().await?;
        let Some(final_block) = state.final_block.filter(|_| state.halted.is_none()) else { return Ok(None) };
        for dataset in state.datasets.into_iter().filter(|dataset| !but.contains(&dataset.id)) {
            let Some(done) = dataset.done_to else { continue };
            let final_to = done.number.min(final_block.number);
            let mut tables: BTreeMap<TableId, Vec<ChunkMeta>> = BTreeMap::new();
            for meta in read.chunks(dataset.id).await? {
                tables.entry(meta.table).or_default().push(meta);
            }
            for (table, mut sources) in tables {
                let pieces: Vec<Piece> = sources.iter().map(Piece::of).collect();
                if let Some(Due(held)) = self.rule.due(&pieces, final_to) {
                    sources.truncate(held);
                    let bytes = bytes_of(read.as_mut(), &sources).await?;
                    let (store, began_at) = (read.store_id().await?, read.now().await?);
                    let name = dataset.table_name(table).to_owned();
                    let owner = Owner { store, dataset: dataset.key, table, name };
                    return Ok(Some(Job { dataset, owner, sources, bytes, final_to, began_at }));
                }
            }
        }
        Ok(None)
    }
}

impl Piece {
    fn of(chunk: &ChunkMeta) -> Piece {
        Piece { range: chunk.range, rows: chunk.rows }
    }
}

pub(super) async fn bytes_of(read: &mut dyn ReadTxn, sources: &[ChunkMeta]) -> Result<Vec<bytes::Bytes>, SealError> {
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
        let owner = &self.owner;
        let schema = self.dataset.table_schema(owner.table).ok_or_else(|| owner.failed("it is not in the manifest"))?;
        let batches = self.bytes.into_iter().map(|bytes| chunk::decode(&schema, bytes));
        let batches = batches.collect::<Result<Vec<RecordBatch>, _>>().map_err(|error| owner.failed(error))?;
        let all = chunk::concat(&schema, &batches).map_err(|error| owner.failed(error))?;
        drop(batches);
        let cut = owner.cut(rule, &all, self.final_to)?.ok_or_else(|| owner.failed("no cut is due"))?;
        let rest = chunk::of(owner.table, &cut.rest).map_err(|error| owner.failed(error))?;
        let (encoded, meta) = owner.file(&cut.sealed)?;
        Ok(Made { encoded, meta, sealed_to: cut.sealed_to, rest })
    }
}
