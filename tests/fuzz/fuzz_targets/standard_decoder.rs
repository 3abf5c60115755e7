//! Any bytes as the plan and as the logs of the standard decoder: it answers, and accounts for every log.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_sdk::{Decoder, LogBatch};

/// Contracts with every kind of type, so that the data of the logs meet every branch.
const CONFIG: &str = r#"{"contracts":[
    {"alias":"c","addresses":["0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"],"events":["E"],"abis":[[
        {"type":"event","name":"E","inputs":[{"name":"a","type":"uint8"},{"name":"b","type":"string"},
        {"name":"c","type":"bytes[]"},{"name":"d","type":"int72[2][]"},{"name":"e","type":"bool"},
        {"name":"f","type":"tuple[]","components":[{"name":"x","type":"string[]"},{"name":"y","type":"bytes3"}]}]}]]},
    {"alias":"d","addresses":["0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"],"anonymous":["A","B"],"abis":[[
        {"type":"event","name":"A","anonymous":true,"inputs":[{"name":"a","type":"uint256[][]"}]},
        {"type":"event","name":"B","anonymous":true,"inputs":[{"name":"a","type":"string"}]}]]}]}"#;

fuzz_target!(|input: &[u8]| {
    let Some((choice, input)) = input.split_first() else { return };
    let (plan, data) = match choice % 2 {
        0 => (StandardDecoder::plan(CONFIG.as_bytes()).expect("the config is good"), input),
        _ => (input[..input.len() / 2].to_vec(), &input[input.len() / 2..]),
    };
    let Ok(part) = StandardDecoder::describe(&plan) else { return };
    let (Some(first), Some(last)) = (part.filters.first(), part.filters.last()) else { return };
    // A log of the first contract's first event, and one of the last contract without topics.
    let topics = first.topics.first().cloned().unwrap_or_else(|| vec![*choice; 32]);
    let batch = LogBatch {
        chain_id: 1,
        len: 2,
        block_number: vec![first.start_block, u64::MAX],
        block_timestamp: vec![1, 2],
        tx_index: vec![0, 0],
        log_index: vec![0, 0],
        tx_hash: vec![0; 64],
        address: [&first.addresses[0][..], &last.addresses[0]].concat(),
        topics,
        topic_offsets: vec![0, 1, 1],
        data: data.repeat(2),
        data_offsets: vec![0, data.len() as u32, data.len() as u32 * 2],
    };
    let decoded = StandardDecoder::decode(&plan, &batch).expect("plan and batch are good");
    let rows: usize = decoded.tables.iter().map(|rows| rows.source.len()).sum();
    assert_eq!(rows + decoded.rejected.len() + decoded.ignored.len(), 2);
});
