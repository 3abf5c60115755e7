//! Which final chunks of a table become one.

use std::ops::Range;

use crate::store::MERGED_ROWS;

/// Small chunks at a table's end are left alone until there are this many, so that a tip that adds one every block
/// does not rewrite the last chunk every block.
const TAIL: usize = 24;

/// The runs of neighbours to merge, given the rows of a table's final chunks in block order. Depends on the sizes
/// alone, and what it leaves is left for good: planning again after a merge plans nothing.
///
/// Runs are packed from the first block on, each as full as it gets. One that the next chunk no longer fits into is
/// done and becomes one chunk. The last, still growing one is merged like a binary counter: from the first chunk that
/// is no bigger than all that follow it, so a row is copied a few times at most before its chunk is full.
pub(crate) fn plan_merges(rows: &[u64]) -> Vec<Range<usize>> {
    let mut plan = Vec::new();
    let mut start = 0;
    let mut sum = 0u64;
    for (place, &count) in rows.iter().enumerate() {
        if place > start && sum.saturating_add(count) > MERGED_ROWS {
            if place - start > 1 {
                plan.push(start..place);
            }
            start = place;
            sum = 0;
        }
        sum = sum.saturating_add(count);
    }
    if rows.len() - start >= TAIL {
        let mut left = sum;
        for (place, &count) in rows.iter().enumerate().skip(start) {
            left -= count;
            if count <= left {
                plan.push(place..rows.len());
                break;
            }
        }
    }
    plan
}
