//! Real logs and recorded answers of real nodes, through the parser and the replay source.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use alloy_primitives::hex;
use nuthatch::chain::{LogFilters, ReplayOptions, ReplaySource, Source, Tip, derived_block_hash, parse_logs_answer};
use nuthatch::model::{BlockNumber, BlockRange, ChainId, LogFilter, LogView};
use nuthatch_tests::real_data::{self as real, number};
use serde_json::Value;

fn check_log(json: &Value, log: &LogView<'_>) {
    assert_eq!(json["address"].as_str().unwrap(), format!("{:#x}", log.address));
    let topics: Vec<String> = log.topics.iter().map(|topic| format!("{topic:#x}")).collect();
    assert_eq!(json["topics"], serde_json::json!(topics));
    assert_eq!(json["data"].as_str().unwrap(), hex::encode_prefixed(log.data));
    assert_eq!(number(&json["blockNumber"]), log.block.number.0);
    match json["blockHash"].as_str() {
        Some(hash) => assert_eq!(hash, format!("{:#x}", log.block.hash)),
        None => assert_eq!(log.block.hash, derived_block_hash(log.block.number.0)),
    }
    if !json["blockTimestamp"].is_null() {
        assert_eq!(number(&json["blockTimestamp"]), log.timestamp);
    }
    assert_eq!(json["transactionHash"].as_str().unwrap(), format!("{:#x}", log.tx_hash));
    assert_eq!(number(&json["transactionIndex"]), u64::from(log.tx_index));
    assert_eq!(number(&json["logIndex"]), log.log_index);
}

#[tokio::test]
async fn recorded_logs_come_out_as_they_stand_in_the_file() {
    let Some(folder) = real::folder() else { return };
    let everything = LogFilter { addresses: vec![], topics: vec![], start_block: 0 };
    let everything = LogFilters::parse(&[everything]).unwrap();
    let mut all = 0;
    for entry in std::fs::read_dir(folder.join("logs")).unwrap() {
        let mut lines = real::lines(&entry.unwrap().path());
        let mut file = tempfile::NamedTempFile::new().unwrap();
        lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
        lines.sort_by_key(|line| (number(&line["blockNumber"]), number(&line["logIndex"])));
        let source = ReplaySource::open(file.path(), ReplayOptions::default()).unwrap();
        assert_eq!(source.chain_id(), ChainId(lines[0]["chainId"].as_u64().unwrap()));
        let last = source.finalized().await.unwrap().unwrap();
        assert_eq!(last.number.0, lines.iter().map(|line| number(&line["blockNumber"])).max().unwrap());
        let range = BlockRange { first: BlockNumber(0), last: last.number };
        let logs = source.logs(&everything, range).await.unwrap();
        assert_eq!(logs.len(), lines.len());
        lines.iter().zip(logs.iter()).for_each(|(line, log)| check_log(line, &log));
        // The last blocks as a window at the tip: the same logs.
        let parent = source.header(BlockNumber(last.number.0 - 50)).await.unwrap().unwrap();
        let tip = source.tip_window(&everything, parent.block_ref(), last.number).await.unwrap();
        let Tip::Window(window) = tip else { panic!("not linked") };
        let range = BlockRange { first: parent.number.next(), last: last.number };
        assert_eq!(window.headers.len(), 50);
        assert_eq!(window.logs.len(), logs.within(range).len());
        all += logs.len();
    }
    assert_eq!(all, 17_742);
}

#[test]
fn answers_of_real_nodes_parse() {
    let Some(folder) = real::folder() else { return };
    let (mut answers, mut logs) = (0, 0);
    for pair in real::lines(&folder.join("tapes/rpc_tests_pairs.jsonl.gz")) {
        let Some(expected) = pair["response"]["result"].as_array() else { continue };
        if pair["request"]["method"] != "eth_getLogs" {
            continue;
        }
        let batch = parse_logs_answer(pair["response"].to_string().as_bytes(), ChainId(1)).unwrap();
        assert_eq!(batch.len(), expected.len());
        expected.iter().zip(batch.iter()).for_each(|(json, log)| {
            check_log(json, &log);
        });
        answers += 1;
        logs += batch.len();
    }
    assert!(answers >= 10 && logs >= 1_000, "{answers} answers with {logs} logs");
}
