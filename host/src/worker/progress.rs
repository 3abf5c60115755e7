//! Rates and lag, worked out from what the cursors say of themselves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::RunningChain;
use crate::cursor::{CursorStatus, Phase as CursorPhase};
use crate::model::{BlockNumber, ChainProgress, Phase, Progress};

const TICK: Duration = Duration::from_millis(200);
/// Rates are means over this long.
const SPAN: usize = 25;

/// Watches the chains until stopped.
pub(super) fn watch(chains: Arc<Vec<RunningChain>>, stop: CancellationToken) -> watch::Receiver<Progress> {
    let (sender, receiver) = watch::channel(Progress::default());
    tokio::spawn(async move {
        let mut rates: Vec<Rate> = chains.iter().map(|_| Rate::default()).collect();
        loop {
            let now = chains.iter().zip(&mut rates).map(|(chain, rate)| {
                let status = chain.status.borrow().clone();
                rate.note(&status);
                progress(&status, rate, stop.is_cancelled())
            });
            let progress = Progress { chains: now.collect() };
            if sender.send(progress).is_err() {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    });
    receiver
}

#[derive(Default)]
struct Rate {
    seen: VecDeque<(Instant, u64, u64)>,
}

impl Rate {
    fn note(&mut self, status: &CursorStatus) {
        self.seen.push_back((Instant::now(), status.rows, status.logs));
        if self.seen.len() > SPAN {
            self.seen.pop_front();
        }
    }

    /// Rows and logs a second.
    fn now(&self) -> (f64, f64) {
        match (self.seen.front(), self.seen.back()) {
            (Some(first), Some(last)) if last.0 > first.0 => {
                let seconds = (last.0 - first.0).as_secs_f64();
                ((last.1 - first.1) as f64 / seconds, (last.2 - first.2) as f64 / seconds)
            }
            _ => (0.0, 0.0),
        }
    }
}

fn progress(status: &CursorStatus, rate: &Rate, draining: bool) -> ChainProgress {
    let taking = || status.datasets.iter().filter(|dataset| dataset.fault.is_none());
    let done = taking().map(|dataset| dataset.done_to).min().flatten();
    let first = taking().map(|dataset| dataset.first_block).min().unwrap_or_default();
    let (rows_per_second, logs_per_second) = rate.now();
    let phase = match (&status.trouble, status.phase) {
        _ if draining => Phase::Draining,
        (Some(trouble), _) => Phase::Waiting(trouble.clone()),
        (None, CursorPhase::Starting | CursorPhase::Waiting) => Phase::Starting,
        (None, CursorPhase::CatchingUp) => Phase::Backfill,
        (None, CursorPhase::AtHead) => Phase::Tip,
        (None, CursorPhase::Halted) => Phase::Halted(status.halted.clone().unwrap_or_default()),
        (None, CursorPhase::Stopped) => Phase::Draining,
    };
    ChainProgress {
        chain: status.chain_id,
        nests: status.datasets.iter().flat_map(|dataset| dataset.nests.iter().cloned()).collect(),
        first,
        done: done.or(status.datasets.is_empty().then_some(BlockNumber(0))),
        head: status.head,
        rows: status.rows,
        rows_per_second,
        logs_per_second,
        lag: None,
        phase,
    }
}
