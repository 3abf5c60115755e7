//! The tip lane: new blocks, one branch at a time.

use super::window::{Rows, Runner};
use super::{CursorError, lanes};
use crate::chain::{LogFilters, Source, Tip, TipWindow};
use crate::model::{BlockNumber, BlockRange, BlockRef};
use crate::store::{Commit, CursorState, DatasetCommit, DatasetState};

use super::lanes::{Chain, Position};

/// Blocks of one branch with every dataset's rows, ready to commit.
pub(super) struct Piece {
    pub commit: Commit,
    pub rows: Vec<Rows>,
}

/// The block that the cursor stands on.
pub(super) fn tip_of(state: &CursorState) -> Option<BlockRef> {
    state.blocks.last().copied().or(state.final_block)
}

/// The union of what these runners want.
pub(super) fn filters_of<'a>(runners: impl IntoIterator<Item = &'a Runner>) -> LogFilters {
    LogFilters::union(runners.into_iter().map(|runner| runner.filters.as_ref()))
}

/// What following the head found.
pub(super) enum Followed {
    /// Blocks on top of the tip.
    Piece(Piece),
    /// The tip is not the chain's any more, or an endpoint is on another fork.
    NotLinked,
}

/// Fetches and decodes the blocks after the tip, up to `last`.
pub(super) async fn follow(
    source: &dyn Source,
    state: &CursorState,
    chain: Chain,
    positions: &[Position],
    runners: &[Runner],
    last: BlockNumber,
) -> Result<Followed, CursorError> {
    let Some(tip) = tip_of(state) else { return Ok(Followed::NotLinked) };
    let Some(range) = BlockRange::new(tip.number.next(), last) else { return Ok(Followed::NotLinked) };
    let moving = lanes::at_tip(chain, positions, last);
    let runners: Vec<&Runner> = runners.iter().filter(|runner| moving.contains(&runner.dataset)).collect();
    let window = match source.tip_window(&filters_of(runners.iter().copied()), tip, last).await? {
        Tip::Window(window) => window,
        Tip::NotLinked(_) => return Ok(Followed::NotLinked),
    };
    let starts = |dataset: &DatasetState| dataset.done_to;
    decode(window, range, state, &runners, starts).await.map(Followed::Piece)
}

/// Turns a window into a commit. `from` says where each dataset stands when the commit is applied.
pub(super) async fn decode(
    window: TipWindow,
    range: BlockRange,
    state: &CursorState,
    runners: &[&Runner],
    from: impl Fn(&DatasetState) -> Option<BlockRef>,
) -> Result<Piece, CursorError> {
    let blocks: Vec<BlockRef> = window.headers.iter().map(|header| header.block_ref()).collect();
    if blocks.is_empty() {
        let reason = format!("blocks {range} came back empty");
        return Err(CursorError::Interrupted { chain: state.chain_id, reason });
    }
    let mut rows = Vec::new();
    let mut datasets = Vec::new();
    for runner in runners {
        let Some(dataset) = state.datasets.iter().find(|dataset| dataset.id == runner.dataset) else { continue };
        // A dataset whose first block lies in the window begins there.
        let first = match from(dataset) {
            Some(done) => done.number.next(),
            None => dataset.key.first_block,
        };
        let Some(own) = BlockRange::new(first.max(range.first), range.last) else { continue };
        let decoded = runner.decode(&window.logs, own).await?;
        if let Some(done_to) = decoded.last.and_then(|last| blocks.iter().find(|block| block.number == last)) {
            datasets.push(DatasetCommit {
                dataset: runner.dataset,
                from: from(dataset),
                done_to: *done_to,
                chunks: decoded.chunks().await?,
                sealed: Vec::new(),
            });
        }
        rows.push(decoded);
    }
    Ok(Piece { commit: Commit { branch: Some(state.branch), blocks, final_block: None, datasets }, rows })
}

/// Fetches what one lane lacks between final block and tip, checked against the blocks that the cursor stands on.
/// None when the chain has left them: the next look at the head settles that.
pub(super) async fn join(
    source: &dyn Source,
    state: &CursorState,
    lane: &lanes::Lane,
    runners: &[Runner],
) -> Result<Option<Piece>, CursorError> {
    let known = |number: BlockNumber| {
        let above = state.blocks.iter().find(|block| block.number == number);
        above.copied().or(state.final_block.filter(|block| block.number == number))
    };
    let Some(parent) = lane.range.first.prev().and_then(known) else { return Ok(None) };
    let runners: Vec<&Runner> = runners.iter().filter(|runner| lane.datasets.contains(&runner.dataset)).collect();
    let window = match source.tip_window(&filters_of(runners.iter().copied()), parent, lane.range.last).await? {
        Tip::Window(window) => window,
        Tip::NotLinked(_) => return Ok(None),
    };
    if window.headers.iter().any(|header| known(header.number) != Some(header.block_ref())) {
        return Ok(None);
    }
    let mut piece = decode(window, lane.range, state, &runners, |dataset| dataset.done_to).await?;
    piece.commit.blocks.clear();
    Ok(Some(piece))
}
