//! A chain whose every block follows from a seed, a branch and a number.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alloy_primitives::{Address, B256, Bloom, U256, b256, keccak256};
use nuthatch::model::{BlockNumber, BlockRange, BlockRef, ChainId, Header, LogBatch, LogView};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// First topic of ERC-20 `Transfer`.
pub const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// First topic of ERC-20 `Approval`.
pub const APPROVAL: B256 = b256!("8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925");

/// Tokens that emit.
const CONTRACTS: u8 = 5;

#[derive(Clone)]
pub(super) struct MockLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
    pub tx_hash: B256,
    pub tx_index: u32,
    pub log_index: u64,
}

#[derive(Clone)]
pub(super) struct MockBlock {
    pub header: Header,
    pub logs: Vec<MockLog>,
}

struct State {
    seed: u64,
    /// Blocks made from here on are of this branch.
    branch: u64,
    blocks: Vec<MockBlock>,
    /// The last block that a reorg took away, for logs that name it.
    orphans: Vec<MockBlock>,
}

/// A chain. Clones are handles on the same one.
#[derive(Clone)]
pub struct MockChain {
    state: Arc<Mutex<State>>,
    chain_id: ChainId,
    finality: u64,
}

impl MockChain {
    /// A chain of id 31337 with blocks 0 to `head`.
    pub fn new(seed: u64, head: u64) -> Self {
        let state = State { seed, branch: 0, blocks: Vec::new(), orphans: Vec::new() };
        let chain = MockChain { state: Arc::new(Mutex::new(state)), chain_id: ChainId(31_337), finality: 16 };
        chain.advance(head + 1);
        chain
    }

    /// The same chain under another id.
    pub fn with_chain_id(mut self, id: u64) -> Self {
        self.chain_id = ChainId(id);
        self
    }

    /// The chain's id.
    pub fn chain_id(&self) -> ChainId {
        self.chain_id
    }

    /// How far the final block lies under the head.
    pub fn finality(&self) -> u64 {
        self.finality
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds blocks.
    pub fn advance(&self, blocks: u64) {
        let mut state = self.state();
        (0..blocks).for_each(|_| state.grow(None));
    }

    /// Adds a block that ends with a transfer of the largest value there is, by this token.
    pub fn advance_marked(&self, token: Address) {
        self.state().grow(Some(token));
    }

    /// Replaces the last `depth` blocks by as many others.
    pub fn reorg(&self, depth: u64) {
        let mut state = self.state();
        let keep = state.blocks.len() - depth as usize;
        state.orphans = state.blocks.split_off(keep);
        state.branch += 1;
        (0..depth).for_each(|_| state.grow(None));
    }

    /// Takes the last blocks away and puts nothing in their place.
    pub fn shrink(&self, blocks: u64) {
        let mut state = self.state();
        let keep = state.blocks.len() - blocks as usize;
        state.orphans = state.blocks.split_off(keep);
    }

    /// A chain of its own that parts from this one under its last `depth` blocks.
    pub fn fork(&self, depth: u64) -> MockChain {
        let state = self.state();
        let mut other =
            State { seed: state.seed, branch: state.branch + 1_000, blocks: state.blocks.clone(), orphans: Vec::new() };
        let keep = other.blocks.len() - depth as usize;
        other.orphans = other.blocks.split_off(keep);
        (0..depth).for_each(|_| other.grow(None));
        MockChain { state: Arc::new(Mutex::new(other)), ..self.clone() }
    }

    /// The tokens, in order.
    pub fn contracts(&self) -> Vec<Address> {
        (0..CONTRACTS).map(contract).collect()
    }

    /// The last block.
    pub fn head(&self) -> BlockRef {
        self.state().blocks.last().map(|block| block.header.block_ref()).expect("a chain has a block 0")
    }

    /// The final block, as the `finalized` tag gives it.
    pub fn final_block(&self) -> BlockRef {
        let number = self.head().number.0.saturating_sub(self.finality);
        self.header(number).expect("below the head").block_ref()
    }

    /// A block's header.
    pub fn header(&self, number: u64) -> Option<Header> {
        self.block(number).map(|block| block.header)
    }

    pub(super) fn block(&self, number: u64) -> Option<MockBlock> {
        self.state().blocks.get(number as usize).cloned()
    }

    pub(super) fn block_of(&self, hash: B256) -> Option<MockBlock> {
        self.state().blocks.iter().find(|block| block.header.hash == hash).cloned()
    }

    /// The block that a reorg took from this height.
    pub(super) fn orphan(&self, number: u64) -> Option<MockBlock> {
        self.state().orphans.iter().find(|block| block.header.number.0 == number).cloned()
    }

    /// All logs of a range, as a perfect node would give them.
    pub fn logs(&self, first: u64, last: u64) -> LogBatch {
        let mut batch = LogBatch::new(self.chain_id);
        for block in self.state().blocks.iter().filter(|block| (first..=last).contains(&block.header.number.0)) {
            for log in &block.logs {
                batch.push(LogView {
                    block: block.header.block_ref(),
                    timestamp: block.header.timestamp,
                    tx_index: log.tx_index,
                    log_index: log.log_index,
                    tx_hash: log.tx_hash,
                    address: log.address,
                    topics: &log.topics,
                    data: &log.data,
                });
            }
        }
        batch
    }

    /// Blocks 0 to the head.
    pub fn whole(&self) -> BlockRange {
        BlockRange { first: BlockNumber(0), last: self.head().number }
    }
}

fn contract(place: u8) -> Address {
    Address::from_word(keccak256([b't', b'o', b'k', place]))
}

impl State {
    fn grow(&mut self, marked: Option<Address>) {
        let number = self.blocks.len() as u64;
        let parent = self.blocks.last().map_or(B256::ZERO, |block| block.header.hash);
        let mut name = Vec::new();
        name.extend_from_slice(parent.as_slice());
        [self.seed, self.branch, number].iter().for_each(|part| name.extend_from_slice(&part.to_be_bytes()));
        name.extend(marked.iter().flat_map(|token| token.0.0));
        let hash = keccak256(&name);
        let mut logs = logs_of(hash);
        if let Some(token) = marked {
            let (tx_index, log_index) = logs.last().map_or((0, 0), |log| (log.tx_index, log.log_index + 1));
            let tx_hash = keccak256([hash.as_slice(), &tx_index.to_be_bytes()].concat());
            let topics = vec![TRANSFER, token.into_word(), token.into_word()];
            logs.push(MockLog { address: token, topics, data: vec![0xff; 32], tx_hash, tx_index, log_index });
        }
        let mut bloom = Bloom::ZERO;
        logs.iter().for_each(|log| bloom.accrue_raw_log(log.address, &log.topics));
        let header = Header {
            number: BlockNumber(number),
            hash,
            parent_hash: parent,
            timestamp: 1_600_000_000 + 12 * number,
            logs_bloom: Some(Box::new(bloom)),
        };
        self.blocks.push(MockBlock { header, logs });
    }
}

/// Up to seven logs: transfers and approvals, and now and then one without topics. Every fourth block has none.
fn logs_of(hash: B256) -> Vec<MockLog> {
    let mut random = StdRng::from_seed(hash.0);
    let count = if random.random_ratio(1, 4) { 0 } else { random.random_range(1..=7_u64) };
    let person = |random: &mut StdRng| Address::from_word(keccak256([b'p', random.random_range(0..50_u8)])).into_word();
    let mut tx_index = 0;
    let log = |log_index| {
        tx_index += u32::from(random.random_ratio(1, 2));
        let (from, to) = (person(&mut random), person(&mut random));
        let topics = match random.random_range(0..10_u8) {
            0 => Vec::new(),
            1 | 2 => vec![APPROVAL, from, to],
            _ => vec![TRANSFER, from, to],
        };
        MockLog {
            address: contract(random.random_range(0..CONTRACTS)),
            topics,
            data: U256::from(random.random::<u128>()).to_be_bytes_vec(),
            tx_hash: keccak256([hash.as_slice(), &tx_index.to_be_bytes()].concat()),
            tx_index,
            log_index,
        }
    };
    (0..count).map(log).collect()
}
