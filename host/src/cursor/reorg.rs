//! Leaving a branch: find where the chains part, fetch the new side, then swap in one transaction.

use super::CursorError;
use super::tip::{decode, filters_of, tip_of};
use super::window::{Rows, Runner};
use crate::chain::{Source, Tip, TipWindow};
use crate::model::{BlockNumber, BlockRange, BlockRef, Header};
use crate::store::{CursorState, DatasetState, DatasetStatus, Rollback};

/// What the chain says of the blocks that the cursor stands on.
pub(super) enum Fork {
    /// They are still the chain's.
    None,
    /// The last block that both have.
    At(BlockRef),
    /// The final block itself is not the chain's any more.
    BelowFinal {
        /// Ours.
        ours: BlockRef,
        /// The chain's.
        theirs: BlockRef,
    },
    /// The chain does not show the blocks that would tell; ask again.
    Unknown,
}

/// Headers asked for at a time on the way down.
const STEP: u64 = 32;

/// Walks down from the tip to the last block that the chain still has.
pub(super) async fn find_fork(source: &dyn Source, state: &CursorState) -> Result<Fork, CursorError> {
    let (Some(tip), Some(final_block)) = (tip_of(state), state.final_block) else { return Ok(Fork::None) };
    let ours: Vec<BlockRef> = std::iter::once(final_block).chain(state.blocks.iter().copied()).collect();
    let mut end = ours.len();
    while end > 0 {
        let start = end.saturating_sub(STEP as usize);
        let part = &ours[start..end];
        let Some(range) = BlockRange::new(part[0].number, part[part.len() - 1].number) else { break };
        let theirs = source.headers(range).await?;
        if theirs.len() as u64 != range.blocks() {
            return Ok(Fork::Unknown);
        }
        for (block, header) in part.iter().zip(&theirs).rev() {
            if header.hash == block.hash {
                return Ok(if *block == tip { Fork::None } else { Fork::At(*block) });
            }
            if *block == final_block {
                return Ok(Fork::BelowFinal { ours: *block, theirs: header.block_ref() });
            }
        }
        end = start;
    }
    Ok(Fork::Unknown)
}

/// Fetches the new branch from `ancestor` to the height that the cursor had, at least, and decodes it for every
/// dataset that reaches above the ancestor.
pub(super) async fn replacement(
    source: &dyn Source,
    state: &CursorState,
    runners: &[Runner],
    ancestor: BlockRef,
    tip: BlockNumber,
    piece_blocks: u64,
) -> Result<(Rollback, Vec<Rows>), CursorError> {
    let cut: Vec<&DatasetState> = state
        .datasets
        .iter()
        .filter(|dataset| dataset.status == DatasetStatus::Active)
        .filter(|dataset| dataset.done_to.is_some_and(|done| done.number >= ancestor.number))
        .collect();
    let runners: Vec<&Runner> =
        runners.iter().filter(|runner| cut.iter().any(|dataset| dataset.id == runner.dataset)).collect();
    let filters = filters_of(runners.iter().copied());

    let mut headers: Vec<Header> = Vec::new();
    let mut logs = None;
    let mut parent = ancestor;
    while parent.number < tip {
        let last = BlockNumber(parent.number.0.saturating_add(piece_blocks)).min(tip);
        let Tip::Window(window) = source.tip_window(&filters, parent, last).await? else {
            let reason = format!("the new branch changed again above block {}", parent.number);
            return Err(CursorError::Interrupted { chain: state.chain_id, reason });
        };
        let Some(end) = window.headers.last() else { break };
        parent = end.block_ref();
        headers.extend(window.headers);
        match &mut logs {
            None => logs = Some(window.logs),
            Some(all) => all.append(&window.logs),
        }
    }
    let (Some(range), Some(logs)) = (BlockRange::new(ancestor.number.next(), parent.number), logs) else {
        let reason = format!("the new branch shows no block above {ancestor}");
        return Err(CursorError::Interrupted { chain: state.chain_id, reason });
    };
    let window = TipWindow { headers, logs };
    let from = |dataset: &DatasetState| match dataset.done_to {
        Some(done) if done.number > ancestor.number => {
            // A dataset that began above the ancestor begins again.
            (dataset.key.first_block <= ancestor.number).then_some(ancestor)
        }
        other => other,
    };
    let piece = decode(window, range, state, &runners, from).await?;
    Ok((Rollback { ancestor, replacement: piece.commit }, piece.rows))
}
