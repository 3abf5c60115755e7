//! The chain that the demo replays is the one that its generator makes, and is a chain.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use alloy_dyn_abi::EventExt as _;
use alloy_json_abi::JsonAbi;
use alloy_primitives::{Address, B256, BloomInput, I256, U256};
use nuthatch_tests::demo_chain::{self, Block, FORK, HEAD, LOST_HEAD};

fn assets() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../host/assets/demo"))
}

/// The blocks of the branch that stays.
fn kept(blocks: &[Block]) -> BTreeMap<u64, &Block> {
    blocks.iter().map(|block| (block.number, block)).collect()
}

#[test]
fn the_committed_recording_is_what_the_generator_writes() {
    let committed = std::fs::read_to_string(assets().join("chain.jsonl")).unwrap();
    assert!(committed.len() <= 3_000_000, "{} bytes", committed.len());
    assert!(
        committed == demo_chain::record(&demo_chain::blocks()),
        "chain.jsonl is not up to date; run `cargo run --bin demo-chain`"
    );
}

#[test]
fn blocks_are_linked_and_their_blooms_hold_their_logs() {
    let blocks = demo_chain::blocks();
    let by_hash: BTreeMap<B256, &Block> = blocks.iter().map(|block| (block.hash, block)).collect();
    assert_eq!(by_hash.len(), blocks.len(), "every block has a hash of its own");
    for block in blocks.iter().skip(1) {
        let parent = by_hash[&block.parent_hash];
        assert_eq!(parent.number + 1, block.number);
        assert!(parent.timestamp < block.timestamp);
        for log in &block.logs {
            assert!(block.bloom.contains_input(BloomInput::Raw(log.address.as_slice())));
            assert!(log.topics.iter().all(|topic| block.bloom.contains_input(BloomInput::Raw(topic.as_slice()))));
        }
    }
    assert_eq!(kept(&blocks).last_key_value().map(|(number, _)| *number), Some(HEAD));
}

#[test]
fn the_reorg_takes_back_rows_and_brings_others() {
    let blocks = demo_chain::blocks();
    let branches = |number: u64| blocks.iter().filter(move |block| block.number == number).count();
    assert!((FORK + 1..=LOST_HEAD).all(|number| branches(number) == 2));
    assert!((3..=6).contains(&(LOST_HEAD - FORK)));
    assert_eq!((branches(FORK), branches(LOST_HEAD + 1)), (1, 1));
    let kept_hashes: Vec<B256> = kept(&blocks).values().map(|block| block.hash).collect();
    let lost: usize = blocks.iter().filter(|block| !kept_hashes.contains(&block.hash)).map(|b| b.logs.len()).sum();
    let gained: usize = kept(&blocks).range(FORK + 1..=LOST_HEAD).map(|(_, block)| block.logs.len()).sum();
    assert!(lost > 0 && gained > 0, "{lost} rows lost, {gained} gained");
}

/// Event name and values, by contract, in the order of the chain that stays.
fn decoded() -> BTreeMap<&'static str, Vec<(String, Vec<alloy_dyn_abi::DynSolValue>)>> {
    let blocks = demo_chain::blocks();
    let mut all: BTreeMap<&'static str, Vec<_>> = BTreeMap::new();
    let contracts: BTreeMap<Address, (&'static str, JsonAbi)> = ["acorn", "pool", "pair"]
        .into_iter()
        .map(|name| {
            let text = std::fs::read_to_string(assets().join(format!("abis/{name}.json"))).unwrap();
            (demo_chain::account(name), (name, serde_json::from_str(&text).unwrap()))
        })
        .collect();
    for log in kept(&blocks).values().flat_map(|block| &block.logs) {
        let (name, abi) = &contracts[&log.address];
        let event = abi.events().find(|event| event.selector() == log.topics[0]).unwrap();
        let decoded = event.decode_log_parts(log.topics.iter().copied(), &log.data).unwrap();
        all.entry(name).or_default().push((event.name.clone(), [decoded.indexed, decoded.body].concat()));
    }
    all
}

#[test]
fn an_independent_decoder_reads_every_log_by_the_committed_abis() {
    let all = decoded();
    let count = |contract: &str, event: &str| all[contract].iter().filter(|(name, _)| name == event).count();
    for (contract, event) in [
        ("acorn", "Transfer"),
        ("acorn", "Approval"),
        ("pool", "Swap"),
        ("pair", "Swap"),
        ("pair", "Sync"),
        ("pair", "Noted"),
    ] {
        assert!(count(contract, event) >= 20, "{contract} {event}: {}", count(contract, event));
    }
    let unlimited = all["acorn"]
        .iter()
        .filter(|(name, values)| name == "Approval" && values[2].as_uint().map(|(value, _)| value) == Some(U256::MAX));
    assert_eq!(unlimited.count(), 1);
    let ticks: Vec<I256> =
        all["pool"].iter().filter_map(|(_, values)| values[6].as_int().map(|(tick, _)| tick)).collect();
    assert!(ticks.iter().any(|tick| tick.is_negative()) && ticks.iter().any(|tick| tick.is_positive()));
}

#[test]
fn no_account_ever_spends_what_it_does_not_have() {
    let mut balances: BTreeMap<Address, U256> = BTreeMap::new();
    for (name, values) in &decoded()["acorn"] {
        if name != "Transfer" {
            continue;
        }
        let (from, to) = (values[0].as_address().unwrap(), values[1].as_address().unwrap());
        let (value, _) = values[2].as_uint().unwrap();
        if from != Address::ZERO {
            let balance = balances.entry(from).or_default();
            *balance = balance.checked_sub(value).unwrap();
        }
        *balances.entry(to).or_default() += value;
    }
    assert!(balances.len() > 20);
}
