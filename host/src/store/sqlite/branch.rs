//! Leaving a branch: rollback, and rebuild when what was final turns out not to be.

use sqlx::SqliteConnection;

use super::fail::{Fail, Step};
use super::rows::{block, branch, clear_meta, final_block, int, raise_branch, set_final_block};
use super::{chunks, datasets, endpoints, window};
use crate::model::{BlockNumber, BlockRange, BlockRef, Branch, DatasetId};
use crate::store::{ChunkMeta, DatasetState, DatasetStatus, NewChunk, NewDataset, Rollback, StoreError, chunk};

/// Cuts everything above the ancestor and writes the replacement.
pub(super) async fn rollback(connection: &mut SqliteConnection, rollback: &Rollback) -> Step<Branch> {
    window::refuse_halted(connection).await?;
    window::check_branch(rollback.replacement.branch, branch(connection).await?)?;
    let ancestor = rollback.ancestor;
    check_ancestor(connection, ancestor).await?;
    for dataset in datasets::all(connection).await? {
        if dataset.done_to.is_some_and(|done| done.number > ancestor.number) {
            cut(connection, &dataset, ancestor).await?;
        }
        clear_fault_above(connection, &dataset, Some(ancestor)).await?;
    }
    sqlx::query("DELETE FROM blocks WHERE number > ?").bind(int(ancestor.number.0)?).execute(&mut *connection).await?;
    let raised = raise_branch(connection).await?;
    let plan = window::plan(connection, &rollback.replacement).await?;
    window::write(connection, plan).await?;
    Ok(raised)
}

async fn check_ancestor(connection: &mut SqliteConnection, ancestor: BlockRef) -> Step<()> {
    if let Some(end) = final_block(connection).await? {
        if ancestor.number < end.number || (ancestor.number == end.number && ancestor.hash != end.hash) {
            return Err(StoreError::BelowFinal { ancestor, final_block: end }.into());
        }
        if ancestor == end {
            return Ok(());
        }
    }
    let row: Option<(i64, Vec<u8>)> = sqlx::query_as("SELECT number, hash FROM blocks WHERE number = ?")
        .bind(int(ancestor.number.0)?)
        .fetch_optional(connection)
        .await?;
    match row.map(|(number, hash)| block(number, &hash)).transpose()? {
        Some(stored) if stored == ancestor => Ok(()),
        Some(stored) => Err(StoreError::Fork { stored, given: ancestor }.into()),
        None => {
            Err(StoreError::Refused(format!("a rollback to block {ancestor}, which the cursor does not know")).into())
        }
    }
}

/// Cuts a dataset back to the ancestor; one that begins above it has nothing left.
async fn cut(connection: &mut SqliteConnection, dataset: &DatasetState, ancestor: BlockRef) -> Step<()> {
    for old in chunks::above(connection, dataset.id, ancestor.number).await? {
        if let Some(rest) = rest(connection, dataset, &old, ancestor.number).await? {
            chunks::retire(connection, dataset.id, &old).await?;
            chunks::insert(connection, dataset.key, dataset.id, &rest).await?;
        } else {
            chunks::retire(connection, dataset.id, &old).await?;
        }
    }
    let done_to = Some(ancestor).filter(|block| block.number >= dataset.key.first_block);
    datasets::set_done(connection, dataset.id, done_to).await
}

/// What stays of a chunk: its rows up to the block.
async fn rest(
    connection: &mut SqliteConnection,
    dataset: &DatasetState,
    old: &ChunkMeta,
    last: BlockNumber,
) -> Step<Option<NewChunk>> {
    let Some(range) = BlockRange::new(old.range.first, last) else { return Ok(None) };
    let schema = datasets::schema(dataset, old.table)?;
    let bytes = chunks::bytes(connection, old.id).await?;
    let bytes = bytes.ok_or_else(|| Fail::Damaged(format!("the bytes of chunk {} are gone", old.id)))?;
    let batch = chunk::cut(&chunk::decode(&schema, bytes)?, last)?;
    if batch.num_rows() == 0 {
        return Ok(None);
    }
    Ok(Some(NewChunk { table: old.table, range, rows: batch.num_rows() as u64, bytes: chunk::encode(&batch)? }))
}

/// A fault whose block is gone is tried again.
async fn clear_fault_above(
    connection: &mut SqliteConnection,
    dataset: &DatasetState,
    ancestor: Option<BlockRef>,
) -> Step<()> {
    match &dataset.status {
        DatasetStatus::Quarantined(fault) if ancestor.is_none_or(|block| fault.block.number > block.number) => {
            datasets::set_fault(connection, dataset.id, None).await
        }
        _ => Ok(()),
    }
}

/// Lowers the final block to the ancestor; what reaches above it starts again under a new number.
pub(super) async fn rebuild(connection: &mut SqliteConnection, ancestor: Option<BlockRef>) -> Step<()> {
    let stored = final_block(connection).await?;
    if let Some(given) = ancestor.filter(|given| stored.is_none_or(|end| given.number > end.number)) {
        let why = format!("a rebuild from block {given}, which is above the final block");
        return Err(StoreError::Refused(why).into());
    }
    for dataset in datasets::all(connection).await? {
        let stands = match (dataset.done_to, ancestor) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(done), Some(block)) => done.number < block.number || done == block,
        };
        if stands {
            clear_fault_above(connection, &dataset, ancestor).await?;
        } else {
            start_again(connection, dataset).await?;
        }
    }
    sqlx::query("DELETE FROM blocks").execute(&mut *connection).await?;
    set_final_block(connection, ancestor).await?;
    raise_branch(connection).await?;
    clear_meta(connection, "halted").await
}

async fn start_again(connection: &mut SqliteConnection, dataset: DatasetState) -> Step<DatasetId> {
    let old = dataset.id;
    datasets::hide(connection, old).await?;
    let DatasetState { key, nest, bundle, tables, engine, backfill, .. } = dataset;
    let new = datasets::insert(connection, &NewDataset { key, nest, bundle, tables, engine, backfill }).await?;
    endpoints::move_all(connection, old, new).await?;
    Ok(new)
}
