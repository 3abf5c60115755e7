//! Rates and lag, worked out from what the cursors say of themselves.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::RunningChain;
use crate::cursor::{CursorStatus, Phase as CursorPhase};
use crate::model::{BlockNumber, ChainProgress, Phase, Progress};

const TICK: Duration = Duration::from_millis(200);
/// Rates are means over so many ticks.
const SPAN: usize = 50;

/// Watches the chains until stopped.
pub(super) fn watch(chains: Arc<Vec<RunningChain>>, stop: CancellationToken) -> watch::Receiver<Progress> {
    let (sender, receiver) = watch::channel(Progress::default());
    tokio::spawn(async move {
        let mut rates: Vec<Rate> = chains.iter().map(|_| Rate::default()).collect();
        loop {
            let now = chains.iter().zip(&mut rates).map(|(chain, rate)| {
                let status = chain.status.borrow().clone();
                rate.note(Instant::now(), &status);
                progress(&status, rate, unix_now(), stop.is_cancelled())
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

fn unix_now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// What a chain had done at some moment.
struct Seen {
    at: Instant,
    next: Option<BlockNumber>,
    rows: u64,
    logs: u64,
}

#[derive(Default)]
struct Rate {
    seen: VecDeque<Seen>,
}

impl Rate {
    fn note(&mut self, at: Instant, status: &CursorStatus) {
        let next = (!status.datasets.is_empty()).then(|| next(status));
        self.seen.push_back(Seen { at, next, rows: status.rows, logs: status.logs });
        if self.seen.len() > SPAN {
            self.seen.pop_front();
        }
    }

    /// A second, between the oldest and the newest moment. Going back, as a rollback does, is no rate.
    fn of(&self, count: impl Fn(&Seen) -> Option<u64>) -> Option<f64> {
        let (first, last) = (self.seen.front()?, self.seen.back()?);
        let seconds = (last.at - first.at).as_secs_f64();
        (seconds > 0.0).then_some(count(last)?.saturating_sub(count(first)?) as f64 / seconds)
    }
}

/// The first block that some dataset which takes rows lacks.
fn next(status: &CursorStatus) -> BlockNumber {
    let taking = status.datasets.iter().filter(|dataset| dataset.fault.is_none());
    let next = taking.map(|dataset| dataset.done_to.map_or(dataset.first_block, BlockNumber::next));
    next.min().unwrap_or_default()
}

/// `now` is the time since 1970.
fn progress(status: &CursorStatus, rate: &Rate, now: Duration, draining: bool) -> ChainProgress {
    let taking = || status.datasets.iter().filter(|dataset| dataset.fault.is_none());
    let done = taking().map(|dataset| dataset.done_to).min().flatten();
    let first = taking().map(|dataset| dataset.first_block).min().unwrap_or_default();
    let done = done.or(status.datasets.is_empty().then_some(BlockNumber(0)));
    let at_head = done.is_some() && done == status.head;
    let lag = status.head_time.filter(|_| at_head).map(|time| now.saturating_sub(Duration::from_secs(time)));
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
        done,
        head: status.head,
        rows: status.rows,
        blocks_per_second: rate.of(|seen| seen.next.map(|next| next.0)),
        rows_per_second: rate.of(|seen| Some(seen.rows)).unwrap_or_default(),
        logs_per_second: rate.of(|seen| Some(seen.logs)).unwrap_or_default(),
        lag,
        phase,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cursor::DatasetProgress;
    use crate::model::{ChainId, DatasetId};

    fn status(done: Option<u64>, head: u64) -> CursorStatus {
        let dataset = DatasetProgress {
            dataset: DatasetId(1),
            nests: vec!["usdc".parse().unwrap()],
            first_block: BlockNumber(1_000),
            done_to: done.map(BlockNumber),
            fault: None,
        };
        let mut status = CursorStatus::new(ChainId(1));
        (status.datasets, status.head, status.head_time) = (vec![dataset], Some(BlockNumber(head)), Some(5_000));
        status
    }

    #[test]
    fn rates_are_means_and_a_rollback_is_none() {
        let (mut rate, start) = (Rate::default(), Instant::now());
        let blocks = |rate: &Rate| rate.of(|seen| seen.next.map(|next| next.0));
        rate.note(start, &status(None, 9_999));
        assert_eq!(blocks(&rate), None);
        rate.note(start + Duration::from_secs(10), &status(Some(1_999), 9_999));
        assert_eq!(blocks(&rate), Some(100.0));
        rate.seen.pop_front();
        rate.note(start + Duration::from_secs(11), &status(Some(1_989), 9_999));
        assert_eq!(blocks(&rate), Some(0.0));
    }

    #[test]
    fn lag_is_the_age_of_a_head_that_is_done() {
        let lag = |status: &CursorStatus| progress(status, &Rate::default(), Duration::from_secs(5_075), false).lag;
        assert_eq!(lag(&status(Some(9_999), 9_999)), Some(Duration::from_secs(75)));
        assert_eq!(lag(&status(Some(9_998), 9_999)), None);
        assert_eq!(lag(&CursorStatus { head_time: None, ..status(Some(9_999), 9_999) }), None);
    }
}
