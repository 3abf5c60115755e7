//! Datasets: begin, drop, stop, go on.

use arrow::datatypes::SchemaRef;
use sqlx::SqliteConnection;

use super::fail::{Fail, Step};
use super::rows::{from_json, hash, int, maybe_block, parse, to_json, uint};
use super::{chunks, segments};
use crate::model::{
    BlockNumber, BlockRef, BundleHash, DataIdentity, DatasetId, DatasetKey, Fault, TableId, TableSchema,
};
use crate::store::rules::Standing;
use crate::store::{DatasetState, DatasetStatus, NewDataset, StoreError};

pub(super) async fn create(connection: &mut SqliteConnection, new: &NewDataset) -> Step<DatasetId> {
    let found: Option<(i64,)> =
        match new.backfill {
            None => sqlx::query_as(
                "SELECT id FROM datasets WHERE identity = ? AND first_block = ? AND backfill IS NULL AND NOT dropped",
            )
            .bind(&new.key.identity.0[..])
            .bind(int(new.key.first_block.0)?)
            .fetch_optional(&mut *connection)
            .await?,
            Some(_) => sqlx::query_as(
                "SELECT id FROM datasets WHERE identity = ? AND first_block = ? AND backfill IS NOT NULL AND nest = ? \
                 AND NOT dropped",
            )
            .bind(&new.key.identity.0[..])
            .bind(int(new.key.first_block.0)?)
            .bind(new.nest.as_str())
            .fetch_optional(&mut *connection)
            .await?,
        };
    match found {
        Some((id,)) => Ok(DatasetId(id)),
        None => insert(connection, new).await,
    }
}

pub(super) async fn insert(connection: &mut SqliteConnection, new: &NewDataset) -> Step<DatasetId> {
    let (id,): (i64,) = sqlx::query_as(
        "INSERT INTO datasets (identity, first_block, nest, bundle, engine, backfill) VALUES (?, ?, ?, ?, ?, ?) \
         RETURNING id",
    )
    .bind(&new.key.identity.0[..])
    .bind(int(new.key.first_block.0)?)
    .bind(new.nest.as_str())
    .bind(&new.bundle.0[..])
    .bind(&new.engine)
    .bind(new.backfill.map(int).transpose()?)
    .fetch_one(&mut *connection)
    .await?;
    for (place, table) in new.tables.iter().enumerate() {
        sqlx::query("INSERT INTO dataset_tables (dataset, place, schema) VALUES (?, ?, ?)")
            .bind(id)
            .bind(int(place as u64)?)
            .bind(to_json(table)?)
            .execute(&mut *connection)
            .await?;
    }
    Ok(DatasetId(id))
}

/// Hides the dataset; [`super::tidy::sweep`] deletes its rows when no query can be reading them.
pub(super) async fn drop_dataset(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<()> {
    standing(connection, dataset).await?;
    let named: Option<(String,)> = sqlx::query_as("SELECT name FROM endpoints WHERE dataset = ? ORDER BY name LIMIT 1")
        .bind(dataset.0)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some((name,)) = named {
        return Err(StoreError::DatasetInUse { dataset, endpoint: parse("endpoint", &name)? }.into());
    }
    hide(connection, dataset).await
}

pub(super) async fn hide(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<()> {
    chunks::retire_all(connection, dataset).await?;
    segments::drop_all(connection, dataset).await?;
    sqlx::query("UPDATE datasets SET dropped = 1 WHERE id = ?").bind(dataset.0).execute(connection).await?;
    Ok(())
}

/// The schema of a table's chunks.
pub(super) fn schema(dataset: &DatasetState, table: TableId) -> Step<SchemaRef> {
    let schema = dataset.table_schema(table);
    schema.ok_or_else(|| Fail::Damaged(format!("dataset {} has no table {}", dataset.id, table.to_i64())))
}

/// Where a dataset stands; refuses one that is not there.
pub(super) async fn standing(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<Standing> {
    type Row = (Vec<u8>, i64, Option<i64>, Option<Vec<u8>>, Option<String>);
    let row: Option<Row> = sqlx::query_as(
        "SELECT identity, first_block, done_number, done_hash, fault FROM datasets WHERE id = ? AND NOT dropped",
    )
    .bind(dataset.0)
    .fetch_optional(connection)
    .await?;
    let (identity, first, number, done, fault) = row.ok_or(StoreError::NoDataset(dataset))?;
    Ok(Standing {
        key: key(&identity, first)?,
        done_to: maybe_block(number, done)?,
        fault: fault.map(|text| from_json("fault", &text)).transpose()?,
    })
}

fn key(identity: &[u8], first_block: i64) -> Step<DatasetKey> {
    Ok(DatasetKey { identity: DataIdentity(hash(identity)?), first_block: BlockNumber(uint(first_block)?) })
}

pub(super) async fn set_done(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    done_to: Option<BlockRef>,
) -> Step<()> {
    sqlx::query("UPDATE datasets SET done_number = ?, done_hash = ? WHERE id = ?")
        .bind(done_to.map(|done| int(done.number.0)).transpose()?)
        .bind(done_to.map(|done| done.hash.to_vec()))
        .bind(dataset.0)
        .execute(connection)
        .await?;
    Ok(())
}

/// Sets or clears the fault.
pub(super) async fn set_fault(
    connection: &mut SqliteConnection,
    dataset: DatasetId,
    fault: Option<&Fault>,
) -> Step<()> {
    let set = sqlx::query("UPDATE datasets SET fault = ? WHERE id = ? AND NOT dropped")
        .bind(fault.map(to_json).transpose()?)
        .bind(dataset.0)
        .execute(connection)
        .await?;
    if set.rows_affected() == 0 {
        return Err(StoreError::NoDataset(dataset).into());
    }
    Ok(())
}

type StateRow = (i64, Vec<u8>, i64, String, Vec<u8>, String, Option<i64>, Option<i64>, Option<Vec<u8>>, Option<String>);

/// All datasets by number, dropped ones excepted.
pub(super) async fn all(connection: &mut SqliteConnection) -> Step<Vec<DatasetState>> {
    let rows: Vec<StateRow> = sqlx::query_as(
        "SELECT id, identity, first_block, nest, bundle, engine, backfill, done_number, done_hash, fault \
         FROM datasets WHERE NOT dropped ORDER BY id",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut states = Vec::with_capacity(rows.len());
    for row in rows {
        states.push(state(connection, row).await?);
    }
    Ok(states)
}

/// One dataset, dropped or not there: none.
pub(super) async fn one(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<Option<DatasetState>> {
    let row: Option<StateRow> = sqlx::query_as(
        "SELECT id, identity, first_block, nest, bundle, engine, backfill, done_number, done_hash, fault \
         FROM datasets WHERE NOT dropped AND id = ?",
    )
    .bind(dataset.0)
    .fetch_optional(&mut *connection)
    .await?;
    match row {
        Some(row) => state(connection, row).await.map(Some),
        None => Ok(None),
    }
}

async fn state(connection: &mut SqliteConnection, row: StateRow) -> Step<DatasetState> {
    let (id, identity, first, nest, bundle, engine, backfill, number, done, fault) = row;
    let fault = fault.map(|text| from_json::<Fault>("fault", &text)).transpose()?;
    Ok(DatasetState {
        id: DatasetId(id),
        key: key(&identity, first)?,
        nest: parse("nest", &nest)?,
        bundle: BundleHash(hash(&bundle)?),
        tables: tables(connection, DatasetId(id)).await?,
        engine,
        backfill: backfill.map(uint).transpose()?,
        done_to: maybe_block(number, done)?,
        status: fault.map_or(DatasetStatus::Active, DatasetStatus::Quarantined),
    })
}

/// Tables of a dataset in the order of its manifest.
pub(super) async fn tables(connection: &mut SqliteConnection, dataset: DatasetId) -> Step<Vec<TableSchema>> {
    let rows: Vec<(i64, String)> =
        sqlx::query_as("SELECT place, schema FROM dataset_tables WHERE dataset = ? ORDER BY place")
            .bind(dataset.0)
            .fetch_all(connection)
            .await?;
    let mut tables = Vec::with_capacity(rows.len());
    for (place, schema) in rows {
        if uint(place)? != tables.len() as u64 {
            return Err(Fail::Damaged(format!("dataset {dataset} lacks a table before number {place}")));
        }
        tables.push(from_json("table schema", &schema)?);
    }
    Ok(tables)
}
