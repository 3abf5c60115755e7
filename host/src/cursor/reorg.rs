//! Leaving a branch: find where the chains part, fetch the new side, then swap in one transaction.

use super::CursorError;
use super::agreement::{Agreement, Contradiction, agreement};
use super::tip::{decode, filters_of, tip_of};
use super::window::{Rows, Runner};
use crate::chain::{Source, Tip, TipWindow, common_ancestor};
use crate::model::{BlockNumber, BlockRange, BlockRef, Header};
use crate::store::{CursorState, DatasetState, DatasetStatus, Rollback};

/// What the chain says of the blocks that the cursor stands on.
pub(super) enum Fork {
    /// They are still the chain's.
    None,
    /// The last block that both have.
    At(BlockRef),
    /// The final block itself is not the chain's any more.
    BelowFinal(Contradiction),
    /// The chain does not show the blocks that would tell; ask again.
    Unknown,
}

/// Looks for the last block that both have.
pub(super) async fn find_fork(source: &dyn Source, state: &CursorState) -> Result<Fork, CursorError> {
    let (Some(tip), Some(final_block)) = (tip_of(state), state.final_block) else { return Ok(Fork::None) };
    let ours: Vec<BlockRef> = std::iter::once(final_block).chain(state.blocks.iter().copied()).collect();
    match common_ancestor(source, &ours).await? {
        Some(block) if block == tip => Ok(Fork::None),
        // A source whose head fell in between shows no other block there: that is no fork.
        Some(block) => match source.header(block.number.next()).await? {
            Some(_) => Ok(Fork::At(block)),
            None => Ok(Fork::Unknown),
        },
        None => Ok(match agreement(source, final_block).await? {
            Agreement::Contradicted(contradiction) => Fork::BelowFinal(contradiction),
            Agreement::Same | Agreement::Unseen => Fork::Unknown,
        }),
    }
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
