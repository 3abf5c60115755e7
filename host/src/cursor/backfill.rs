//! The catch-up lane: windows of final blocks, fetched and decoded ahead, gathered, committed in order.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use tokio::task::JoinHandle;

use super::agreement::{Agreement, Contradiction, agreement, interrupted};
use super::lanes::{self, Chain, Lane, Position};
use super::stretch::{Closed, Stretch, Target, Uploads};
use super::trouble::Trouble;
use super::window::{Rows, Runner};
use super::{CursorError, Settings};
use crate::chain::{ChainError, LogFilters, Source};
use crate::model::{BlockNumber, BlockRef, ChainId, DatasetId, Header, LogBatch};
use crate::segments::Sealer;

/// A window of final blocks, decoded.
pub(super) struct Window {
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
    /// Windows to commit.
    Stretch(Box<Closed>),
    /// The endpoints have left the final block; no window is worth anything.
    Parted(Contradiction),
}

/// What became of a window.
enum Fetched {
    Window(Box<Window>),
    Parted(Contradiction),
}

/// Windows on their way. Final blocks belong to every branch, so a reorg leaves them alone; a final block that the
/// endpoints contradict makes all of them void.
pub(super) struct Backfill {
    source: Arc<dyn Source>,
    target: Target,
    /// Being fetched and decoded.
    ahead: VecDeque<(Lane, Task<Fetched>)>,
    /// Decoded, not committed.
    stretch: Stretch,
    /// The stretch before that one, being cut and uploaded.
    closing: Option<Closing>,
    depth: usize,
    memory: usize,
    blocks: u64,
    target_logs: u64,
    /// Bytes that the rows of the last window held.
    window_memory: usize,
    trouble: Option<Trouble>,
    /// Why rows that were due for files became hot, and until when no file is tried.
    unsealed: Option<Trouble>,
    longest_rest: Duration,
}

/// The rows stay at hand until the commit is ready, so that trouble with an upload fetches nothing twice.
struct Closing {
    stretch: Arc<Stretch>,
    task: Option<Task<Closed>>,
}

struct Task<T>(JoinHandle<Result<T, CursorError>>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Task<T> {
    /// Dropping the wait loses nothing.
    async fn done(&mut self, chain: ChainId) -> Result<T, CursorError> {
        (&mut self.0).await.unwrap_or_else(|broken| Err(interrupted(chain, broken.to_string())))
    }
}

/// Windows start at this many blocks and follow the density of the logs from there.
const FIRST_WINDOW: u64 = 1_024;
const LARGEST_WINDOW: u64 = 1 << 17;

impl Backfill {
    /// Windows from this source, their rows to this target.
    pub fn new(source: Arc<dyn Source>, target: Target, settings: &Settings) -> Self {
        Backfill {
            source,
            target,
            ahead: VecDeque::new(),
            stretch: Stretch::default(),
            closing: None,
            depth: settings.ahead.max(1),
            memory: settings.memory,
            blocks: FIRST_WINDOW,
            target_logs: settings.window_logs,
            window_memory: 0,
            trouble: None,
            unsealed: None,
            longest_rest: settings.longest_wait,
        }
    }

    /// Rows go into segments from now on.
    pub fn seal_with(&mut self, sealer: Sealer) {
        self.target.sealer = Some(sealer);
    }

    /// The next commit of the lowest lane. Dropping the wait loses nothing: what is on its way stays until it is here.
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
        let id = self.source.chain_id();
        loop {
            self.keep_what_fits(chain, positions);
            if lanes::catch_up(chain, positions, self.blocks).is_none() {
                (self.trouble, self.unsealed) = (None, None);
                return Ok(Next::Nothing);
            }
            let resting = self.trouble.as_ref().filter(|trouble| trouble.rests()).map(Trouble::rests_until);
            if resting.is_none() {
                self.fill(final_block, chain, positions, runners);
            }
            let due = self.is_due(resting.is_some());
            if self.closing.is_none() && due {
                let stretch = Arc::new(std::mem::take(&mut self.stretch));
                self.closing = Some(Closing { stretch, task: None });
            }
            if let Some(Closing { stretch, task: task @ None }) = &mut self.closing
                && resting.is_none()
            {
                let uploads = match &self.unsealed {
                    Some(trouble) if trouble.rests() => Uploads::Rest,
                    _ => Uploads::Tried,
                };
                *task = Some(Task(tokio::spawn(self.target.clone().close(id, Arc::clone(stretch), uploads))));
            }
            let due_at = self.stretch.due_at().filter(|_| self.closing.is_none());
            let closing = self.closing.as_mut().and_then(|closing| closing.task.as_mut());
            let stretch = &self.stretch;
            let front = self.ahead.front_mut().filter(|(lane, _)| !due && stretch.takes(lane));
            tokio::select! {
                biased;
                closed = either(closing.map(|task| task.done(id))) => {
                    match closed {
                        Ok(closed) => {
                            self.closing = None;
                            self.note_uploads(&closed);
                            return Ok(Next::Stretch(Box::new(closed)));
                        }
                        Err(error) => {
                            if let Some(closing) = &mut self.closing {
                                closing.task = None;
                            }
                            return Err(error);
                        }
                    }
                }
                fetched = either(front.map(|(_, task)| task.done(id))) => {
                    let size = self.ahead.pop_front().map_or(1, |(lane, _)| lane.range.blocks());
                    match fetched {
                        Ok(Fetched::Window(window)) => {
                            self.learn(&window);
                            if let Err(contradiction) = self.stretch.push(*window) {
                                self.clear();
                                return Ok(Next::Parted(contradiction));
                            }
                        }
                        Ok(Fetched::Parted(contradiction)) => {
                            self.clear();
                            return Ok(Next::Parted(contradiction));
                        }
                        Err(error) => {
                            self.ahead.clear();
                            self.blocks = (self.blocks.min(size) / 2).max(1);
                            // Fewer blocks are the cure for too many logs; it is no trouble while there is more than one.
                            if !matches!(error, CursorError::Chain(ChainError::TooMuch { .. })) || size == 1 {
                                return Err(error);
                            }
                        }
                    }
                }
                () = either(due_at.map(tokio::time::sleep_until)) => {}
                () = either(resting.map(tokio::time::sleep_until)) => {}
            }
        }
    }

    /// Forgets all windows on their way.
    pub fn clear(&mut self) {
        self.ahead.clear();
        self.stretch = Stretch::default();
        self.closing = None;
    }

    /// Datasets with rows on their way.
    pub fn datasets(&self) -> HashSet<DatasetId> {
        let lanes = self.lanes().flat_map(|lane| lane.datasets.iter().copied());
        lanes.collect()
    }

    /// Asks for nothing for a while, longer each time in a row.
    pub fn rest(&mut self, error: &CursorError, longest: Duration) {
        self.trouble = Some(Trouble::after(self.trouble.as_ref(), error.to_string(), longest));
    }

    /// A commit went through.
    pub fn recovered(&mut self) {
        self.trouble = None;
    }

    /// What keeps windows from coming, until one comes.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(Trouble::text)
    }

    /// What keeps rows from going into files, until they do.
    pub fn unsealed(&self) -> Option<&str> {
        self.unsealed.as_ref().map(Trouble::text)
    }

    fn note_uploads(&mut self, closed: &Closed) {
        match &closed.unsealed {
            Some(text) => {
                self.unsealed = Some(Trouble::after(self.unsealed.as_ref(), text.clone(), self.longest_rest));
            }
            None if self.unsealed.as_ref().is_some_and(|trouble| !trouble.rests()) => self.unsealed = None,
            None => {}
        }
    }

    /// All that is on its way, in order.
    fn lanes(&self) -> impl Iterator<Item = &Lane> {
        let closing = self.closing.iter().flat_map(|closing| closing.stretch.lanes());
        closing.chain(self.stretch.lanes()).chain(self.ahead.iter().map(|(lane, _)| lane))
    }

    /// Windows planned for datasets that have moved, gone or joined since are fetched again.
    fn keep_what_fits(&mut self, chain: Chain, positions: &[Position]) {
        let mut expected = positions.to_vec();
        let fits = self.lanes().take_while(|lane| {
            let wanted = lanes::catch_up(chain, &expected, lane.range.blocks());
            let fits = wanted.as_ref() == Some(lane);
            advance(&mut expected, lane);
            fits
        });
        let keep = fits.count();
        let decoded = self.lanes().count() - self.ahead.len();
        match keep.checked_sub(decoded) {
            Some(ahead) => self.ahead.truncate(ahead),
            None => self.clear(),
        }
    }

    /// Whether the stretch is to be committed; also where nothing more is on its way to it.
    fn is_due(&self, resting: bool) -> bool {
        let next = self.ahead.front().map(|(lane, _)| self.stretch.takes(lane));
        let ends = next.is_none_or(|takes| !takes) && !resting;
        !self.stretch.is_empty() && (ends || self.stretch.is_due(self.target.segment_rows(), self.memory / 2))
    }

    fn fill(&mut self, final_block: BlockRef, chain: Chain, positions: &[Position], runners: &[Runner]) {
        let mut expected = positions.to_vec();
        for lane in self.lanes() {
            advance(&mut expected, lane);
        }
        let closing = self.closing.as_ref().map_or(0, |closing| closing.stretch.memory());
        let held = closing + self.stretch.memory();
        while self.ahead.len() < self.depth {
            // One window at least, whatever it holds; else nothing would ever move.
            let in_flight = held + self.ahead.len() * self.window_memory;
            if in_flight > self.memory && !(self.ahead.is_empty() && held == 0) {
                return;
            }
            let Some(lane) = lanes::catch_up(chain, &expected, self.blocks) else { return };
            advance(&mut expected, &lane);
            let takes_part = |runner: &&Runner| lane.datasets.contains(&runner.dataset);
            let runners: Vec<Runner> = runners.iter().filter(takes_part).cloned().collect();
            let task = tokio::spawn(fetch(self.source.clone(), final_block, lane.clone(), runners));
            self.ahead.push_back((lane, Task(task)));
        }
    }

    fn learn(&mut self, window: &Window) {
        self.window_memory = window.rows.iter().map(Rows::memory).sum();
        let logs: u64 = window.rows.iter().map(|rows| rows.logs).sum();
        let whole = window.lane.range.blocks() >= self.blocks;
        if logs > self.target_logs * 2 {
            self.blocks = (self.blocks / 2).max(1);
        } else if logs < self.target_logs / 2 && whole {
            self.blocks = (self.blocks * 2).min(LARGEST_WINDOW);
        }
    }
}

/// Waits for what is there; where nothing is, for ever.
async fn either<T>(future: Option<impl Future<Output = T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
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
) -> Result<Fetched, CursorError> {
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
        return Ok(Fetched::Parted(Contradiction { ours: final_block, theirs: last }));
    }
    match agreement(&*source, final_block).await? {
        Agreement::Same => Ok(Fetched::Window(Box::new(Window { lane, parent, last, stops, rows }))),
        Agreement::Contradicted(contradiction) => Ok(Fetched::Parted(contradiction)),
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
