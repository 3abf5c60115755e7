//! The catch-up lane: windows of final blocks, fetched and decoded ahead, committed in order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::CursorError;
use super::agreement::{Agreement, Contradiction, agreement, interrupted};
use super::lanes::{self, Chain, Lane, Position};
use super::window::{Rows, Runner};
use crate::chain::{ChainError, LogFilters, Source};
use crate::model::{BlockNumber, BlockRef, Header, LogBatch};

/// A window of final blocks, decoded.
pub(super) struct Ready {
    pub lane: Lane,
    /// The block before the range; none before block 0.
    pub parent: Option<BlockRef>,
    /// The last block of the range.
    pub last: BlockRef,
    /// The blocks before the faults of those datasets that stopped within the range.
    pub stops: Vec<BlockRef>,
    pub rows: Vec<Rows>,
}

/// What comes next.
pub(super) enum Next {
    /// Every dataset has all final blocks.
    Nothing,
    /// A window to commit.
    Window(Box<Ready>),
    /// The endpoints have left the final block; no window is worth anything.
    Parted(Contradiction),
}

/// Windows on their way. Final blocks belong to every branch, so a reorg leaves them alone; a final block that the
/// endpoints contradict makes all of them void.
pub(super) struct Backfill {
    source: Arc<dyn Source>,
    ahead: VecDeque<(Lane, Task)>,
    depth: usize,
    blocks: u64,
    target_logs: u64,
    trouble: Option<Trouble>,
}

/// Why, and until when, no window is asked for. The tip is followed meanwhile.
struct Trouble {
    text: String,
    failures: u32,
    rests_until: Instant,
}

struct Task(JoinHandle<Result<Next, CursorError>>);

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
        let ahead = VecDeque::new();
        Backfill { source, ahead, depth: depth.max(1), blocks: FIRST_WINDOW, target_logs, trouble: None }
    }

    /// The next window of the lowest lane. Dropping the wait loses nothing: the window stays in front until it is here.
    ///
    /// `final_block` is the store's; no window is given out unless the endpoints still had it after the window's logs
    /// were in.
    pub async fn next(
        &mut self,
        final_block: BlockRef,
        chain: Chain,
        positions: &[Position],
        runners: &[Runner],
    ) -> Result<Next, CursorError> {
        loop {
            self.keep_what_fits(chain, positions);
            if lanes::catch_up(chain, positions, self.blocks).is_none() {
                self.trouble = None;
                return Ok(Next::Nothing);
            }
            if let Some(trouble) = &self.trouble {
                tokio::time::sleep_until(trouble.rests_until).await;
            }
            self.fill(final_block, chain, positions, runners);
            let Some((lane, task)) = self.ahead.front_mut() else { return Ok(Next::Nothing) };
            let size = lane.range.blocks();
            let done = (&mut task.0).await.unwrap_or_else(|broken| {
                Err(CursorError::Interrupted { chain: self.source.chain_id(), reason: broken.to_string() })
            });
            self.ahead.pop_front();
            match done {
                Ok(Next::Window(ready)) => {
                    self.learn(&ready);
                    return Ok(Next::Window(ready));
                }
                Ok(other) => {
                    self.clear();
                    return Ok(other);
                }
                Err(error) => {
                    self.clear();
                    self.blocks = (self.blocks.min(size) / 2).max(1);
                    // Fewer blocks are the cure for too many logs; it is no trouble while there is more than one.
                    if !matches!(error, CursorError::Chain(ChainError::TooMuch { .. })) || size == 1 {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Forgets all windows on their way.
    pub fn clear(&mut self) {
        self.ahead.clear();
    }

    /// Asks for nothing for a while, longer each time in a row.
    pub fn rest(&mut self, error: &CursorError, longest: Duration) {
        let failures = self.trouble.as_ref().map_or(0, |trouble| trouble.failures).saturating_add(1);
        let pause = Duration::from_millis(200) * 2u32.saturating_pow(failures.min(10));
        self.trouble =
            Some(Trouble { text: error.to_string(), failures, rests_until: Instant::now() + pause.min(longest) });
    }

    /// A window went through.
    pub fn recovered(&mut self) {
        self.trouble = None;
    }

    /// What keeps windows from coming, until one comes.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(|trouble| trouble.text.as_str())
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

    fn fill(&mut self, final_block: BlockRef, chain: Chain, positions: &[Position], runners: &[Runner]) {
        let mut expected = positions.to_vec();
        for (lane, _) in &self.ahead {
            advance(&mut expected, lane);
        }
        while self.ahead.len() < self.depth {
            let Some(lane) = lanes::catch_up(chain, &expected, self.blocks) else { return };
            advance(&mut expected, &lane);
            let takes_part = |runner: &&Runner| lane.datasets.contains(&runner.dataset);
            let runners: Vec<Runner> = runners.iter().filter(takes_part).cloned().collect();
            let task = tokio::spawn(fetch(self.source.clone(), final_block, lane.clone(), runners));
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

/// Logs first, then the blocks that the window hangs on, and last the final block: what came before was of its chain.
async fn fetch(
    source: Arc<dyn Source>,
    final_block: BlockRef,
    lane: Lane,
    runners: Vec<Runner>,
) -> Result<Next, CursorError> {
    let filters = LogFilters::union(runners.iter().map(|runner| runner.filters.as_ref()));
    let logs = source.logs(&filters, lane.range).await?;
    let mut rows = Vec::new();
    for runner in &runners {
        rows.push(runner.decode(&logs, lane.range).await?);
    }
    let (first, last) = (lane.range.first, lane.range.last);
    let stops = rows.iter().filter_map(|rows| rows.last).filter(|stop| *stop < last);
    let mut numbers: Vec<BlockNumber> = stops.chain([first, last]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let headers = try_join_all(numbers.iter().map(|number| known_header(&*source, *number))).await?;
    if let Some(stray) = headers.iter().find(|header| !stands_in(&logs, header)) {
        let reason = format!("logs of block {} name another block than its header", stray.number);
        return Err(interrupted(source.chain_id(), reason));
    }
    drop(logs);
    let parent = first.prev().zip(headers.iter().find(|header| header.number == first));
    let parent = parent.map(|(number, header)| BlockRef { number, hash: header.parent_hash });
    let mut stops: Vec<BlockRef> = headers.iter().map(Header::block_ref).collect();
    let Some(last) = stops.pop() else {
        return Err(interrupted(source.chain_id(), format!("blocks {} have no end", lane.range)));
    };
    if last.number == final_block.number && last != final_block {
        return Ok(Next::Parted(Contradiction { ours: final_block, theirs: last }));
    }
    match agreement(&*source, final_block).await? {
        Agreement::Same => Ok(Next::Window(Box::new(Ready { lane, parent, last, stops, rows }))),
        Agreement::Contradicted(contradiction) => Ok(Next::Parted(contradiction)),
        Agreement::Unseen => {
            Err(interrupted(source.chain_id(), format!("no endpoint has final block {final_block} just now")))
        }
    }
}

/// Whether the logs of this height are of this very block.
fn stands_in(logs: &LogBatch, header: &Header) -> bool {
    let place = logs.block_number.partition_point(|number| *number < header.number.0);
    logs.block_number.get(place) != Some(&header.number.0) || logs.block_hash[place] == header.hash
}

/// A block that must exist.
async fn known_header(source: &dyn Source, number: BlockNumber) -> Result<Header, CursorError> {
    let found = source.header(number).await?;
    found.ok_or_else(|| interrupted(source.chain_id(), format!("no endpoint has block {number} just now")))
}

/// A block that must exist: number and hash.
pub(super) async fn known_block(source: &dyn Source, number: BlockNumber) -> Result<BlockRef, CursorError> {
    known_header(source, number).await.map(|header| header.block_ref())
}
