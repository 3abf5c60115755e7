//! Housekeeping: few chunks instead of many, and no bytes that nobody can ask for.

use std::collections::BTreeMap;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use sqlx::SqliteConnection;

use super::fail::{Fail, Step};
use super::rows::{final_block, int, now};
use super::{chunks, datasets};
use crate::model::{BlockRange, DatasetId, DatasetKey, TableId};
use crate::store::rules::plan_merges;
use crate::store::{ChunkMeta, DatasetState, NewChunk, chunk};

/// One call of merge reads at most about this much, so that its transaction stays short.
const MERGE_BYTES: u64 = 32 << 20;
/// And at most about this many chunks.
const MERGE_CHUNKS: usize = 2_048;
/// Chunks whose bytes one transaction deletes.
const SWEEP_SLICE: i64 = 64;

/// Chunks that become one.
pub(super) struct Job {
    key: DatasetKey,
    dataset: DatasetId,
    table: TableId,
    schema: SchemaRef,
    sources: Vec<(ChunkMeta, Bytes)>,
}

/// The same, made.
pub(super) struct Merged {
    key: DatasetKey,
    dataset: DatasetId,
    sources: Vec<ChunkMeta>,
    chunk: NewChunk,
}

/// What to merge next, with its bytes.
pub(super) async fn jobs(connection: &mut SqliteConnection) -> Step<Vec<Job>> {
    let mut jobs = Vec::new();
    let Some(end) = final_block(connection).await? else { return Ok(jobs) };
    let (mut bytes, mut count) = (0, 0);
    for dataset in datasets::all(connection).await? {
        let mut tables: BTreeMap<TableId, Vec<ChunkMeta>> = BTreeMap::new();
        for meta in chunks::current(connection, dataset.id).await? {
            if meta.range.last <= end.number {
                tables.entry(meta.table).or_default().push(meta);
            }
        }
        for (table, finals) in tables {
            let rows: Vec<u64> = finals.iter().map(|meta| meta.rows).collect();
            for run in plan_merges(&rows) {
                if bytes >= MERGE_BYTES || count >= MERGE_CHUNKS {
                    return Ok(jobs);
                }
                let sources = &finals[run];
                bytes += sources.iter().map(|meta| meta.bytes).sum::<u64>();
                count += sources.len();
                jobs.push(job(connection, &dataset, table, sources).await?);
            }
        }
    }
    Ok(jobs)
}

async fn job(
    connection: &mut SqliteConnection,
    dataset: &DatasetState,
    table: TableId,
    metas: &[ChunkMeta],
) -> Step<Job> {
    let schema = datasets::schema(dataset, table)?;
    let mut sources = Vec::with_capacity(metas.len());
    for &meta in metas {
        let bytes = chunks::bytes(connection, meta.id).await?;
        let bytes = bytes.ok_or_else(|| Fail::Damaged(format!("the bytes of chunk {} are gone", meta.id)))?;
        sources.push((meta, bytes));
    }
    Ok(Job { key: dataset.key, dataset: dataset.id, table, schema, sources })
}

impl Job {
    /// Makes the one chunk. Takes a while, so not on a thread that serves others.
    pub(super) fn run(self) -> Step<Merged> {
        let schema = self.schema;
        let mut metas = Vec::with_capacity(self.sources.len());
        let mut batches = Vec::with_capacity(self.sources.len());
        for (meta, bytes) in self.sources {
            let batch =
                chunk::decode(&schema, bytes).map_err(|bad| Fail::Damaged(format!("chunk {}: {bad}", meta.id)))?;
            metas.push(meta);
            batches.push(batch);
        }
        let range = metas.first().zip(metas.last()).and_then(|(a, b)| BlockRange::new(a.range.first, b.range.last));
        let range = range.ok_or_else(|| Fail::Damaged("chunks out of order".to_owned()))?;
        let batch = chunk::concat(&schema, &batches)?;
        let rows = batch.num_rows() as u64;
        let chunk = NewChunk { table: self.table, range, rows, bytes: chunk::encode(&batch)? };
        Ok(Merged { key: self.key, dataset: self.dataset, sources: metas, chunk })
    }
}

/// Swaps what was merged for its sources; returns how many chunks fewer there are. Sources that are no longer current
/// are left alone: another write came between.
pub(super) async fn swap(connection: &mut SqliteConnection, merged: &[Merged]) -> Step<usize> {
    let mut fewer = 0;
    for one in merged {
        let there = chunks::within(connection, one.dataset, one.chunk.table, one.chunk.range).await?;
        if there != one.sources {
            continue;
        }
        chunks::retire_within(connection, one.dataset, one.chunk.table, one.chunk.range).await?;
        chunks::insert(connection, one.key, one.dataset, &one.chunk).await?;
        fewer += one.sources.len() - 1;
    }
    Ok(fewer)
}

/// Deletes the bytes of some chunks that were retired before `keep_ms` ago; returns how many.
pub(super) async fn sweep(connection: &mut SqliteConnection, keep_ms: i64) -> Step<usize> {
    let before = now().saturating_sub(keep_ms);
    let gone: Vec<(Vec<u8>,)> = sqlx::query_as(
        "DELETE FROM retired WHERE hash IN (SELECT hash FROM retired WHERE retired_at <= ? ORDER BY retired_at LIMIT ?) \
         RETURNING hash",
    )
    .bind(before)
    .bind(SWEEP_SLICE)
    .fetch_all(&mut *connection)
    .await?;
    for (hash,) in &gone {
        sqlx::query("DELETE FROM chunk_bytes WHERE hash = ?").bind(&hash[..]).execute(&mut *connection).await?;
    }
    if gone.is_empty() {
        forget_dropped(connection).await?;
    }
    Ok(gone.len())
}

/// Deletes dropped datasets of which no bytes are left.
async fn forget_dropped(connection: &mut SqliteConnection) -> Step<()> {
    let empty: Vec<(i64,)> = sqlx::query_as(
        "SELECT id FROM datasets WHERE dropped AND NOT EXISTS (SELECT 1 FROM retired WHERE dataset = datasets.id)",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (id,) in empty {
        sqlx::query("DELETE FROM dataset_tables WHERE dataset = ?").bind(id).execute(&mut *connection).await?;
        sqlx::query("DELETE FROM datasets WHERE id = ?").bind(id).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Whether a sweep has anything to do, so that an idle store writes nothing.
pub(super) async fn sweepable(connection: &mut SqliteConnection, keep_ms: i64) -> Step<bool> {
    let before = int(now().saturating_sub(keep_ms).max(0).unsigned_abs())?;
    let (any,): (bool,) = sqlx::query_as(
        "SELECT EXISTS (SELECT 1 FROM retired WHERE retired_at <= ?) OR EXISTS (SELECT 1 FROM datasets WHERE dropped \
         AND NOT EXISTS (SELECT 1 FROM retired WHERE dataset = datasets.id))",
    )
    .bind(before)
    .fetch_one(connection)
    .await?;
    Ok(any)
}
