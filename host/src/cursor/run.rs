//! The loop itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::adopt::{self, Adopted};
use super::backfill::Backfill;
use super::command::{CursorHandle, Request};
use super::sealing::Sealing;
use super::status::{CursorStatus, DatasetProgress, Phase};
use super::stretch::Target;
use super::turn::{Turn, Work};
use super::window::Runner;
use super::{CursorError, Nest};
use crate::chain::Source;
use crate::model::BlockRef;
use crate::segments::Sealer;
use crate::store::HotStore;

/// How a cursor works; the defaults suit a laptop.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Blocks that one commit at the tip takes at most.
    pub tip_blocks: u64,
    /// Windows of final blocks fetched at a time.
    pub ahead: usize,
    /// Logs that a window of final blocks should hold.
    pub window_logs: u64,
    /// Bytes of decoded rows of final blocks that may wait for their commit.
    pub memory: usize,
    /// Longest pause after trouble.
    pub longest_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tip_blocks: 64,
            ahead: 3,
            window_logs: 20_000,
            memory: 96 << 20,
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
    pub(super) source: Arc<dyn Source>,
    pub(super) store: Arc<dyn HotStore>,
    pub(super) settings: Settings,
    pub(super) sealing: Sealing,
    pub(super) adopted: Vec<Adopted>,
    pub(super) runners: Vec<Runner>,
    pub(super) backfill: Backfill,
    pub(super) requests: mpsc::Receiver<Request>,
    pub(super) status: watch::Sender<CursorStatus>,
}

impl Cursor {
    /// Brings nests to a store. Reads the head once where a backfill from it begins; the rest happens in
    /// [`Cursor::run`].
    pub async fn start(
        source: Arc<dyn Source>,
        store: Arc<dyn HotStore>,
        nests: Vec<Arc<Nest>>,
        settings: Settings,
    ) -> Result<(Self, CursorHandle, watch::Receiver<CursorStatus>), CursorError> {
        let state = store.read().await?.state().await?;
        let mut adopted = adopt::adopt(&*store, &state, &nests, &*source).await?;
        let state = store.read().await?.state().await?;
        adopt::switch_ready(&*store, &state, &mut adopted).await?;
        let (handle, requests) = CursorHandle::new();
        let (status, watcher) = watch::channel(CursorStatus::new(source.chain_id()));
        let target = Target { store: store.clone(), sealer: None };
        let backfill = Backfill::new(source.clone(), target, &settings);
        let runners = adopt::runners(&adopted)?;
        let sealing = Sealing::default();
        let cursor = Cursor { source, store, settings, sealing, adopted, runners, backfill, requests, status };
        Ok((cursor, handle, watcher))
    }

    /// Seals final rows as their cuts come due. Without it they stay hot.
    #[must_use]
    pub fn sealing(mut self, sealer: Sealer) -> Self {
        self.backfill.seal_with(sealer.clone());
        Cursor { sealing: Sealing::with(sealer), ..self }
    }

    /// Indexes until stopped, or until the source is exhausted. Trouble with the chain or a full disk is waited out;
    /// what cannot pass by itself is returned.
    pub async fn run(mut self, until: Until, stop: CancellationToken) -> Result<(), CursorError> {
        let mut failures = 0u32;
        let outcome = loop {
            let (source, store) = (self.source.clone(), self.store.clone());
            let work = Work {
                source: &*source,
                store: &store,
                settings: &self.settings,
                runners: &self.runners,
                status: &self.status,
            };
            let pause = tokio::select! {
                biased;
                () = stop.cancelled() => break Ok(()),
                Some((command, answer)) = self.requests.recv() => {
                    self.answer(command, answer).await;
                    continue;
                }
                turn = work.turn(&mut self.adopted, &mut self.backfill, &mut self.sealing) => match turn {
                    Ok(done) => {
                        failures = 0;
                        self.good(&done);
                        match done {
                            Turn::Worked | Turn::Waiting | Turn::Limping(_) => continue,
                            Turn::Idle if until == Until::Exhausted && self.source.finished() => break Ok(()),
                            Turn::Idle if until == Until::AtHead => break Ok(()),
                            Turn::Idle | Turn::Halted => self.source.poll(),
                        }
                    }
                    Err(error) if error.is_passing() => {
                        failures += 1;
                        self.trouble(&error.to_string());
                        let wait = Duration::from_millis(200) * 2u32.saturating_pow(failures.min(10));
                        wait.min(self.settings.longest_wait)
                    }
                    Err(error) => break Err(error),
                },
            };
            tokio::select! {
                biased;
                () = stop.cancelled() => break Ok(()),
                Some((command, answer)) = self.requests.recv() => self.answer(command, answer).await,
                () = tokio::time::sleep(pause) => {}
            }
        };
        self.status.send_modify(|status| status.phase = Phase::Stopped);
        outcome
    }

    /// What commands and turns work with.
    pub(super) fn work(&self) -> Work<'_> {
        Work {
            source: &*self.source,
            store: &self.store,
            settings: &self.settings,
            runners: &self.runners,
            status: &self.status,
        }
    }

    fn good(&self, turn: &Turn) {
        if let Turn::Limping(trouble) = turn {
            return self.trouble(trouble);
        }
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

    fn trouble(&self, text: &str) {
        self.status.send_modify(|status| {
            if status.trouble.as_deref() != Some(text) {
                tracing::warn!(chain = status.chain_id.0, "{text}; trying again");
            }
            status.phase = Phase::Waiting;
            status.trouble = Some(text.to_owned());
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
