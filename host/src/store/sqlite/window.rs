//! Commits: rows and progress of a window.

use std::collections::BTreeMap;

use sqlx::SqliteConnection;

use super::fail::Step;
use super::rows::{block, branch, final_block, int, meta, set_final_block};
use super::{chunks, datasets, segments};
use crate::model::{BlockHash, BlockNumber, BlockRef, Branch, DatasetKey};
use crate::store::rules::{Advance, Stand, Verdict, check_window, reaches_above};
use crate::store::{Commit, DatasetCommit, StoreError};

/// What a commit comes to, checked, before anything is written.
pub(super) struct Plan<'a> {
    advance: Advance,
    apply: Vec<(DatasetKey, &'a DatasetCommit)>,
    branched: bool,
}

/// Writes one window. One that happened already changes nothing.
pub(super) async fn commit(connection: &mut SqliteConnection, commit: &Commit) -> Step<()> {
    refuse_halted(connection).await?;
    let plan = plan(connection, commit).await?;
    if plan.branched {
        let current = branch(connection).await?;
        check_branch(commit.branch, current)?;
    }
    write(connection, plan).await
}

pub(super) async fn refuse_halted(connection: &mut SqliteConnection) -> Step<()> {
    match meta(connection, "halted").await? {
        Some(reason) => Err(StoreError::Halted { reason }.into()),
        None => Ok(()),
    }
}

pub(super) fn check_branch(given: Option<Branch>, current: Branch) -> Step<()> {
    match given {
        Some(fetched) if fetched == current => Ok(()),
        Some(fetched) => Err(StoreError::WrongBranch { fetched, current }.into()),
        None => Err(StoreError::Refused("a commit above the final block names no branch".to_owned()).into()),
    }
}

pub(super) async fn plan<'a>(connection: &mut SqliteConnection, commit: &'a Commit) -> Step<Plan<'a>> {
    // Datasets first: "it stands elsewhere" says more than what follows from it.
    let mut apply = Vec::new();
    for part in &commit.datasets {
        if apply.iter().any(|(_, other): &(_, &DatasetCommit)| other.dataset == part.dataset) {
            return Err(StoreError::Refused(format!("dataset {} is named twice", part.dataset)).into());
        }
        let standing = datasets::standing(connection, part.dataset).await?;
        match check_window(&standing, part)? {
            Verdict::Apply => apply.push((standing.key, part)),
            Verdict::AppliedIfKnown => {
                for new in &part.chunks {
                    let id = chunks::address(standing.key, part.dataset, new);
                    if !chunks::known(connection, id).await? {
                        let (dataset, at, from) = (part.dataset, standing.done_to, part.from);
                        return Err(StoreError::Moved { dataset, at, from }.into());
                    }
                }
                for file in &part.sealed {
                    if !segments::known(connection, part.dataset, &file.segment).await? {
                        let (dataset, at, from) = (part.dataset, standing.done_to, part.from);
                        return Err(StoreError::Moved { dataset, at, from }.into());
                    }
                }
            }
        }
    }
    let stored = final_block(connection).await?;
    let stand = stand(connection, stored, commit).await?;
    let advance = stand.advance(commit)?;
    let branched = reaches_above(commit, stored, &advance.append, apply.iter().map(|(_, part)| *part));
    Ok(Plan { advance, apply, branched })
}

async fn stand(connection: &mut SqliteConnection, stored: Option<BlockRef>, commit: &Commit) -> Step<Stand> {
    let last: Option<(i64, Vec<u8>)> = sqlx::query_as("SELECT number, hash FROM blocks ORDER BY number DESC LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    let mut rows: Vec<(i64, Vec<u8>)> = Vec::new();
    if let Some(from) = Stand::from(stored, commit) {
        rows = sqlx::query_as("SELECT number, hash FROM blocks WHERE number >= ?")
            .bind(int(from.0)?)
            .fetch_all(&mut *connection)
            .await?;
    }
    if let Some(block) = commit.final_block {
        let at: Option<(i64, Vec<u8>)> = sqlx::query_as("SELECT number, hash FROM blocks WHERE number = ?")
            .bind(int(block.number.0)?)
            .fetch_optional(connection)
            .await?;
        rows.extend(at);
    }
    let mut known: BTreeMap<BlockNumber, BlockHash> = BTreeMap::new();
    for (number, hash) in rows {
        let block = block(number, &hash)?;
        known.insert(block.number, block.hash);
    }
    let last = last.map(|(number, hash)| block(number, &hash)).transpose()?;
    Ok(Stand { final_block: stored, last, known })
}

pub(super) async fn write(connection: &mut SqliteConnection, plan: Plan<'_>) -> Step<()> {
    if let Some(block) = plan.advance.final_block {
        set_final_block(connection, Some(block)).await?;
        sqlx::query("DELETE FROM blocks WHERE number <= ?")
            .bind(int(block.number.0)?)
            .execute(&mut *connection)
            .await?;
    }
    for block in &plan.advance.append {
        sqlx::query("INSERT INTO blocks (number, hash) VALUES (?, ?)")
            .bind(int(block.number.0)?)
            .bind(&block.hash[..])
            .execute(&mut *connection)
            .await?;
    }
    for (key, part) in plan.apply {
        for file in &part.sealed {
            segments::commit(connection, part, file).await?;
        }
        for new in &part.chunks {
            chunks::insert(connection, key, part.dataset, new).await?;
        }
        datasets::set_done(connection, part.dataset, Some(part.done_to)).await?;
    }
    Ok(())
}
