//! What the cursor asks of a chain.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::model::{Address, BlockHash, BlockNumber, BlockRange, BlockRef, ChainId, Header, LogBatch};

use super::error::Result;
use super::filters::LogFilters;

/// One chain, whoever serves it. Implementations retry on their own: an error means that the retry budget is spent.
#[async_trait]
pub trait Source: Send + Sync {
    /// The chain.
    fn chain_id(&self) -> ChainId;

    /// The highest block that the source knows at this moment. May be lower than before: [`super::Heads`] waits that out.
    async fn head(&self) -> Result<Header>;

    /// The highest final block, its hash confirmed a second time (by another endpoint if there is one). None while
    /// the chain has none. May be lower than before; nobody has to follow it down.
    async fn finalized(&self) -> Result<Option<BlockRef>>;

    /// The block at this height; none where it is not there (yet).
    async fn header(&self, number: BlockNumber) -> Result<Option<Header>>;

    /// The block of this hash; none where it is unknown.
    async fn header_by_hash(&self, hash: BlockHash) -> Result<Option<Header>>;

    /// All headers of the range, ascending, each the parent of the next.
    async fn headers(&self, range: BlockRange) -> Result<Vec<Header>>;

    /// The logs of a range of final blocks that the filters want: complete, sorted, each once, with timestamps.
    async fn logs(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch>;

    /// The blocks after `parent` up to `last` with their logs, from one endpoint and checked to be one chain.
    async fn tip_window(&self, filters: &LogFilters, parent: BlockRef, last: BlockNumber) -> Result<Tip>;

    /// The code at an address as of a block; empty where there is none.
    async fn code_at(&self, address: Address, block: BlockNumber) -> Result<Bytes>;

    /// How many blocks the source likes to be asked for at once, as learned so far. For sizing windows of final blocks.
    fn range_hint(&self) -> u64;

    /// Pause between two looks at a head that has not moved.
    fn poll(&self) -> Duration;

    /// Whether the source has come to an end: no later call shows another head.
    fn finished(&self) -> bool {
        false
    }
}

/// The answer to [`Source::tip_window`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tip {
    /// One piece of chain on top of the parent.
    Window(TipWindow),
    /// No endpoint has this parent on its chain: a reorg, or an endpoint that is behind one. The caller finds out with
    /// [`super::common_ancestor`].
    NotLinked(NotLinked),
}

/// A piece of chain with its logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TipWindow {
    /// Headers, ascending and without gaps; the first one's parent is the window's.
    pub headers: Vec<Header>,
    /// Logs of these blocks that the filters want, sorted; every block hash is one of the headers'.
    pub logs: LogBatch,
}

/// Where a chain parted from the one asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLinked {
    /// The parent asked for.
    pub parent: BlockRef,
    /// The block after it on the endpoint's chain, which has another parent.
    pub found: Header,
    /// Endpoint.
    pub endpoint: String,
}
