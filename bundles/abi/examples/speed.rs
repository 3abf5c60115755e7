//! Nanoseconds a log: this decoder, a columnar decoder written by hand for one event, and alloy-dyn-abi into the same
//! arrays. `cargo run --release -p nuthatch-bundle-abi --example speed`
#![allow(clippy::unwrap_used)]

use std::hint::black_box;
use std::time::Instant;

use alloy_dyn_abi::{DynSolEvent, DynSolType, DynSolValue};
use alloy_primitives::{B256, U256, keccak256};
use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_sdk::{Decoder, LogBatch, Logs};

const LOGS: usize = 10_000;
const ADDRESS: [u8; 20] = [0xaa; 20];

fn batch(signatures: &[(B256, usize, usize)]) -> LogBatch {
    let mut batch = LogBatch {
        chain_id: 1,
        len: LOGS as u32,
        block_number: (0..LOGS as u64).collect(),
        block_timestamp: vec![1_700_000_000; LOGS],
        tx_index: vec![0; LOGS],
        log_index: vec![0; LOGS],
        tx_hash: vec![0; LOGS * 32],
        address: ADDRESS.repeat(LOGS),
        topics: Vec::new(),
        topic_offsets: vec![0],
        data: Vec::new(),
        data_offsets: vec![0],
    };
    for log in 0..LOGS {
        let (topic0, topics, words) = signatures[log % signatures.len()];
        let small = |place: usize| B256::from(U256::from(log * 31 + place));
        batch.topics.extend(topic0);
        (0..topics).for_each(|place| batch.topics.extend(small(place)));
        batch.topic_offsets.push(batch.topics.len() as u32 / 32);
        (0..words).for_each(|place| batch.data.extend(small(place)));
        batch.data_offsets.push(batch.data.len() as u32);
    }
    batch
}

/// Best of many runs.
fn measure(what: &str, mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..60 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_nanos() as f64 / LOGS as f64);
    }
    println!("  {what:<14}{best:>9.1} ns a log");
    best
}

/// What one would write for ERC-20 transfers and nothing else.
fn by_hand(batch: &LogBatch, topic0: &B256) -> (Vec<u32>, Vec<u8>, Vec<u8>, Vec<u8>) {
    let logs = Logs::new(batch).unwrap();
    let (mut source, mut from, mut to, mut value) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    source.reserve(LOGS);
    from.reserve(LOGS * 20);
    to.reserve(LOGS * 20);
    value.reserve(LOGS * 32);
    for log in 0..logs.len() {
        let (topics, data) = (logs.topics(log), logs.data(log));
        if batch.address[log * 20..log * 20 + 20] == ADDRESS
            && topics.len() == 3
            && topics[0] == topic0.0
            && data.len() >= 32
        {
            if topics[1][..12] != [0; 12] || topics[2][..12] != [0; 12] {
                continue;
            }
            source.push(log as u32);
            from.extend_from_slice(&topics[1][12..]);
            to.extend_from_slice(&topics[2][12..]);
            value.extend_from_slice(&data[..32]);
        }
    }
    (source, from, to, value)
}

/// alloy's decoder, its values into one array a column.
fn by_alloy(batch: &LogBatch, event: &DynSolEvent) -> (Vec<u32>, Vec<u8>, Vec<u8>, Vec<u8>) {
    let logs = Logs::new(batch).unwrap();
    let (mut source, mut from, mut to, mut value) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for log in logs.iter() {
        let topics = log.topics.iter().map(|topic| B256::from(*topic));
        let Ok(decoded) = event.decode_log_parts(topics, log.data) else { continue };
        match (&decoded.indexed[..], &decoded.body[..]) {
            ([DynSolValue::Address(a), DynSolValue::Address(b)], [DynSolValue::Uint(n, _)]) => {
                source.push(log.index);
                from.extend_from_slice(a.as_slice());
                to.extend_from_slice(b.as_slice());
                value.extend_from_slice(&n.to_be_bytes::<32>());
            }
            other => panic!("{other:?}"),
        }
    }
    (source, from, to, value)
}

fn main() {
    let transfer = keccak256("Transfer(address,address,uint256)");
    let approval = keccak256("Approval(address,address,uint256)");
    let swap = keccak256("Swap(address,address,int256,int256,uint160,uint128,int24)");
    let note = keccak256("Note(address,string,uint256[])");
    let erc20 = r#"{"type":"event","name":"NAME","inputs":[{"name":"from","type":"address","indexed":true},
        {"name":"to","type":"address","indexed":true},{"name":"value","type":"uint256"}]}"#;
    let abi = format!(
        r#"[{},{},{{"type":"event","name":"Swap","inputs":[{{"name":"sender","type":"address","indexed":true}},
        {{"name":"recipient","type":"address","indexed":true}},{{"name":"amount0","type":"int256"}},
        {{"name":"amount1","type":"int256"}},{{"name":"sqrtPriceX96","type":"uint160"}},
        {{"name":"liquidity","type":"uint128"}},{{"name":"tick","type":"int24"}}]}},
        {{"type":"event","name":"Note","inputs":[{{"name":"who","type":"address","indexed":true}},
        {{"name":"text","type":"string"}},{{"name":"ids","type":"uint256[]"}}]}}]"#,
        erc20.replace("NAME", "Transfer"),
        erc20.replace("NAME", "Approval"),
    );
    let config = format!(
        r#"{{"contracts":[{{"alias":"c","addresses":["0x{}"],"start_block":0,"abis":[{abi}]}}]}}"#,
        "aa".repeat(20)
    );
    let plan = StandardDecoder::plan(config.as_bytes()).unwrap();
    println!("plan: {} bytes", plan.len());

    println!("ERC-20 transfers");
    let transfers = batch(&[(transfer, 2, 1)]);
    let ours = measure("standard", || {
        black_box(StandardDecoder::decode(&plan, &transfers).unwrap());
    });
    let hand = measure("by hand", || {
        black_box(by_hand(&transfers, &transfer));
    });
    let indexed = vec![DynSolType::Address, DynSolType::Address];
    let event = DynSolEvent::new(Some(transfer), indexed, DynSolType::Tuple(vec![DynSolType::Uint(256)])).unwrap();
    let alloy = measure("alloy-dyn-abi", || {
        black_box(by_alloy(&transfers, &event));
    });
    println!("  {:.2} times by hand, 1/{:.1} of alloy-dyn-abi", ours / hand, alloy / ours);
    let decoded = StandardDecoder::decode(&plan, &transfers).unwrap();
    assert_eq!(decoded.tables[0].source, by_hand(&transfers, &transfer).0);

    println!("transfers, approvals and swaps by turns");
    let mixed = batch(&[(transfer, 2, 1), (swap, 2, 5), (approval, 2, 1)]);
    measure("standard", || {
        black_box(StandardDecoder::decode(&plan, &mixed).unwrap());
    });

    println!("a string and three numbers");
    let mut notes = batch(&[(note, 1, 0)]);
    notes.data_offsets = vec![0];
    for log in 0..LOGS {
        let ids = (0..3).map(|id| DynSolValue::Uint(U256::from(log * 1_000_003 + id), 256)).collect();
        let body = DynSolValue::Tuple(vec![DynSolValue::String(format!("note number {log}")), DynSolValue::Array(ids)]);
        notes.data.extend(body.abi_encode_params());
        notes.data_offsets.push(notes.data.len() as u32);
    }
    measure("standard", || {
        black_box(StandardDecoder::decode(&plan, &notes).unwrap());
    });
}
