//! A recorded chain, played back.
//!
//! Two forms of file, both JSON lines, told apart by their first line.
//!
//! **A chain**, with headers and reorgs. The first line is
//! `{"format":"nuthatch-chain/1","chainId":31337,"start":100,"finalityDepth":16}`: `start` (optional) is the height at
//! which play begins, `finalityDepth` (optional) how far the final block lies under the head; without it the chain's
//! own depth counts. Then come, in the order in which a node would have seen them:
//!
//! - `{"block":{"number","hash","parentHash","timestamp"},"logs":[…]}`: a block with its logs, both as JSON-RPC spells
//!   them. Each block follows the one before.
//! - `{"reorg":{"depth":N}}`: the last N blocks are gone; the blocks after this line replace them. They are played in
//!   one step up to one block above the old height, so that the head does not fall.
//!
//! **Plain logs**: one JSON-RPC log object a line, in any order, with `chainId` beside the usual keys. All of it is
//! final. A null `blockHash` stands for [`derived_block_hash`](super::derived_block_hash); blocks without logs exist
//! up to the last one with some, their hashes derived the same way, their time that of the last recorded block before.
//!
//! Only an index is kept in memory; logs are read from the file when asked for.

mod index;
mod play;
mod read;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;

use crate::model::{Address, BlockHash, BlockNumber, BlockRange, BlockRef, ChainId, Header, LogBatch};

use super::error::{Call, ChainError, Result, Trouble};
use super::filters::LogFilters;
use super::settle::{check_headers, check_logs_stand_in, settle};
use super::source::{NotLinked, Source, Tip, TipWindow};
use super::table::ChainSpec;
use super::wire::BadJson;

use index::{Form, Recording};
use play::Timeline;

/// How fast a recorded chain is played. Plain logs are there at once, whatever the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Pace {
    /// One step at each look at the head: as fast as asked.
    #[default]
    EachLook,
    /// One step in each such time.
    Every(Duration),
    /// All of it before the first look.
    AtOnce,
}

/// How to play a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplayOptions {
    /// Pace.
    pub pace: Pace,
    /// Chain, where the file does not say. A file that says another chain is refused.
    pub chain: Option<ChainId>,
}

/// A recorded chain as a [`Source`].
pub struct ReplaySource {
    recording: Arc<Recording>,
    spec: ChainSpec,
    pace: Pace,
    opened: Instant,
    timeline: Mutex<Timeline>,
}

impl ReplaySource {
    /// Reads the index of a file. Blocks while it does.
    pub fn open(path: &Path, options: ReplayOptions) -> Result<Self> {
        let recording = Recording::open(path, options.chain)?;
        let mut timeline = Timeline::new(&recording)?;
        if options.pace == Pace::AtOnce {
            while timeline.step(&recording) {}
        }
        let spec = ChainSpec::of(recording.chain);
        let timeline = Mutex::new(timeline);
        let opened = Instant::now();
        Ok(ReplaySource { recording: Arc::new(recording), spec, pace: options.pace, opened, timeline })
    }

    /// The path of a `file://` URL; none for another URL.
    pub fn path_of(url: &str) -> Option<PathBuf> {
        let path = url.strip_prefix("file://")?;
        (!path.is_empty()).then(|| PathBuf::from(path))
    }

    /// The chain's settings.
    pub fn chain(&self) -> &ChainSpec {
        &self.spec
    }

    fn timeline(&self) -> MutexGuard<'_, Timeline> {
        self.timeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn play(&self) {
        let mut timeline = self.timeline();
        match self.pace {
            Pace::AtOnce => {}
            Pace::EachLook => {
                timeline.look(&self.recording);
            }
            Pace::Every(step) => {
                let due = self.opened.elapsed().as_nanos() / step.as_nanos().max(1);
                while u128::from(timeline.steps()) < due && timeline.step(&self.recording) {}
            }
        }
    }

    fn head_now(&self) -> Result<Header> {
        self.timeline().head(&self.recording).ok_or_else(|| self.recording.error(None, "the recording has no block"))
    }

    fn header_at(&self, number: BlockNumber) -> Option<Header> {
        self.timeline().header(&self.recording, number)
    }

    fn headers_in(&self, range: BlockRange) -> Result<Vec<Header>> {
        let timeline = self.timeline();
        let number = range.first.0..=range.last.0;
        let header = |number| timeline.header(&self.recording, BlockNumber(number)).ok_or_else(|| self.behind(range));
        number.map(header).collect()
    }

    fn behind(&self, range: BlockRange) -> ChainError {
        let endpoint = self.recording.path.display().to_string();
        let call = Box::new(Call { chain: self.recording.chain, endpoint, method: "replay", range: Some(range) });
        ChainError::GaveUp { call, trouble: Trouble::Behind(format!("block {}", range.last)), attempts: 1 }
    }

    async fn read(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch> {
        let parts = self.timeline().parts(&self.recording, range);
        let recording = self.recording.clone();
        let filters = filters.clone();
        let read = tokio::task::spawn_blocking(move || recording.read_logs(&parts, &filters, range));
        match read.await {
            Ok(read) => read,
            Err(stopped) => Err(self.recording.error(None, format!("the reader stopped: {stopped}"))),
        }
    }
}

#[async_trait]
impl Source for ReplaySource {
    fn chain_id(&self) -> ChainId {
        self.recording.chain
    }

    async fn head(&self) -> Result<Header> {
        self.play();
        self.head_now()
    }

    async fn finalized(&self) -> Result<Option<BlockRef>> {
        let head = self.head_now()?;
        let depth = match self.recording.form {
            Form::PlainLogs => 0,
            Form::Chain { finality_depth, .. } => finality_depth.unwrap_or(self.spec.finality.depth),
        };
        let number = head.number.0.checked_sub(depth).map(BlockNumber);
        Ok(number.and_then(|number| self.header_at(number)).map(|header| header.block_ref()))
    }

    async fn header(&self, number: BlockNumber) -> Result<Option<Header>> {
        Ok(self.header_at(number))
    }

    async fn header_by_hash(&self, hash: BlockHash) -> Result<Option<Header>> {
        Ok(self.timeline().header_by_hash(&self.recording, hash))
    }

    async fn headers(&self, range: BlockRange) -> Result<Vec<Header>> {
        self.headers_in(range)
    }

    async fn logs(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch> {
        let mut logs = self.read(filters, range).await?;
        settle(&mut logs).map_err(|clash| self.recording.error(None, clash))?;
        for place in 0..logs.len() {
            if logs.block_timestamp[place] == 0 {
                let header = self.header_at(BlockNumber(logs.block_number[place]));
                logs.block_timestamp[place] = header.map_or(0, |header| header.timestamp);
            }
        }
        Ok(logs)
    }

    async fn tip_window(&self, filters: &LogFilters, parent: BlockRef, last: BlockNumber) -> Result<Tip> {
        let Some(range) = BlockRange::new(parent.number.next(), last) else {
            return Ok(Tip::Window(TipWindow { headers: Vec::new(), logs: LogBatch::new(self.chain_id()) }));
        };
        let headers = self.headers_in(range)?;
        let damaged = |reason: String| self.recording.error(None, reason);
        check_headers(range.first.0, &headers).map_err(damaged)?;
        if let Some(first) = headers.first().filter(|first| first.parent_hash != parent.hash) {
            let endpoint = self.recording.path.display().to_string();
            return Ok(Tip::NotLinked(NotLinked { parent, found: first.clone(), endpoint }));
        }
        let mut logs = self.read(filters, range).await?;
        settle(&mut logs).map_err(damaged)?;
        // The head may have moved in between, onto another branch.
        if self.headers_in(range)? != headers {
            return Err(self.behind(range));
        }
        check_logs_stand_in(&headers, &mut logs).map_err(damaged)?;
        Ok(Tip::Window(TipWindow { headers, logs }))
    }

    async fn code_at(&self, _: Address, _: BlockNumber) -> Result<Bytes> {
        Err(self.recording.error(None, "a recording holds no code; give an RPC URL"))
    }

    fn range_hint(&self) -> u64 {
        self.recording.blocks_per_read()
    }

    fn poll(&self) -> Duration {
        match self.pace {
            // Nothing comes any more.
            _ if self.finished() => Duration::from_secs(1),
            Pace::Every(step) => step.clamp(Duration::from_millis(1), Duration::from_secs(1)),
            Pace::EachLook | Pace::AtOnce => Duration::from_millis(1),
        }
    }

    fn finished(&self) -> bool {
        self.timeline().finished(&self.recording)
    }
}

impl From<BadJson> for String {
    fn from(bad: BadJson) -> String {
        bad.0
    }
}

#[cfg(test)]
mod tests;
