//! One look at the chain, and at most one window of each kind.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::adopt::{self, Adopted};
use super::agreement::{Agreement, Contradiction, agreed, agreement, footing};
use super::backfill::{Backfill, Next, known_block};
use super::lanes::{self, Chain, Position};
use super::reorg::{self, Fork};
use super::sealing::{Sealed, Sealing};
use super::status::{CursorStatus, DatasetProgress};
use super::stretch::Closed;
use super::tip::{self, Followed, tip_of};
use super::window::{Rows, Runner};
use super::{CursorError, Settings};
use crate::chain::Source;
use crate::model::{BlockNumber, BlockRef, DatasetId};
use crate::store::{Commit, CursorState, DatasetStatus, HotStore, SegmentMeta, StoreError, next_block};

/// What a turn did.
pub(super) enum Turn {
    /// Something moved; look again at once.
    Worked,
    /// A window of final blocks is on its way; it was waited for as long as a pause would take.
    Waiting,
    /// The head is followed, but windows of final blocks do not come: why.
    Limping(String),
    /// All is done as far as the head goes.
    Idle,
    /// The cursor is halted.
    Halted,
}

/// What came of the catch-up lane.
enum Caught {
    Nothing,
    Commit,
    OnItsWay,
}

/// What one turn works with.
pub(super) struct Work<'a> {
    pub source: &'a dyn Source,
    pub store: &'a Arc<dyn HotStore>,
    pub settings: &'a Settings,
    pub runners: &'a [Runner],
    pub status: &'a watch::Sender<CursorStatus>,
}

impl Work<'_> {
    /// May be dropped at any await: what was committed stays, what was not is fetched again.
    pub async fn turn(
        &self,
        adopted: &mut [Adopted],
        backfill: &mut Backfill,
        sealing: &mut Sealing,
    ) -> Result<Turn, CursorError> {
        let mut state = self.state(adopted).await?;
        if state.halted.is_some() {
            backfill.clear();
            sealing.clear();
            if !self.may_go_on(&state).await? {
                return Ok(Turn::Halted);
            }
            state = self.state(adopted).await?;
        }
        let head = self.source.head().await?;
        let head_time = (!self.source.finished()).then_some(head.timestamp);
        self.status.send_modify(|status| (status.head, status.head_time) = (Some(head.number), head_time));

        let mut worked = self.advance_final(&mut state).await?;
        let before = tip_of(&state);
        self.follow(&mut state, head.block_ref()).await?;
        worked |= tip_of(&state) != before;
        // A halt in any of these is an end to the others.
        if state.halted.is_none() {
            worked |= self.join(&mut state).await?;
        }
        let mut waiting = false;
        if state.halted.is_none() {
            match self.catch_up(&mut state, backfill).await {
                Ok(Caught::Nothing) => {}
                Ok(Caught::Commit) => worked = true,
                Ok(Caught::OnItsWay) => waiting = true,
                // The tip lane goes on at its own pace.
                Err(error) if error.is_passing() => backfill.rest(&error, self.settings.longest_wait),
                Err(error) => return Err(error),
            }
        }
        if state.halted.is_none() {
            let patience = if worked || waiting { Duration::ZERO } else { self.source.poll() };
            match sealing.step(self.store, backfill.datasets(), patience, self.settings.longest_wait).await? {
                Sealed::Nothing => {}
                Sealed::Segment(segment) => {
                    self.count_segment(&segment);
                    worked = true;
                }
                Sealed::OnItsWay => waiting = true,
            }
        }
        let settled = self.state(adopted).await?;
        if settled.halted.is_some() {
            backfill.clear();
            sealing.clear();
            return Ok(Turn::Halted);
        }
        adopt::switch_ready(&**self.store, &settled, adopted).await?;
        // What is being cut names its chunks, so these are merged before or after.
        if !worked && !sealing.is_busy() && backfill.datasets().is_empty() {
            self.tidy().await?;
        }
        self.tell_unsealed(backfill.unsealed().or(sealing.trouble()));
        if let Some(trouble) = backfill.trouble() {
            return Ok(Turn::Limping(trouble.to_owned()));
        }
        Ok(match (worked, waiting) {
            (true, _) => Turn::Worked,
            (false, true) => Turn::Waiting,
            (false, false) => Turn::Idle,
        })
    }

    /// The store's state, told to whoever watches.
    pub async fn state(&self, adopted: &[Adopted]) -> Result<CursorState, CursorError> {
        let state = self.store.read().await?.state().await?;
        if state.fence != self.store.fence() {
            self.store.check_owner().await?;
        }
        self.status.send_modify(|status| {
            status.final_block = state.final_block;
            status.halted.clone_from(&state.halted);
            status.tip = tip_of(&state);
            status.datasets = self.progress(&state, adopted);
        });
        Ok(state)
    }

    async fn reread(&self, state: &mut CursorState) -> Result<(), CursorError> {
        *state = self.store.read().await?.state().await?;
        Ok(())
    }

    fn progress(&self, state: &CursorState, adopted: &[Adopted]) -> Vec<DatasetProgress> {
        let own = state.datasets.iter().filter(|dataset| self.runs(dataset.id));
        own.map(|dataset| DatasetProgress {
            nests: adopt::nests_of(adopted, dataset.id),
            ..DatasetProgress::of(dataset)
        })
        .collect()
    }

    fn runs(&self, dataset: DatasetId) -> bool {
        self.runners.iter().any(|runner| runner.dataset == dataset)
    }

    fn positions(&self, state: &CursorState) -> Vec<Position> {
        let active = state.datasets.iter().filter(|dataset| dataset.status == DatasetStatus::Active);
        active
            .filter(|dataset| self.runs(dataset.id))
            .map(|dataset| Position { dataset: dataset.id, next: next_block(dataset) })
            .collect()
    }

    fn chain(state: &CursorState) -> Option<Chain> {
        let final_block = state.final_block?.number;
        Some(Chain { final_block, tip: tip_of(state)?.number })
    }

    /// Raises the final block as far as the chain has, if the cursor stands on it.
    async fn advance_final(&self, state: &mut CursorState) -> Result<bool, CursorError> {
        let found = self.source.finalized().await?;
        let final_block = match (found, state.final_block) {
            (Some(found), Some(stored)) if found.number <= stored.number => return Ok(false),
            (Some(found), _) => found,
            (None, Some(_)) => return Ok(false),
            // Nothing is final yet: the first block of all is as good as final.
            (None, None) => known_block(self.source, BlockNumber(0)).await?,
        };
        if let (Some(tip), Some(_)) = (tip_of(state), state.final_block) {
            let ours = match state.blocks.iter().find(|block| block.number == final_block.number) {
                Some(block) => block.hash == final_block.hash,
                None => known_block(self.source, tip.number).await?.hash == tip.hash,
            };
            if !ours {
                // The branch changes first; the final block follows on the new one.
                return Ok(false);
            }
        }
        self.store.commit(Commit { final_block: Some(final_block), ..Commit::default() }).await?;
        self.reread(state).await?;
        Ok(true)
    }

    /// Goes on to the head by one window, or changes branch.
    async fn follow(&self, state: &mut CursorState, head: BlockRef) -> Result<(), CursorError> {
        let (Some(tip), Some(chain)) = (tip_of(state), Self::chain(state)) else { return Ok(()) };
        if head == tip {
            return Ok(());
        }
        if head.number < tip.number {
            return self.wait_out(state, head).await;
        }
        if head.number == tip.number {
            return self.change_branch(state).await;
        }
        let last = BlockNumber(tip.number.0.saturating_add(self.settings.tip_blocks)).min(head.number);
        match tip::follow(self.source, state, chain, &self.positions(state), self.runners, last).await? {
            Followed::Piece(piece) => {
                self.store.commit(piece.commit).await?;
                self.count(&piece.rows).await?;
                self.reread(state).await
            }
            Followed::NotLinked => self.change_branch(state).await,
        }
    }

    /// A lower head is a node that lags, unless it shows another final block.
    async fn wait_out(&self, state: &mut CursorState, head: BlockRef) -> Result<(), CursorError> {
        let Some(final_block) = state.final_block.filter(|block| block.number <= head.number) else { return Ok(()) };
        match agreement(self.source, final_block).await? {
            Agreement::Contradicted(contradiction) => self.halt(state, contradiction).await,
            Agreement::Same | Agreement::Unseen => Ok(()),
        }
    }

    async fn change_branch(&self, state: &mut CursorState) -> Result<(), CursorError> {
        let Some(tip) = tip_of(state) else { return Ok(()) };
        match reorg::find_fork(self.source, state).await? {
            Fork::None | Fork::Unknown => Ok(()),
            Fork::BelowFinal(contradiction) => self.halt(state, contradiction).await,
            Fork::At(ancestor) => {
                let pieces = self.settings.tip_blocks;
                let (rollback, rows) =
                    reorg::replacement(self.source, state, self.runners, ancestor, tip.number, pieces).await?;
                let depth = tip.number.0 - ancestor.number.0;
                self.store.rollback(rollback).await?;
                tracing::info!(chain = state.chain_id.0, "reorg of depth {depth}: went back to block {ancestor}");
                metrics::counter!("nuthatch_reorgs_total", "chain" => state.chain_id.to_string()).increment(1);
                self.status.send_modify(|status| status.reorgs += 1);
                self.count(&rows).await?;
                self.reread(state).await
            }
        }
    }

    /// Stops the cursor until an operator acts or the endpoints agree again. What is there is served.
    async fn halt(&self, state: &mut CursorState, contradiction: Contradiction) -> Result<(), CursorError> {
        let reason = contradiction.reason(state.chain_id);
        tracing::error!("{reason}");
        self.store.set_halted(Some(reason)).await?;
        self.reread(state).await
    }

    /// Whether the endpoints agree again with all that the rows rest on; the halt ends then.
    async fn may_go_on(&self, state: &CursorState) -> Result<bool, CursorError> {
        let footing = footing(state);
        if footing.is_empty() || agreed(self.source, &footing).await? < footing.len() {
            return Ok(false);
        }
        tracing::info!(chain = state.chain_id.0, "the endpoints agree with the final block again; going on");
        self.store.set_halted(None).await?;
        Ok(true)
    }

    /// One window between final block and tip.
    async fn join(&self, state: &mut CursorState) -> Result<bool, CursorError> {
        let Some(chain) = Self::chain(state) else { return Ok(false) };
        let Some(lane) = lanes::join(chain, &self.positions(state), self.settings.tip_blocks) else { return Ok(false) };
        let Some(piece) = tip::join(self.source, state, &lane, self.runners).await? else { return Ok(false) };
        self.store.commit(piece.commit).await?;
        self.count(&piece.rows).await?;
        self.reread(state).await?;
        Ok(true)
    }

    /// One commit of final blocks, if it comes before the head is due to be looked at again.
    async fn catch_up(&self, state: &mut CursorState, backfill: &mut Backfill) -> Result<Caught, CursorError> {
        let (Some(chain), Some(final_block)) = (Self::chain(state), state.final_block) else {
            return Ok(Caught::Nothing);
        };
        let positions = self.positions(state);
        let next = backfill.next(final_block, chain, &positions, self.runners);
        let closed = match tokio::time::timeout(self.source.poll(), next).await {
            Err(_) => return Ok(Caught::OnItsWay),
            Ok(next) => match next? {
                Next::Nothing => return Ok(Caught::Nothing),
                Next::Stretch(closed) => closed,
                Next::Parted(contradiction) => {
                    self.halt(state, contradiction).await?;
                    return Ok(Caught::Nothing);
                }
            },
        };
        if let Some(contradiction) = unlinked(state, &closed) {
            self.halt(state, contradiction).await?;
            return Ok(Caught::Nothing);
        }
        let (commit, rows) = closed.commit(state);
        let segments: Vec<SegmentMeta> =
            commit.datasets.iter().flat_map(|it| &it.sealed).map(|file| file.segment.clone()).collect();
        self.store.commit(commit).await?;
        segments.iter().for_each(|segment| self.count_segment(segment));
        self.count(&rows).await?;
        backfill.recovered();
        self.reread(state).await?;
        Ok(Caught::Commit)
    }

    /// Counts what a commit brought, and stops the datasets whose nest failed in it.
    async fn count(&self, rows: &[Rows]) -> Result<(), CursorError> {
        for part in rows {
            self.status.send_modify(|status| {
                status.logs += part.logs;
                status.rows += part.rows;
            });
            let Some(runner) = self.runners.iter().find(|runner| runner.dataset == part.dataset) else { continue };
            let nest = runner.nest.name.to_string();
            metrics::counter!("nuthatch_committed_logs_total", "nest" => nest.clone()).increment(part.logs);
            metrics::counter!("nuthatch_committed_rows_total", "nest" => nest.clone()).increment(part.rows);
            if let Some(fault) = &part.fault {
                tracing::error!(nest, "quarantined: {fault}; `nuthatch nest retry {nest}` tries again");
                self.store.quarantine(part.dataset, fault.clone()).await?;
            }
        }
        Ok(())
    }

    /// Rows that stay hot for want of a place are answered like others, so this is no stall.
    fn tell_unsealed(&self, trouble: Option<&str>) {
        let chain = self.source.chain_id().0;
        self.status.send_if_modified(|status| {
            if status.unsealed.as_deref() == trouble {
                return false;
            }
            match trouble {
                Some(trouble) => tracing::warn!(chain, "{trouble}; rows stay hot, trying again"),
                None => tracing::info!(chain, "sealing goes on"),
            }
            status.unsealed = trouble.map(str::to_owned);
            true
        });
    }

    fn count_segment(&self, sealed: &SegmentMeta) {
        tracing::debug!(key = sealed.key, rows = sealed.rows, bytes = sealed.bytes, "sealed blocks {}", sealed.range);
        let chain = self.source.chain_id().to_string();
        metrics::counter!("nuthatch_segments_sealed_total", "chain" => chain.clone()).increment(1);
        metrics::counter!("nuthatch_segment_rows_total", "chain" => chain.clone()).increment(sealed.rows);
        metrics::counter!("nuthatch_segment_bytes_total", "chain" => chain).increment(sealed.bytes);
    }

    /// House-keeping for quiet moments.
    async fn tidy(&self) -> Result<(), CursorError> {
        loop {
            match self.store.merge().await {
                Ok(0) => break,
                Ok(_) => {}
                Err(StoreError::DiskFull { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.store.sweep().await?;
        Ok(())
    }
}

/// Where a dataset stands on another block than the one that the stretch follows.
fn unlinked(state: &CursorState, closed: &Closed) -> Option<Contradiction> {
    let theirs = closed.parent?;
    let moving = state.datasets.iter().filter(|dataset| closed.lane.datasets.contains(&dataset.id));
    let stands = moving.filter_map(|dataset| dataset.done_to);
    let ours = stands.filter(|done| done.number == theirs.number).find(|done| *done != theirs)?;
    Some(Contradiction { ours, theirs })
}
