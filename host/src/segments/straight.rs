//! Deep backfill: rows that are on their way to the store and final go straight into files. Of them only what is not
//! cut yet becomes hot.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::make::Owner;
use super::seal::{SealError, Sealer, bytes_of};
use super::write::Encoded;
use super::{CutRule, Piece};
use crate::model::{BlockNumber, TableId};
use crate::store::chunk;
use crate::store::{ChunkMeta, DatasetState, HotReader, MERGED_ROWS, NewChunk, SealedRows, SegmentMeta, StoreTime};

/// New rows of one dataset: batches of each table, in block order.
pub type NewRows = BTreeMap<TableId, Vec<RecordBatch>>;

/// New rows, ready for one commit.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// What went into files, which are uploaded.
    pub sealed: Vec<SealedRows>,
    /// What becomes hot.
    pub hot: Vec<NewChunk>,
}

/// Files that are made at a time; each holds a segment's rows twice while it is.
const AT_A_TIME: usize = 2;

/// One table with a cut that is due: its hot rows and the new ones.
struct Table {
    owner: Owner,
    schema: SchemaRef,
    sources: Vec<ChunkMeta>,
    stored: Vec<Bytes>,
    new: Vec<RecordBatch>,
}

/// A file, made.
struct File {
    sources: Vec<ChunkMeta>,
    encoded: Encoded,
    segment: SegmentMeta,
    sealed_to: BlockNumber,
}

impl Sealer {
    /// Cuts hot rows of a dataset together with new ones that follow them, all final up to `final_to`, and uploads the
    /// files. The commit of what comes back is the caller's.
    pub async fn straight(
        &self,
        store: &dyn HotReader,
        dataset: &DatasetState,
        mut new: NewRows,
        final_to: BlockNumber,
    ) -> Result<Placed, SealError> {
        let mut placed = Placed::default();
        let mut due = Vec::new();
        let mut read = store.read().await?;
        let (store_id, began_at) = (read.store_id().await?, read.now().await?);
        let mut hot: BTreeMap<TableId, Vec<ChunkMeta>> = BTreeMap::new();
        for meta in read.chunks(dataset.id).await? {
            hot.entry(meta.table).or_default().push(meta);
        }
        // The end of a span can make a cut due in a table without new rows.
        for table in hot.keys() {
            new.entry(*table).or_default();
        }
        for (table, new) in new {
            let owner =
                Owner { store: store_id, dataset: dataset.key, table, name: dataset.table_name(table).to_owned() };
            let sources = hot.remove(&table).unwrap_or_default();
            let mut pieces: Vec<Piece> = sources.iter().map(|it| Piece { range: it.range, rows: it.rows }).collect();
            for batch in &new {
                let range = chunk::range(batch).map_err(|error| owner.failed(error))?;
                pieces.extend(range.map(|range| Piece { range, rows: batch.num_rows() as u64 }));
            }
            if self.rule.due(&pieces, final_to).is_none() {
                placed.hot.extend(hot_chunks(&owner, dataset, new).await?);
                continue;
            }
            let schema = dataset.table_schema(table).ok_or_else(|| owner.failed("it is not in the manifest"))?;
            let stored = bytes_of(read.as_mut(), &sources).await?;
            due.push(Table { owner, schema, sources, stored, new });
        }
        drop(read);
        for table in due {
            let rest = self.files_of(table, final_to, began_at, &mut placed.sealed).await?;
            placed.hot.extend(rest);
        }
        Ok(placed)
    }

    /// Makes and uploads the files of one table; gives the rows after the last cut.
    async fn files_of(
        &self,
        table: Table,
        final_to: BlockNumber,
        began_at: StoreTime,
        sealed: &mut Vec<SealedRows>,
    ) -> Result<Option<NewChunk>, SealError> {
        let (rule, owner) = (self.rule, table.owner.clone());
        let cut = tokio::task::spawn_blocking(move || table.cut(rule, final_to)).await;
        let (cuts, rest) = cut.map_err(|error| owner.failed(error))??;
        let files = stream::iter(cuts).map(|(sources, sealed_to, rows)| {
            let owner = owner.clone();
            async move {
                let made = tokio::task::spawn_blocking({
                    let owner = owner.clone();
                    move || owner.file(&rows)
                });
                let (encoded, segment) = made.await.map_err(|error| owner.failed(error))??;
                self.place.put(&segment.key, encoded.bytes.clone()).await?;
                Ok::<_, SealError>(File { sources, encoded, segment, sealed_to })
            }
        });
        let files: Vec<File> = files.buffered(AT_A_TIME).try_collect().await?;
        sealed.extend(files.into_iter().map(|file| SealedRows {
            segment: file.segment,
            sealed_to: file.sealed_to,
            sources: file.sources,
            tree: file.encoded.tree.leaves().clone(),
            began_at,
        }));
        Ok(rest)
    }
}

/// A cut: the hot chunks that go with it, its last block, its rows.
type Cut = (Vec<ChunkMeta>, BlockNumber, RecordBatch);

impl Table {
    fn cut(self, rule: CutRule, final_to: BlockNumber) -> Result<(Vec<Cut>, Option<NewChunk>), SealError> {
        let Table { owner, schema, mut sources, stored, new } = self;
        let stored = stored.into_iter().map(|bytes| chunk::decode(&schema, bytes));
        let mut batches = stored.collect::<Result<Vec<RecordBatch>, _>>().map_err(|error| owner.failed(error))?;
        batches.extend(new);
        let mut rest = chunk::concat(&schema, &batches).map_err(|error| owner.failed(error))?;
        drop(batches);
        let mut cuts = Vec::new();
        while rest.num_rows() > 0 {
            let Some(sides) = owner.cut(rule, &rest, final_to)? else { break };
            cuts.push((std::mem::take(&mut sources), sides.sealed_to, sides.sealed));
            rest = sides.rest;
        }
        let rest = chunk::of(owner.table, &rest).map_err(|error| owner.failed(error))?;
        Ok((cuts, rest))
    }
}

/// Rows without a cut as chunks, small windows joined.
async fn hot_chunks(owner: &Owner, dataset: &DatasetState, new: Vec<RecordBatch>) -> Result<Vec<NewChunk>, SealError> {
    let schema = dataset.table_schema(owner.table).ok_or_else(|| owner.failed("it is not in the manifest"))?;
    let (of, table) = (owner.clone(), owner.table);
    let made = tokio::task::spawn_blocking(move || {
        let mut chunks = Vec::new();
        let mut held: Vec<RecordBatch> = Vec::new();
        let mut rows = 0;
        for batch in new {
            if rows > 0 && rows + batch.num_rows() as u64 > MERGED_ROWS {
                chunks.extend(chunk::of(table, &chunk::concat(&schema, &held)?)?);
                held.clear();
                rows = 0;
            }
            rows += batch.num_rows() as u64;
            held.push(batch);
        }
        chunks.extend(chunk::of(table, &chunk::concat(&schema, &held)?)?);
        Ok::<_, chunk::BadChunk>(chunks)
    });
    made.await.map_err(|error| of.failed(error))?.map_err(|error| of.failed(error))
}
