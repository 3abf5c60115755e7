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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TAIL, plan_merges};
    use crate::store::MERGED_ROWS;

    /// Does what is planned; returns how many rows were copied.
    fn merge(rows: &mut Vec<u64>) -> u64 {
        let mut copied = 0;
        for run in plan_merges(rows).into_iter().rev() {
            let sum = rows[run.clone()].iter().sum();
            copied += sum;
            rows.splice(run, [sum]);
        }
        copied
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn merging_settles_with_few_chunks(mut rows in prop::collection::vec(1u64..9_000, 0..200)) {
            let total: u64 = rows.iter().sum();
            let largest = rows.iter().copied().max().unwrap_or(0);
            merge(&mut rows);
            prop_assert_eq!(rows.iter().sum::<u64>(), total);
            prop_assert!(rows.iter().all(|&count| count <= MERGED_ROWS.max(largest)));
            prop_assert!(plan_merges(&rows).is_empty());
            // Any two neighbours before the growing end are more than one full chunk.
            let bound = 2 * (total / MERGED_ROWS) as usize + 1 + TAIL;
            prop_assert!(rows.len() <= bound, "{} chunks of {total} rows", rows.len());
        }
    }

    #[test]
    fn a_tip_copies_each_row_a_few_times() {
        for per_block in [1, 4, 60, 1_000, 5_000] {
            let (mut rows, mut copied, mut most) = (Vec::new(), 0, 0);
            for _ in 0..20_000 {
                rows.push(per_block);
                copied += merge(&mut rows);
                let full = rows.iter().filter(|&&count| count > MERGED_ROWS / 2).count();
                most = most.max(rows.len() - full);
            }
            let times = copied as f64 / (20_000 * per_block) as f64;
            assert!(times < 8.0, "{per_block} a block: every row is copied {times} times");
            assert!(most <= TAIL, "{per_block} a block: {most} small chunks");
        }
    }
}
