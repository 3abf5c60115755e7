//! Blocks and logs, linked by hash, with true blooms.

use alloy_primitives::{Address, B256, Bloom, BloomInput, keccak256};

/// 2026-01-01 00:00:00 UTC.
const BEGIN: u64 = 1_767_225_600;
/// Seconds between two blocks: the chain spans about nine days.
const STEP: u64 = 384;

#[derive(Clone, Debug)]
pub struct Log {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
    pub tx_hash: B256,
    pub tx_index: u32,
    pub log_index: u64,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub timestamp: u64,
    pub bloom: Box<Bloom>,
    pub logs: Vec<Log>,
}

/// What a transaction emitted.
pub struct Emitted {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Vec<u8>,
}

impl Block {
    pub fn genesis() -> Self {
        Block::sealed(0, B256::ZERO, Vec::new())
    }

    /// The next block: one transaction for each entry.
    pub fn on(parent: &Block, transactions: Vec<Vec<Emitted>>) -> Self {
        let number = parent.number + 1;
        let mut logs = Vec::new();
        for (tx_index, emitted) in transactions.into_iter().enumerate() {
            let contents: Vec<u8> = emitted.iter().flat_map(|log| log.data.iter().copied()).collect();
            let tx_hash = keccak256(
                [parent.hash.as_slice(), &(tx_index as u64).to_be_bytes(), keccak256(&contents).as_slice()].concat(),
            );
            for log in emitted {
                let log_index = logs.len() as u64;
                let Emitted { address, topics, data } = log;
                logs.push(Log { address, topics, data, tx_hash, tx_index: tx_index as u32, log_index });
            }
        }
        Block::sealed(number, parent.hash, logs)
    }

    fn sealed(number: u64, parent_hash: B256, logs: Vec<Log>) -> Self {
        let timestamp = BEGIN + number * STEP;
        let mut bloom = Box::new(Bloom::ZERO);
        let mut contents = Vec::new();
        for log in &logs {
            bloom.accrue(BloomInput::Raw(log.address.as_slice()));
            for topic in &log.topics {
                bloom.accrue(BloomInput::Raw(topic.as_slice()));
                contents.extend_from_slice(topic.as_slice());
            }
            contents.extend_from_slice(log.tx_hash.as_slice());
        }
        let hash = keccak256(
            [
                b"nuthatch demo block".as_slice(),
                &number.to_be_bytes(),
                parent_hash.as_slice(),
                &timestamp.to_be_bytes(),
                keccak256(&contents).as_slice(),
            ]
            .concat(),
        );
        Block { number, hash, parent_hash, timestamp, bloom, logs }
    }
}
