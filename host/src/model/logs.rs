//! Logs as columns: the one form in which logs travel from the wire to the guest.

use super::{Address, B256, BlockHash, BlockNumber, BlockRange, BlockRef, ChainId};

/// Logs of one chain as columns. Sorted by (block number, log index) once [`LogBatch::sort`] has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogBatch {
    /// Chain of every log.
    pub chain_id: ChainId,
    /// Block numbers.
    pub block_number: Vec<u64>,
    /// Block hashes.
    pub block_hash: Vec<BlockHash>,
    /// Unix seconds; 0 where the node gave none and no header has filled it in yet.
    pub block_timestamp: Vec<u64>,
    /// Index of the transaction in its block.
    pub tx_index: Vec<u32>,
    /// Index of the log in its block.
    pub log_index: Vec<u64>,
    /// Transaction hashes.
    pub tx_hash: Vec<B256>,
    /// Emitting contracts.
    pub address: Vec<Address>,
    /// All topics, one after the other.
    pub topics: Vec<B256>,
    /// `len + 1` offsets into `topics`.
    pub topic_offsets: Vec<u32>,
    /// All data, one after the other.
    pub data: Vec<u8>,
    /// `len + 1` offsets into `data`.
    pub data_offsets: Vec<u32>,
}

/// One log of a batch, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogView<'a> {
    /// Block it stands in.
    pub block: BlockRef,
    /// Unix seconds, 0 when unknown.
    pub timestamp: u64,
    /// Index of the transaction in its block.
    pub tx_index: u32,
    /// Index of the log in its block.
    pub log_index: u64,
    /// Transaction.
    pub tx_hash: B256,
    /// Emitting contract.
    pub address: Address,
    /// Zero to four topics.
    pub topics: &'a [B256],
    /// Data.
    pub data: &'a [u8],
}

impl LogBatch {
    /// An empty batch.
    pub fn new(chain_id: ChainId) -> Self {
        LogBatch {
            chain_id,
            block_number: Vec::new(),
            block_hash: Vec::new(),
            block_timestamp: Vec::new(),
            tx_index: Vec::new(),
            log_index: Vec::new(),
            tx_hash: Vec::new(),
            address: Vec::new(),
            topics: Vec::new(),
            topic_offsets: vec![0],
            data: Vec::new(),
            data_offsets: vec![0],
        }
    }

    /// Number of logs.
    pub fn len(&self) -> usize {
        self.block_number.len()
    }

    /// Whether there is no log.
    pub fn is_empty(&self) -> bool {
        self.block_number.is_empty()
    }

    /// Bytes that the batch holds, for bounding memory.
    pub fn bytes(&self) -> usize {
        self.len() * (8 + 32 + 8 + 4 + 8 + 32 + 20 + 4 + 4) + self.topics.len() * 32 + self.data.len()
    }

    /// The log at `index`; panics past the end, as slices do.
    pub fn get(&self, index: usize) -> LogView<'_> {
        let topics = self.topic_offsets[index] as usize..self.topic_offsets[index + 1] as usize;
        let data = self.data_offsets[index] as usize..self.data_offsets[index + 1] as usize;
        LogView {
            block: BlockRef { number: BlockNumber(self.block_number[index]), hash: self.block_hash[index] },
            timestamp: self.block_timestamp[index],
            tx_index: self.tx_index[index],
            log_index: self.log_index[index],
            tx_hash: self.tx_hash[index],
            address: self.address[index],
            topics: &self.topics[topics],
            data: &self.data[data],
        }
    }

    /// All logs in order.
    pub fn iter(&self) -> impl Iterator<Item = LogView<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Makes room for so many more logs, of the size of token transfers.
    pub fn reserve(&mut self, logs: usize) {
        self.block_number.reserve(logs);
        self.block_hash.reserve(logs);
        self.block_timestamp.reserve(logs);
        self.tx_index.reserve(logs);
        self.log_index.reserve(logs);
        self.tx_hash.reserve(logs);
        self.address.reserve(logs);
        self.topics.reserve(logs * 3);
        self.topic_offsets.reserve(logs);
        self.data.reserve(logs * 32);
        self.data_offsets.reserve(logs);
    }

    /// Appends one log.
    pub fn push(&mut self, log: LogView<'_>) {
        self.block_number.push(log.block.number.0);
        self.block_hash.push(log.block.hash);
        self.block_timestamp.push(log.timestamp);
        self.tx_index.push(log.tx_index);
        self.log_index.push(log.log_index);
        self.tx_hash.push(log.tx_hash);
        self.address.push(log.address);
        self.topics.extend_from_slice(log.topics);
        self.topic_offsets.push(self.topics.len() as u32);
        self.data.extend_from_slice(log.data);
        self.data_offsets.push(self.data.len() as u32);
    }

    /// Appends all logs of another batch of the same chain.
    pub fn append(&mut self, other: &LogBatch) {
        debug_assert_eq!(self.chain_id, other.chain_id);
        let topics = self.topics.len() as u32;
        let data = self.data.len() as u32;
        self.block_number.extend_from_slice(&other.block_number);
        self.block_hash.extend_from_slice(&other.block_hash);
        self.block_timestamp.extend_from_slice(&other.block_timestamp);
        self.tx_index.extend_from_slice(&other.tx_index);
        self.log_index.extend_from_slice(&other.log_index);
        self.tx_hash.extend_from_slice(&other.tx_hash);
        self.address.extend_from_slice(&other.address);
        self.topics.extend_from_slice(&other.topics);
        self.topic_offsets.extend(other.topic_offsets[1..].iter().map(|offset| offset + topics));
        self.data.extend_from_slice(&other.data);
        self.data_offsets.extend(other.data_offsets[1..].iter().map(|offset| offset + data));
    }

    /// The logs at these places, in this order.
    pub fn select(&self, places: impl IntoIterator<Item = usize>) -> LogBatch {
        let mut picked = LogBatch::new(self.chain_id);
        for place in places {
            picked.push(self.get(place));
        }
        picked
    }

    /// The logs at `first..last`.
    pub fn slice(&self, first: usize, last: usize) -> LogBatch {
        self.select(first..last)
    }

    /// The logs whose block lies in the range.
    pub fn within(&self, range: BlockRange) -> LogBatch {
        self.select((0..self.len()).filter(|&place| range.contains(BlockNumber(self.block_number[place]))))
    }

    /// Whether the logs stand in (block number, log index) order, each place once.
    pub fn is_sorted(&self) -> bool {
        (1..self.len()).all(|place| self.order_key(place - 1) < self.order_key(place))
    }

    /// Sorts by (block number, log index) and drops exact repetitions of a place. Does nothing to a sorted batch.
    pub fn sort(&mut self) {
        if self.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&place| self.order_key(place));
        order.dedup_by(|a, b| self.get(*a) == self.get(*b));
        *self = self.select(order);
    }

    fn order_key(&self, place: usize) -> (u64, u64) {
        (self.block_number[place], self.log_index[place])
    }
}
