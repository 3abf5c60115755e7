//! The catalogue of sealed history.

use bytes::Bytes;
use sqlx::SqliteConnection;

use super::chunks::{range_of, table_of};
use super::fail::Step;
use super::rows::{final_block, hash, int, now, uint};
use super::{chunks, datasets, window};
use crate::model::{BlockNumber, ContentHash, DatasetId, TableId};
use crate::store::{
    ChunkMeta, DatasetCommit, DroppedKey, SEAL_WITHIN, Seal, SealOutcome, SealedRows, SegmentMeta, StoreError,
    StoreTime,
};

type Row = (i64, i64, i64, i64, i64, Vec<u8>, String);

fn meta_of((table, first, last, rows, size, id, key): Row) -> Step<SegmentMeta> {
    Ok(SegmentMeta {
        table: table_of(table)?,
        range: range_of(first, last)?,
        rows: uint(rows)?,
        bytes: uint(size)?,
        hash: ContentHash(hash(&id)?),
        key,
    })
}

/// Whether the schema has a catalogue: the version before, which readers may meet, has none.
async fn is_there(connection: &mut SqliteConnection) -> Step<bool> {
    let (there,): (bool,) = sqlx::query_as("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'segments')")
        .fetch_one(connection)
        .await?;
    Ok(there)
}

/// The dataset's segments by table and block.
pub(super) async fn all(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<Vec<SegmentMeta>> {
    if !is_there(connection).await? {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT table_id, first_block, last_block, rows, size, hash, key FROM segments WHERE dataset = ? \
         ORDER BY dataset, table_id, first_block",
    )
    .bind(dataset.0)
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(meta_of).collect()
}

/// The inner hashes of a file.
pub(super) async fn tree(connection: &mut SqliteConnection, key: &str) -> Step<Option<Bytes>> {
    let found: Option<(Vec<u8>,)> =
        sqlx::query_as("SELECT tree FROM segments WHERE key = ?").bind(key).fetch_optional(connection).await?;
    Ok(found.map(|(tree,)| tree.into()))
}

/// Takes a dataset's segments out of the catalogue.
pub(super) async fn drop_all(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<()> {
    sqlx::query("INSERT INTO dropped_keys (key, dropped_at) SELECT key, ?2 FROM segments WHERE dataset = ?1")
        .bind(dataset.0)
        .bind(now())
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM segments WHERE dataset = ?").bind(dataset.0).execute(connection).await?;
    Ok(())
}

/// Keys that left the catalogue.
pub(super) async fn dropped(connection: &mut SqliteConnection) -> Step<Vec<DroppedKey>> {
    if !is_there(connection).await? {
        return Ok(Vec::new());
    }
    let rows: Vec<(String, i64)> =
        sqlx::query_as("SELECT key, dropped_at FROM dropped_keys ORDER BY key").fetch_all(connection).await?;
    Ok(rows.into_iter().map(|(key, at)| DroppedKey { key, dropped_at: StoreTime(at) }).collect())
}

/// Forgets keys whose objects are gone.
pub(super) async fn forget(connection: &mut SqliteConnection, keys: &[String]) -> Step<()> {
    for key in keys {
        sqlx::query("DELETE FROM dropped_keys WHERE key = ?").bind(key).execute(&mut *connection).await?;
    }
    Ok(())
}

/// The last block up to which a table is sealed.
async fn sealed_to(connection: &mut SqliteConnection, dataset: DatasetId, table: TableId) -> Step<Option<BlockNumber>> {
    let (last,): (Option<i64>,) =
        sqlx::query_as("SELECT max(sealed_to) FROM segments WHERE dataset = ? AND table_id = ?")
            .bind(dataset.0)
            .bind(table.to_i64())
            .fetch_one(connection)
            .await?;
    last.map(|block| uint(block).map(BlockNumber)).transpose()
}

/// Records a segment and takes its rows out of the hot half.
pub(super) async fn seal(connection: &mut SqliteConnection, seal: &Seal) -> Step<SealOutcome> {
    window::refuse_halted(connection).await?;
    let standing = datasets::standing(connection, seal.dataset).await?;
    let end = final_block(connection).await?;
    let reach = standing.done_to.zip(end).map(|(done, end)| done.number.min(end.number));
    if reach.is_none_or(|reach| seal.sealed_to > reach) {
        let why = format!("a seal up to block {}, and not all rows up to there are final", seal.sealed_to);
        return Err(StoreError::Refused(why).into());
    }
    if StoreTime(now()).since(seal.began_at) >= SEAL_WITHIN {
        return Ok(SealOutcome::Expired);
    }
    let segment = &seal.segment;
    check_rows(seal)?;
    let mut table: Vec<ChunkMeta> = chunks::current(connection, seal.dataset).await?;
    table.retain(|chunk| chunk.table == segment.table);
    if !table.starts_with(&seal.sources) {
        return Ok(SealOutcome::Stale);
    }
    if let Some(before) = sealed_to(connection, seal.dataset, segment.table).await?
        && before >= segment.range.first
    {
        let why = format!("a segment from block {}, and the table is sealed up to {before}", segment.range.first);
        return Err(StoreError::Refused(why).into());
    }
    for source in &seal.sources {
        chunks::retire(connection, seal.dataset, source).await?;
    }
    if let Some(rest) = &seal.rest {
        chunks::insert(connection, standing.key, seal.dataset, rest).await?;
    }
    insert(connection, seal.dataset, segment, seal.sealed_to, &seal.tree).await?;
    Ok(SealOutcome::Sealed)
}

/// Records a file of a commit's rows and takes the hot rows in it out of the hot half. The rows of the commit itself
/// are not in yet.
pub(super) async fn commit(connection: &mut SqliteConnection, part: &DatasetCommit, file: &SealedRows) -> Step<()> {
    let (dataset, sealed_to, segment) = (part.dataset, file.sealed_to, &file.segment);
    let moved = |reason| StoreError::CutMoved { dataset, sealed_to, reason };
    if final_block(connection).await?.is_none_or(|end| sealed_to > end.number) {
        let why = format!("a file up to block {sealed_to}, and not all rows up to there are final");
        return Err(StoreError::Refused(why).into());
    }
    if StoreTime(now()).since(file.began_at) >= SEAL_WITHIN {
        return Err(moved("its upload took too long").into());
    }
    let mut table: Vec<ChunkMeta> = chunks::current(connection, dataset).await?;
    table.retain(|chunk| chunk.table == segment.table);
    if table != file.sources {
        return Err(moved("its hot rows are not those that went into the file").into());
    }
    if let Some(before) = self::sealed_to(connection, dataset, segment.table).await?
        && before >= segment.range.first
    {
        return Err(moved("it is sealed further than that already").into());
    }
    for source in &file.sources {
        chunks::retire(connection, dataset, source).await?;
    }
    insert(connection, dataset, segment, sealed_to, &file.tree).await
}

/// Whether the catalogue has this very file's content for these rows.
pub(super) async fn known(connection: &mut SqliteConnection, dataset: DatasetId, segment: &SegmentMeta) -> Step<bool> {
    let row: Option<(i64,)> =
        sqlx::query_as("SELECT 1 FROM segments WHERE dataset = ? AND table_id = ? AND first_block = ? AND hash = ?")
            .bind(dataset.0)
            .bind(segment.table.to_i64())
            .bind(int(segment.range.first.0)?)
            .bind(&segment.hash.0[..])
            .fetch_optional(connection)
            .await?;
    Ok(row.is_some())
}

async fn insert(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    segment: &SegmentMeta,
    sealed_to: BlockNumber,
    tree: &[u8],
) -> Step<()> {
    sqlx::query(
        "INSERT INTO segments (dataset, table_id, first_block, last_block, sealed_to, rows, size, hash, key, tree) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(dataset.0)
    .bind(segment.table.to_i64())
    .bind(int(segment.range.first.0)?)
    .bind(int(segment.range.last.0)?)
    .bind(int(sealed_to.0)?)
    .bind(int(segment.rows)?)
    .bind(int(segment.bytes)?)
    .bind(&segment.hash.0[..])
    .bind(&segment.key)
    .bind(tree)
    .execute(connection)
    .await?;
    Ok(())
}

/// Each row of the sources goes to one side of the cut.
fn check_rows(seal: &Seal) -> Step<()> {
    let segment = &seal.segment;
    let taken: u64 = seal.sources.iter().map(|chunk| chunk.rows).sum();
    let given = segment.rows + seal.rest.as_ref().map_or(0, |rest| rest.rows);
    let sides = segment.range.last <= seal.sealed_to
        && seal.rest.as_ref().is_none_or(|rest| rest.table == segment.table && rest.range.first > seal.sealed_to);
    if segment.rows == 0 || taken != given || !sides {
        let why = format!("a seal of {taken} rows into {given}, cut at block {}", seal.sealed_to);
        return Err(StoreError::Refused(why).into());
    }
    Ok(())
}
