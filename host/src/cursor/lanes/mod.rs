//! Which window comes next: a pure decision over where the chain and the datasets stand.
//!
//! A dataset at the cursor's tip rides the *tip lane*. One that lacks final blocks rides a *catch-up lane*; lanes
//! that meet run on as one. What lies between the final block and the tip is the *join*: fetched by the tip loop
//! itself, so that the head cannot run away from it.

use crate::model::{BlockNumber, BlockRange, DatasetId};

/// Where one active dataset stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Dataset.
    pub dataset: DatasetId,
    /// The first block whose rows are not in.
    pub next: BlockNumber,
}

/// Where the chain stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The final block.
    pub final_block: BlockNumber,
    /// The last block that the cursor stands on; not below the final one.
    pub tip: BlockNumber,
}

/// One window of work for a set of datasets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Datasets that move, all from `range.first`.
    pub datasets: Vec<DatasetId>,
    /// Blocks of the window.
    pub range: BlockRange,
}

/// The lowest catch-up lane: final blocks only, at most `size` of them, never past the place where another dataset
/// stands, so that the two go on together from there.
pub fn catch_up(chain: Chain, positions: &[Position], size: u64) -> Option<Lane> {
    let first = positions.iter().map(|position| position.next).min().filter(|next| *next <= chain.final_block)?;
    let meeting = positions.iter().map(|position| position.next).filter(|next| *next > first).min();
    let mut last = BlockNumber(first.0.saturating_add(size.max(1) - 1)).min(chain.final_block);
    if let Some(before) = meeting.and_then(BlockNumber::prev) {
        last = last.min(before);
    }
    lane(positions, first, last)
}

/// The lowest dataset that stands between final block and tip, up to the tip, at most `size` blocks.
pub fn join(chain: Chain, positions: &[Position], size: u64) -> Option<Lane> {
    let between = |next: BlockNumber| next > chain.final_block && next <= chain.tip;
    let first = positions.iter().map(|position| position.next).filter(|next| between(*next)).min()?;
    let last = BlockNumber(first.0.saturating_add(size.max(1) - 1)).min(chain.tip);
    lane(positions, first, last)
}

/// Datasets that take part in a window of new blocks: those at the tip, and those whose first block lies in it.
pub fn at_tip(chain: Chain, positions: &[Position], last: BlockNumber) -> Vec<DatasetId> {
    positions
        .iter()
        .filter(|position| position.next > chain.tip && position.next <= last)
        .map(|position| position.dataset)
        .collect()
}

fn lane(positions: &[Position], first: BlockNumber, last: BlockNumber) -> Option<Lane> {
    let datasets = positions.iter().filter(|position| position.next == first).map(|position| position.dataset);
    Some(Lane { datasets: datasets.collect(), range: BlockRange::new(first, last)? })
}

#[cfg(test)]
mod tests;
