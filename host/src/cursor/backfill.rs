//! The catch-up lane: windows of final blocks, fetched and decoded ahead, committed in order.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::CursorError;
use super::lanes::{self, Chain, Lane, Position};
use super::window::{Rows, Runner};
use crate::chain::{LogFilters, Source};
use crate::model::{BlockNumber, BlockRange, BlockRef};

/// A window of final blocks, decoded.
pub(super) struct Ready {
    pub lane: Lane,
    /// The last block of the range.
    pub last: BlockRef,
    pub rows: Vec<Rows>,
}

/// Windows on their way. Final blocks belong to every branch, so a reorg leaves them alone.
pub(super) struct Backfill {
    source: Arc<dyn Source>,
    ahead: VecDeque<(Lane, Task)>,
    depth: usize,
    blocks: u64,
    target_logs: u64,
}

struct Task(JoinHandle<Result<Ready, CursorError>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Windows start at this many blocks and follow the density of the logs from there.
const FIRST_WINDOW: u64 = 1_024;
const LARGEST_WINDOW: u64 = 1 << 17;

impl Backfill {
    /// `depth`: windows fetched at a time; `target_logs`: logs that a window should hold.
    pub fn new(source: Arc<dyn Source>, depth: usize, target_logs: u64) -> Self {
        Backfill { source, ahead: VecDeque::new(), depth: depth.max(1), blocks: FIRST_WINDOW, target_logs }
    }

    /// The next window of the lowest lane, or none when every dataset has all final blocks.
    pub async fn next(
        &mut self,
        chain: Chain,
        positions: &[Position],
        runners: &[Runner],
    ) -> Result<Option<Ready>, CursorError> {
        self.keep_what_fits(chain, positions);
        self.fill(chain, positions, runners);
        let Some((_, task)) = self.ahead.front_mut() else { return Ok(None) };
        // The window stays in front until it is here, so that a cancelled wait loses nothing.
        let done = (&mut task.0).await;
        self.ahead.pop_front();
        let ready = match done {
            Ok(result) => result,
            Err(error) => Err(CursorError::Interrupted { chain: self.source.chain_id(), reason: error.to_string() }),
        };
        match ready {
            Ok(ready) => {
                self.learn(&ready);
                Ok(Some(ready))
            }
            Err(error) => {
                self.ahead.clear();
                self.blocks = (self.blocks / 2).max(1);
                Err(error)
            }
        }
    }

    /// Windows planned for datasets that have moved, gone or joined since are fetched again.
    fn keep_what_fits(&mut self, chain: Chain, positions: &[Position]) {
        let mut expected = positions.to_vec();
        let fits = self.ahead.iter().take_while(|(lane, _)| {
            let wanted = lanes::catch_up(chain, &expected, lane.range.blocks());
            let fits = wanted.as_ref() == Some(lane);
            advance(&mut expected, lane);
            fits
        });
        let keep = fits.count();
        self.ahead.truncate(keep);
    }

    fn fill(&mut self, chain: Chain, positions: &[Position], runners: &[Runner]) {
        let mut expected = positions.to_vec();
        for (lane, _) in &self.ahead {
            advance(&mut expected, lane);
        }
        while self.ahead.len() < self.depth {
            let Some(lane) = lanes::catch_up(chain, &expected, self.blocks) else { return };
            advance(&mut expected, &lane);
            let takes_part = |runner: &&Runner| lane.datasets.contains(&runner.dataset);
            let runners: Vec<Runner> = runners.iter().filter(takes_part).cloned().collect();
            let task = tokio::spawn(fetch(self.source.clone(), lane.clone(), runners));
            self.ahead.push_back((lane, Task(task)));
        }
    }

    fn learn(&mut self, ready: &Ready) {
        let logs: u64 = ready.rows.iter().map(|rows| rows.logs).sum();
        let whole = ready.lane.range.blocks() >= self.blocks;
        if logs > self.target_logs * 2 {
            self.blocks = (self.blocks / 2).max(1);
        } else if logs < self.target_logs / 2 && whole {
            self.blocks = (self.blocks * 2).min(LARGEST_WINDOW);
        }
    }
}

fn advance(positions: &mut [Position], lane: &Lane) {
    for position in positions.iter_mut().filter(|position| lane.datasets.contains(&position.dataset)) {
        position.next = lane.range.last.next();
    }
}

async fn fetch(source: Arc<dyn Source>, lane: Lane, runners: Vec<Runner>) -> Result<Ready, CursorError> {
    let filters = LogFilters::union(runners.iter().map(|runner| runner.filters.as_ref()));
    let (logs, last) = tokio::join!(source.logs(&filters, lane.range), known_block(&*source, lane.range.last));
    let (logs, last) = (logs?, last?);
    let mut rows = Vec::new();
    for runner in &runners {
        rows.push(runner.decode(&logs, lane.range).await?);
    }
    Ok(Ready { lane, last, rows })
}

/// A block that must exist: number and hash.
pub(super) async fn known_block(source: &dyn Source, number: BlockNumber) -> Result<BlockRef, CursorError> {
    match source.header(number).await? {
        Some(header) => Ok(header.block_ref()),
        None => {
            let reason = format!("no endpoint has block {number} just now");
            Err(CursorError::Interrupted { chain: source.chain_id(), reason })
        }
    }
}

/// Blocks before the range's end where a dataset stopped: needed for its `done_to`.
pub(super) fn stopped_within(range: BlockRange, last: Option<BlockNumber>) -> Option<BlockNumber> {
    last.filter(|last| *last < range.last)
}
