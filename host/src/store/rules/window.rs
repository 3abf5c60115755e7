//! One dataset's part of a commit.

use super::chain::above;
use crate::model::{BlockNumber, BlockRef, DatasetKey, Fault};
use crate::store::{Commit, DatasetCommit, NewChunk, Result, StoreError, chunk};

/// Where a dataset stands before a commit.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub key: DatasetKey,
    pub done_to: Option<BlockRef>,
    pub fault: Option<Fault>,
}

/// What to do with one dataset's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It continues from where the dataset stands.
    Apply,
    /// It may have happened already: it has if the store knows all its chunks.
    AppliedIfKnown,
}

/// Checks one dataset's part against where the dataset stands.
pub(crate) fn check_window(standing: &Standing, part: &DatasetCommit) -> Result<Verdict> {
    let first = part.from.map_or(standing.key.first_block, |from| from.number.next());
    let end = part.done_to.number;
    if end < first {
        return refuse(part, format!("its window would end at block {end}, before its first block {first}"));
    }
    let mut chunks: Vec<&NewChunk> = part.chunks.iter().collect();
    chunks.sort_by_key(|chunk| (chunk.table, chunk.range.first));
    for chunk in &chunks {
        let cut = part.sealed.iter().filter(|it| it.segment.table == chunk.table).map(|it| it.sealed_to).max();
        // Hot rows after the cut come back with the new ones.
        check_chunk(part, chunk, cut.map_or(first, BlockNumber::next))?;
    }
    check_sealed(part)?;
    if let Some(pair) =
        chunks.windows(2).find(|pair| pair[0].table == pair[1].table && pair[0].range.last >= pair[1].range.first)
    {
        return refuse(part, format!("chunks {} and {} of one table overlap", pair[0].range, pair[1].range));
    }
    if standing.done_to == Some(part.done_to) {
        return Ok(Verdict::AppliedIfKnown);
    }
    if standing.done_to != part.from {
        return Err(StoreError::Moved { dataset: part.dataset, at: standing.done_to, from: part.from });
    }
    if let Some(fault) = &standing.fault {
        return Err(StoreError::Quarantined { dataset: part.dataset, fault: fault.to_string() });
    }
    Ok(Verdict::Apply)
}

fn check_chunk(part: &DatasetCommit, new: &NewChunk, first: BlockNumber) -> Result<()> {
    let end = part.done_to.number;
    let range = new.range;
    if range.first < first || range.last > end || range.last < range.first {
        return refuse(part, format!("a chunk covers {range} and the window is {first}..={end}"));
    }
    match chunk::rows(&new.bytes) {
        Ok(rows) if rows == new.rows && rows > 0 => Ok(()),
        Ok(rows) => refuse(part, format!("a chunk that is said to hold {} rows holds {rows}", new.rows)),
        Err(bad) => refuse(part, bad.to_string()),
    }
}

/// Files of one table follow each other and end with the commit; only the first takes chunks along.
fn check_sealed(part: &DatasetCommit) -> Result<()> {
    for (place, file) in part.sealed.iter().enumerate() {
        let (segment, table) = (&file.segment, file.segment.table);
        let taken: u64 = file.sources.iter().map(|chunk| chunk.rows).sum();
        let before = part.sealed[..place].iter().rev().find(|other| other.segment.table == table);
        let follows = before.is_none_or(|it| it.sealed_to < segment.range.first && file.sources.is_empty());
        let rows = part.sealed.iter().filter(|it| it.segment.table == table).map(|it| it.segment.rows).sum::<u64>();
        let hot = part.chunks.iter().filter(|it| it.table == table).map(|it| it.rows).sum::<u64>();
        let whole = segment.rows > 0 && rows + hot >= taken && file.sources.iter().all(|it| it.table == table);
        let starts = file.sources.first().is_none_or(|chunk| chunk.range.first == segment.range.first);
        if !follows || !whole || !starts || segment.range.last > file.sealed_to || file.sealed_to > part.done_to.number
        {
            return refuse(part, format!("a file of blocks {}, cut at block {}", segment.range, file.sealed_to));
        }
    }
    Ok(())
}

fn refuse<T>(part: &DatasetCommit, why: String) -> Result<T> {
    Err(StoreError::Refused(format!("dataset {}: {why}", part.dataset)))
}

/// Whether what is new in a commit reaches above the final block that it leaves, so that its branch counts.
pub(crate) fn reaches_above<'a>(
    commit: &Commit,
    stored: Option<BlockRef>,
    appended: &[BlockRef],
    applied: impl IntoIterator<Item = &'a DatasetCommit>,
) -> bool {
    let final_block = commit.final_block.filter(|new| above(new.number, stored)).or(stored);
    let blocks = appended.iter().any(|block| above(block.number, final_block));
    blocks || applied.into_iter().any(|part| above(part.done_to.number, final_block))
}
