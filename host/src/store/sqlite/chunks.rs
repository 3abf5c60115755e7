//! Chunks: the current set, their bytes, and what left the set.

use bytes::Bytes;
use sqlx::SqliteConnection;

use super::fail::{Fail, Step};
use super::rows::{hash, int, now, uint};
use crate::model::{BlockNumber, BlockRange, DataIdentity, DatasetId, DatasetKey, TableId};
use crate::store::chunk::ChunkOwner;
use crate::store::{ChunkId, ChunkMeta, NewChunk};

type MetaRow = (i64, i64, i64, i64, i64, Vec<u8>);

fn meta_of((table, first, last, rows, size, id): MetaRow) -> Step<ChunkMeta> {
    Ok(ChunkMeta {
        id: ChunkId(hash(&id)?),
        table: table_of(table)?,
        range: range_of(first, last)?,
        rows: uint(rows)?,
        bytes: uint(size)?,
    })
}

pub(super) fn table_of(number: i64) -> Step<TableId> {
    TableId::from_i64(number).ok_or_else(|| Fail::Damaged(format!("there is no table {number}")))
}

pub(super) fn range_of(first: i64, last: i64) -> Step<BlockRange> {
    let range = BlockRange::new(BlockNumber(uint(first)?), BlockNumber(uint(last)?));
    range.ok_or_else(|| Fail::Damaged(format!("rows from block {first} to {last}")))
}

/// The dataset's current chunks by table and block.
pub(super) async fn current(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<Vec<ChunkMeta>> {
    let rows: Vec<MetaRow> = sqlx::query_as(
        "SELECT table_id, first_block, last_block, rows, size, hash FROM chunks WHERE dataset = ? \
         ORDER BY dataset, table_id, first_block",
    )
    .bind(dataset.0)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(meta_of).collect()
}

/// The dataset's current chunks that hold blocks above this one.
pub(super) async fn above(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    block: BlockNumber,
) -> Step<Vec<ChunkMeta>> {
    let rows: Vec<MetaRow> = sqlx::query_as(
        "SELECT table_id, first_block, last_block, rows, size, hash FROM chunks WHERE dataset = ? AND last_block > ? \
         ORDER BY dataset, table_id, first_block",
    )
    .bind(dataset.0)
    .bind(int(block.0)?)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(meta_of).collect()
}

/// Whether the store has the bytes of this chunk, current or retired.
pub(super) async fn known(connection: &mut SqliteConnection, id: ChunkId) -> Step<bool> {
    let row: Option<(i64,)> =
        sqlx::query_as("SELECT 1 FROM chunk_bytes WHERE hash = ?").bind(&id.0[..]).fetch_optional(connection).await?;
    Ok(row.is_some())
}

/// The address of a chunk of this dataset.
pub(super) fn address(key: DatasetKey, number: DatasetId, new: &NewChunk) -> ChunkId {
    ChunkOwner { key, number, table: new.table, range: new.range }.id(&new.bytes)
}

/// Adds a chunk to the current set. Bytes that are there already, because a branch came back, come back with it.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    key: DatasetKey,
    number: DatasetId,
    new: &NewChunk,
) -> Step<()> {
    let id = address(key, number, new);
    let (first, last) = (int(new.range.first.0)?, int(new.range.last.0)?);
    let (overlaps,): (i64,) = sqlx::query_as(
        "SELECT count(*) FROM chunks WHERE dataset = ?1 AND table_id = ?2 AND first_block <= ?4 AND last_block >= ?3",
    )
    .bind(number.0)
    .bind(new.table.to_i64())
    .bind(first)
    .bind(last)
    .fetch_one(&mut *connection)
    .await?;
    if overlaps > 0 {
        return Err(Fail::Damaged(format!("dataset {number} already has a chunk within blocks {}", new.range)));
    }
    let added = sqlx::query(
        "INSERT INTO chunk_bytes (hash, dataset, table_id, first_block, last_block, bytes) VALUES (?, ?, ?, ?, ?, ?) \
         ON CONFLICT (hash) DO NOTHING",
    )
    .bind(&id.0[..])
    .bind(number.0)
    .bind(new.table.to_i64())
    .bind(first)
    .bind(last)
    .bind(&new.bytes[..])
    .execute(&mut *connection)
    .await?;
    if added.rows_affected() == 0 {
        sqlx::query("DELETE FROM retired WHERE hash = ?").bind(&id.0[..]).execute(&mut *connection).await?;
    }
    sqlx::query(
        "INSERT INTO chunks (dataset, table_id, first_block, last_block, rows, size, hash) \
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(number.0)
    .bind(new.table.to_i64())
    .bind(first)
    .bind(last)
    .bind(int(new.rows)?)
    .bind(int(new.bytes.len() as u64)?)
    .bind(&id.0[..])
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes a chunk out of the current set. False when it is not in it.
pub(super) async fn retire(connection: &mut SqliteConnection, dataset: DatasetId, chunk: &ChunkMeta) -> Step<bool> {
    let gone = sqlx::query("DELETE FROM chunks WHERE dataset = ? AND table_id = ? AND first_block = ? AND hash = ?")
        .bind(dataset.0)
        .bind(chunk.table.to_i64())
        .bind(int(chunk.range.first.0)?)
        .bind(&chunk.id.0[..])
        .execute(&mut *connection)
        .await?;
    if gone.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query("INSERT INTO retired (hash, dataset, retired_at) VALUES (?, ?, ?)")
        .bind(&chunk.id.0[..])
        .bind(dataset.0)
        .bind(now())
        .execute(connection)
        .await?;
    Ok(true)
}

/// Takes all chunks of a dataset out of the current set.
pub(super) async fn retire_all(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<()> {
    sqlx::query(
        "INSERT INTO retired (hash, dataset, retired_at) SELECT hash, dataset, ?2 FROM chunks WHERE dataset = ?1",
    )
    .bind(dataset.0)
    .bind(now())
    .execute(&mut *connection)
    .await?;
    sqlx::query("DELETE FROM chunks WHERE dataset = ?").bind(dataset.0).execute(connection).await?;
    Ok(())
}

/// A chunk's bytes, checked against its address.
pub(super) async fn bytes(connection: &mut SqliteConnection, id: ChunkId) -> Step<Option<Bytes>> {
    type Row = (i64, i64, i64, i64, Vec<u8>, Vec<u8>, i64);
    let row: Option<Row> = sqlx::query_as(
        "SELECT b.dataset, b.table_id, b.first_block, b.last_block, b.bytes, d.identity, d.first_block \
         FROM chunk_bytes b JOIN datasets d ON d.id = b.dataset WHERE b.hash = ?",
    )
    .bind(&id.0[..])
    .fetch_optional(connection)
    .await?;
    let Some((dataset, table, first, last, bytes, identity, first_block)) = row else { return Ok(None) };
    let key = DatasetKey { identity: DataIdentity(hash(&identity)?), first_block: BlockNumber(uint(first_block)?) };
    let owner = ChunkOwner { key, number: DatasetId(dataset), table: table_of(table)?, range: range_of(first, last)? };
    if owner.id(&bytes) != id {
        return Err(Fail::Damaged(format!("chunk {id} of dataset {dataset} is not what was written")));
    }
    Ok(Some(Bytes::from(bytes)))
}

/// The current chunks of a table that begin within the blocks.
pub(super) async fn within(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    table: TableId,
    range: BlockRange,
) -> Step<Vec<ChunkMeta>> {
    let rows: Vec<MetaRow> = sqlx::query_as(
        "SELECT table_id, first_block, last_block, rows, size, hash FROM chunks \
         WHERE dataset = ? AND table_id = ? AND first_block BETWEEN ? AND ? ORDER BY first_block",
    )
    .bind(dataset.0)
    .bind(table.to_i64())
    .bind(int(range.first.0)?)
    .bind(int(range.last.0)?)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(meta_of).collect()
}

/// Takes the chunks of [`within`] out of the current set.
pub(super) async fn retire_within(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    table: TableId,
    range: BlockRange,
) -> Step<()> {
    let (first, last) = (int(range.first.0)?, int(range.last.0)?);
    sqlx::query(
        "INSERT INTO retired (hash, dataset, retired_at) SELECT hash, dataset, ? FROM chunks \
         WHERE dataset = ? AND table_id = ? AND first_block BETWEEN ? AND ?",
    )
    .bind(now())
    .bind(dataset.0)
    .bind(table.to_i64())
    .bind(first)
    .bind(last)
    .execute(&mut *connection)
    .await?;
    sqlx::query("DELETE FROM chunks WHERE dataset = ? AND table_id = ? AND first_block BETWEEN ? AND ?")
        .bind(dataset.0)
        .bind(table.to_i64())
        .bind(first)
        .bind(last)
        .execute(connection)
        .await?;
    Ok(())
}
