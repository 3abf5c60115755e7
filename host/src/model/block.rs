//! Blocks: numbers, hashes, ranges, headers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// 32 bytes: a hash, a topic.
pub type B256 = alloy_primitives::B256;
/// 20 bytes: an account.
pub type Address = alloy_primitives::Address;
/// The hash that names a block.
pub type BlockHash = B256;

/// An EIP-155 chain id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChainId(pub u64);

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A block's height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockNumber(pub u64);

impl BlockNumber {
    /// The next block.
    pub fn next(self) -> Self {
        BlockNumber(self.0.saturating_add(1))
    }

    /// The block before, if this is not the first.
    pub fn prev(self) -> Option<Self> {
        self.0.checked_sub(1).map(BlockNumber)
    }
}

impl fmt::Display for BlockNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A block by number and hash: what a cursor stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockRef {
    /// Height.
    pub number: BlockNumber,
    /// Hash.
    pub hash: BlockHash,
}

impl fmt::Display for BlockRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.number, self.hash)
    }
}

/// Blocks from `first` to `last`, both included. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BlockRange {
    /// First block.
    pub first: BlockNumber,
    /// Last block, not before `first`.
    pub last: BlockNumber,
}

impl BlockRange {
    /// The range, or none where `last` lies before `first`.
    pub fn new(first: BlockNumber, last: BlockNumber) -> Option<Self> {
        (first <= last).then_some(BlockRange { first, last })
    }

    /// From the same first block up to this one, or as far as it goes already.
    pub fn through(self, last: BlockNumber) -> Self {
        BlockRange { last: self.last.max(last), ..self }
    }

    /// How many blocks.
    pub fn blocks(self) -> u64 {
        (self.last.0 - self.first.0).saturating_add(1)
    }

    /// Whether the block lies in the range.
    pub fn contains(self, block: BlockNumber) -> bool {
        self.first <= block && block <= self.last
    }
}

impl fmt::Display for BlockRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..={}", self.first, self.last)
    }
}

/// What the cursor needs of a block's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Height.
    pub number: BlockNumber,
    /// Hash.
    pub hash: BlockHash,
    /// The parent's hash.
    pub parent_hash: BlockHash,
    /// Unix seconds.
    pub timestamp: u64,
    /// The bloom over the block's logs, where the node gives it.
    pub logs_bloom: Option<Box<alloy_primitives::Bloom>>,
}

impl Header {
    /// Number and hash.
    pub fn block_ref(&self) -> BlockRef {
        BlockRef { number: self.number, hash: self.hash }
    }
}
