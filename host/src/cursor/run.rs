//! The loop itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::adopt::{self, Adopted};
use super::backfill::{Backfill, known_block};
use super::command::{Command, CursorHandle, Reply, Request};
use super::lanes::{self, Chain, Position};
use super::reorg::{self, Fork};
use super::status::{CursorStatus, DatasetProgress, Phase};
use super::tip::{self, Followed, tip_of};
use super::window::{Rows, Runner};
use super::{CursorError, Nest};
use crate::chain::Source;
use crate::model::{BlockNumber, BlockRef, DatasetId};
use crate::store::{Commit, CursorState, DatasetStatus, HotStore, StoreError, next_block};

/// How a cursor works; the defaults suit a laptop.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Pause between two looks at a head that has not moved.
    pub poll: Duration,
    /// Blocks that one commit at the tip takes at most.
    pub tip_blocks: u64,
    /// Windows of final blocks fetched at a time.
    pub ahead: usize,
    /// Logs that a window of final blocks should hold.
    pub window_logs: u64,
    /// Longest pause after trouble.
    pub longest_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            poll: Duration::from_millis(1_000),
            tip_blocks: 64,
            ahead: 3,
            window_logs: 20_000,
            longest_wait: Duration::from_secs(15),
        }
    }
}

/// When a cursor ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never: it follows the head until it is stopped.
    Stopped,
    /// When every dataset has all blocks and the source, a recorded chain, has no more to give.
    Exhausted,
    /// When every dataset has all blocks up to the head, wherever that is by then.
    AtHead,
}

/// The single writer of one chain.
pub struct Cursor {
    source: Arc<dyn Source>,
    store: Arc<dyn HotStore>,
    settings: Settings,
    adopted: Vec<Adopted>,
    runners: Vec<Runner>,
    backfill: Backfill,
    requests: mpsc::Receiver<Request>,
    status: watch::Sender<CursorStatus>,
}

/// What a turn did.
enum Turn {
    /// Something moved; look again at once.
    Worked,
    /// All is done as far as the head goes.
    Idle,
    /// The cursor is halted.
    Halted,
}

impl Cursor {
    /// Brings nests to a store. Reads the head once; the rest happens in [`Cursor::run`].
    pub async fn start(
        source: Arc<dyn Source>,
        store: Arc<dyn HotStore>,
        nests: Vec<Arc<Nest>>,
        settings: Settings,
    ) -> Result<(Self, CursorHandle, watch::Receiver<CursorStatus>), CursorError> {
        let head = source.head().await?;
        let state = store.read().await?.state().await?;
        let mut adopted = adopt::adopt(&*store, &state, &nests, head.number).await?;
        let state = store.read().await?.state().await?;
        adopt::switch_ready(&*store, &state, &mut adopted).await?;
        let (handle, requests) = CursorHandle::new();
        let (status, watcher) = watch::channel(CursorStatus::new(source.chain_id()));
        let backfill = Backfill::new(source.clone(), settings.ahead, settings.window_logs);
        let runners = adopt::runners(&adopted)?;
        let cursor = Cursor { source, store, settings, adopted, runners, backfill, requests, status };
        Ok((cursor, handle, watcher))
    }

    /// Indexes until stopped, or until the source is exhausted. Trouble with the chain or a full disk is waited out;
    /// what cannot pass by itself is returned.
    pub async fn run(mut self, until: Until, stop: CancellationToken) -> Result<(), CursorError> {
        let mut failures = 0u32;
        let outcome = loop {
            let pause = tokio::select! {
                biased;
                () = stop.cancelled() => break Ok(()),
                Some((command, answer)) = self.requests.recv() => {
                    let reply = self.obey(command).await.unwrap_or_else(|error| Reply::Refused(error.to_string()));
                    let _ = answer.send(reply);
                    continue;
                }
                turn = Self::turn(&self.source, &self.store, &self.settings, &mut self.adopted, &self.runners,
                    &mut self.backfill, &self.status) => match turn
                {
                    Ok(done) => {
                        failures = 0;
                        self.good(&done);
                        match done {
                            Turn::Worked => continue,
                            Turn::Idle if until == Until::Exhausted && self.source.finished() => break Ok(()),
                            Turn::Idle if until == Until::AtHead => break Ok(()),
                            Turn::Idle | Turn::Halted => self.settings.poll,
                        }
                    }
                    Err(error) if error.is_passing() => {
                        failures += 1;
                        self.trouble(&error);
                        let wait = Duration::from_millis(200) * 2u32.saturating_pow(failures.min(10));
                        wait.min(self.settings.longest_wait)
                    }
                    Err(error) => break Err(error),
                },
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => break Ok(()),
                Some((command, answer)) = self.requests.recv() => {
                    let reply = self.obey(command).await.unwrap_or_else(|error| Reply::Refused(error.to_string()));
                    let _ = answer.send(reply);
                }
                () = tokio::time::sleep(pause) => {}
            }
        };
        self.status.send_modify(|status| status.phase = Phase::Stopped);
        outcome
    }

    /// One look at the chain, and at most one window of each kind. May be dropped at any await: what was committed
    /// stays, what was not is fetched again.
    async fn turn(
        source: &Arc<dyn Source>,
        store: &Arc<dyn HotStore>,
        settings: &Settings,
        adopted: &mut [Adopted],
        runners: &[Runner],
        backfill: &mut Backfill,
        status: &watch::Sender<CursorStatus>,
    ) -> Result<Turn, CursorError> {
        let work = Work { source: &**source, store: &**store, settings, runners, status };
        let mut state = work.state(adopted).await?;
        if state.halted.is_some() && !work.still_halted(&state).await? {
            state = work.state(adopted).await?;
        }
        if state.halted.is_some() {
            return Ok(Turn::Halted);
        }
        let head = work.source.head().await?;
        let head_time = (!work.source.finished()).then_some(head.timestamp);
        status.send_modify(|status| (status.head, status.head_time) = (Some(head.number), head_time));

        let mut worked = work.advance_final(&mut state).await?;
        let before = tip_of(&state);
        work.follow(&mut state, head.block_ref()).await?;
        worked |= tip_of(&state) != before;
        worked |= work.join(&mut state).await?;
        worked |= work.catch_up(&mut state, backfill).await?;

        let settled = work.state(adopted).await?;
        adopt::switch_ready(work.store, &settled, adopted).await?;
        if !worked {
            work.tidy().await?;
        }
        Ok(match (settled.halted, worked) {
            (Some(_), _) => Turn::Halted,
            (None, true) => Turn::Worked,
            (None, false) => Turn::Idle,
        })
    }

    async fn obey(&mut self, command: Command) -> Result<Reply, CursorError> {
        let state = self.store.read().await?.state().await?;
        Ok(match command {
            Command::Datasets => Reply::Datasets(state.datasets),
            Command::Retry(name) => match self.adopted.iter().find(|nest| nest.nest.name == name) {
                None => Reply::Refused(format!("no nest '{name}' runs here")),
                Some(nest) => {
                    let quarantined = state.datasets.iter().any(|dataset| {
                        dataset.id == nest.dataset && matches!(dataset.status, DatasetStatus::Quarantined(_))
                    });
                    if quarantined {
                        self.store.retry(nest.dataset).await?;
                        Reply::Done(format!("nest '{name}' tries again"))
                    } else {
                        Reply::Done(format!("nest '{name}' is not quarantined; nothing to do"))
                    }
                }
            },
            Command::Drop(dataset) => {
                if self.adopted.iter().any(|nest| nest.dataset == dataset) {
                    Reply::Refused(format!("dataset {dataset} belongs to a nest that runs here"))
                } else {
                    self.store.drop_dataset(dataset).await?;
                    Reply::Done(format!("dataset {dataset} is gone"))
                }
            }
            Command::Rebuild => {
                let done = rebuild(&*self.source, &*self.store).await?;
                let state = self.store.read().await?.state().await?;
                let head = self.source.head().await?;
                let nests: Vec<Arc<Nest>> = self.adopted.iter().map(|nest| nest.nest.clone()).collect();
                self.adopted = adopt::adopt(&*self.store, &state, &nests, head.number).await?;
                self.runners = adopt::runners(&self.adopted)?;
                Reply::Done(done)
            }
        })
    }

    fn good(&self, turn: &Turn) {
        self.status.send_modify(|status| {
            if status.trouble.take().is_some() {
                tracing::info!(chain = status.chain_id.0, "going on");
            }
            status.last_good = Instant::now();
            status.phase = match turn {
                Turn::Halted => Phase::Halted,
                _ if status.datasets.iter().all(|dataset| dataset.fault.is_some() || at(dataset, status.tip)) => {
                    Phase::AtHead
                }
                _ => Phase::CatchingUp,
            };
            status.measure();
        });
    }

    fn trouble(&self, error: &CursorError) {
        let text = error.to_string();
        self.status.send_modify(|status| {
            if status.trouble.as_deref() != Some(&text) {
                tracing::warn!(chain = status.chain_id.0, "{text}; trying again");
            }
            status.phase = Phase::Waiting;
            status.trouble = Some(text);
        });
    }
}

fn at(dataset: &DatasetProgress, tip: Option<BlockRef>) -> bool {
    match (dataset.done_to, tip) {
        (Some(done), Some(tip)) => done >= tip.number,
        (None, Some(tip)) => dataset.first_block > tip.number,
        _ => false,
    }
}

/// Accepts a reorg below the final block: every dataset that reaches above the fork starts again. Says what it did.
pub async fn rebuild(source: &dyn Source, store: &dyn HotStore) -> Result<String, CursorError> {
    let state = store.read().await?.state().await?;
    if state.halted.is_none() {
        return Ok("the cursor is not halted; nothing to rebuild".to_owned());
    }
    let ancestor = highest_common(source, &state).await?;
    store.rebuild(ancestor).await?;
    Ok(match ancestor {
        Some(block) => format!("what lies above block {block} is decoded again"),
        None => "everything is decoded again".to_owned(),
    })
}

/// The highest block that some dataset stands on and the chain still has.
async fn highest_common(source: &dyn Source, state: &CursorState) -> Result<Option<BlockRef>, CursorError> {
    let mut known: Vec<BlockRef> = state.datasets.iter().filter_map(|dataset| dataset.done_to).collect();
    known.sort_by_key(|block| std::cmp::Reverse(block.number));
    for block in known {
        if source.header(block.number).await?.is_some_and(|header| header.hash == block.hash) {
            return Ok(Some(block));
        }
    }
    Ok(None)
}

/// What one turn works with.
struct Work<'a> {
    source: &'a dyn Source,
    store: &'a dyn HotStore,
    settings: &'a Settings,
    runners: &'a [Runner],
    status: &'a watch::Sender<CursorStatus>,
}

impl Work<'_> {
    /// The store's state, told to whoever watches.
    async fn state(&self, adopted: &[Adopted]) -> Result<CursorState, CursorError> {
        let state = self.store.read().await?.state().await?;
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
        let runs = |id: DatasetId| self.runners.iter().any(|runner| runner.dataset == id);
        let own = state.datasets.iter().filter(|dataset| runs(dataset.id));
        own.map(|dataset| DatasetProgress {
            dataset: dataset.id,
            nests: adopt::nests_of(adopted, dataset.id),
            first_block: dataset.key.first_block,
            done_to: dataset.done_to.map(|done| done.number),
            fault: match &dataset.status {
                DatasetStatus::Active => None,
                DatasetStatus::Quarantined(fault) => Some(fault.clone()),
            },
        })
        .collect()
    }

    fn positions(&self, state: &CursorState) -> Vec<Position> {
        let runs = |id: DatasetId| self.runners.iter().any(|runner| runner.dataset == id);
        let active = state.datasets.iter().filter(|dataset| dataset.status == DatasetStatus::Active);
        active
            .filter(|dataset| runs(dataset.id))
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
        let Some(tip) = tip_of(state) else { return Ok(()) };
        let Some(chain) = Self::chain(state) else { return Ok(()) };
        if head.number < tip.number || head == tip {
            // A lower head is a node that lags; it is waited out.
            return Ok(());
        }
        if head.number == tip.number {
            return self.change_branch(state).await;
        }
        let last = BlockNumber(tip.number.0.saturating_add(self.settings.tip_blocks)).min(head.number);
        match tip::follow(self.source, state, chain, &self.positions(state), self.runners, last).await {
            Ok(Followed::Piece(piece)) => {
                self.store.commit(piece.commit).await?;
                self.count(&piece.rows).await?;
                self.reread(state).await
            }
            Ok(Followed::NotLinked) => self.change_branch(state).await,
            Err(error) => Err(error),
        }
    }

    async fn change_branch(&self, state: &mut CursorState) -> Result<(), CursorError> {
        let Some(tip) = tip_of(state) else { return Ok(()) };
        match reorg::find_fork(self.source, state).await? {
            Fork::None | Fork::Unknown => Ok(()),
            Fork::BelowFinal { ours, theirs } => {
                let reason = format!(
                    "chain {}: block {} was final with hash {}, and the RPC endpoints now say {}. Either one of them \
                     lies: remove it; or the chain really went back: run `nuthatch cursor rebuild {}`",
                    state.chain_id, ours.number, ours.hash, theirs.hash, state.chain_id
                );
                tracing::error!("{reason}");
                self.store.set_halted(Some(reason)).await?;
                self.reread(state).await
            }
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

    /// One window of final blocks.
    async fn catch_up(&self, state: &mut CursorState, backfill: &mut Backfill) -> Result<bool, CursorError> {
        let Some(chain) = Self::chain(state) else { return Ok(false) };
        let positions = self.positions(state);
        let Some(ready) = backfill.next(chain, &positions, self.runners).await? else { return Ok(false) };
        let mut stops = Vec::new();
        for rows in &ready.rows {
            if let Some(number) = super::backfill::stopped_within(ready.lane.range, rows.last) {
                stops.push(known_block(self.source, number).await?);
            }
        }
        let (commit, rows) =
            tip::final_commit(ready, state, |number| stops.iter().find(|block| block.number == number).copied());
        self.store.commit(commit).await?;
        self.count(&rows).await?;
        self.reread(state).await?;
        Ok(true)
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

    /// Whether the endpoints still contradict the final block. Where they no longer do, the halt ends.
    async fn still_halted(&self, state: &CursorState) -> Result<bool, CursorError> {
        let Some(final_block) = state.final_block else { return Ok(true) };
        let theirs = self.source.header(final_block.number).await?;
        if theirs.is_some_and(|header| header.hash == final_block.hash) {
            tracing::info!(chain = state.chain_id.0, "the endpoints agree with the final block again; going on");
            self.store.set_halted(None).await?;
            return Ok(false);
        }
        Ok(true)
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
