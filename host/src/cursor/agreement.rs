//! Whether the chain that the endpoints serve is still the one that the store stands on.

use super::CursorError;
use crate::chain::Source;
use crate::model::{BlockRef, ChainId};
use crate::store::CursorState;

/// A block that was final, and what the endpoints have in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    pub ours: BlockRef,
    pub theirs: BlockRef,
}

impl Contradiction {
    /// For `/ready` and the log: what happened, and the two ways on.
    pub fn reason(&self, chain: ChainId) -> String {
        let Contradiction { ours, theirs } = self;
        format!(
            "chain {chain}: block {} was final with hash {}, and the RPC endpoints now say {}. Either one of them lies: \
             remove it; or the chain really went back: run `nuthatch cursor rebuild {chain}`",
            ours.number, ours.hash, theirs.hash
        )
    }
}

/// What the endpoints say of a block that must not change.
pub(super) enum Agreement {
    Same,
    Contradicted(Contradiction),
    /// No endpoint shows a block at this height just now.
    Unseen,
}

/// Asks for one header.
pub(super) async fn agreement(source: &dyn Source, ours: BlockRef) -> Result<Agreement, CursorError> {
    Ok(match source.header(ours.number).await?.map(|header| header.block_ref()) {
        Some(theirs) if theirs == ours => Agreement::Same,
        Some(theirs) => Agreement::Contradicted(Contradiction { ours, theirs }),
        None => Agreement::Unseen,
    })
}

/// The final blocks that the store's rows rest on, ascending: the final one, and where datasets stand at or below it.
pub(super) fn footing(state: &CursorState) -> Vec<BlockRef> {
    let Some(final_block) = state.final_block else { return Vec::new() };
    let stands = state.datasets.iter().filter_map(|dataset| dataset.done_to);
    let mut blocks: Vec<BlockRef> =
        stands.filter(|done| done.number <= final_block.number).chain([final_block]).collect();
    blocks.sort_by_key(|block| (block.number, block.hash));
    blocks.dedup();
    blocks
}

/// The part of the footing, from below, that the endpoints agree with.
pub(super) async fn agreed(source: &dyn Source, footing: &[BlockRef]) -> Result<usize, CursorError> {
    for (place, block) in footing.iter().enumerate() {
        if !matches!(agreement(source, *block).await?, Agreement::Same) {
            return Ok(place);
        }
    }
    Ok(footing.len())
}

/// What the endpoints say of a window's surroundings while its logs were read does not match; it is read again.
pub(super) fn interrupted(chain: ChainId, reason: String) -> CursorError {
    CursorError::Interrupted { chain, reason }
}
