#![allow(clippy::unwrap_used)]
use std::io::Write;

use serde_json::{Value, json};

use super::*;
use crate::chain::{common_ancestor, derived_block_hash};
use crate::model::{B256, LogFilter};

fn hash(number: u64, fork: u8) -> B256 {
    let mut hash = derived_block_hash(number);
    hash.0[0] = fork;
    hash
}

fn block(number: u64, fork: u8, parent_fork: u8, logs: u64) -> Value {
    let block_hash = format!("{:#x}", hash(number, fork));
    let log = |index: u64| {
        json!({
            "address": format!("{:#x}", Address::repeat_byte(fork)), "topics": [], "data": format!("0x{index:02x}"),
            "blockNumber": format!("{number:#x}"), "blockHash": block_hash, "transactionHash": block_hash,
            "transactionIndex": "0x0", "logIndex": format!("{index:#x}"), "removed": false,
        })
    };
    json!({
        "block": {
            "number": format!("{number:#x}"), "hash": block_hash, "timestamp": format!("{:#x}", 1_000 + number),
            "parentHash": format!("{:#x}", hash(number - 1, parent_fork)),
        },
        "logs": (0..logs).map(log).collect::<Vec<_>>(),
    })
}

fn file(lines: &[Value]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
    file
}

/// Blocks 1 to 10 of fork 1; 8 to 10 are replaced by 8 to 11 of fork 2; then 12.
fn reorging() -> Vec<Value> {
    let mut lines = vec![json!({ "format": "nuthatch-chain/1", "chainId": 31337, "start": 5, "finalityDepth": 4 })];
    lines.extend((1..=10).map(|number| block(number, 1, 1, 2)));
    lines.push(json!({ "reorg": { "depth": 3 } }));
    lines.push(block(8, 2, 1, 1));
    lines.extend((9..=12).map(|number| block(number, 2, 2, 1)));
    lines
}

fn everything() -> LogFilters {
    LogFilters::parse(&[LogFilter { addresses: vec![], topics: vec![], start_block: 0 }]).unwrap()
}

fn window(first: u64, last: u64) -> BlockRange {
    BlockRange { first: BlockNumber(first), last: BlockNumber(last) }
}

fn open(lines: &[Value], pace: Pace) -> Result<ReplaySource> {
    ReplaySource::open(file(lines).path(), ReplayOptions { pace, chain: None })
}

fn at(number: u64, fork: u8) -> BlockRef {
    BlockRef { number: BlockNumber(number), hash: hash(number, fork) }
}

#[tokio::test]
async fn a_chain_is_played_block_by_block_and_a_reorg_in_one_step() {
    let source = open(&reorging(), Pace::EachLook).unwrap();
    for number in 5..=10 {
        assert_eq!(source.head().await.unwrap().block_ref(), at(number, 1));
        assert!(!source.finished());
    }
    assert_eq!(source.finalized().await.unwrap(), Some(at(6, 1)));
    let tip = source.tip_window(&everything(), at(6, 1), BlockNumber(10)).await.unwrap();
    let Tip::Window(before) = tip else { panic!("not linked") };
    assert_eq!((before.headers.len(), before.logs.len()), (4, 8));
    assert!(before.logs.iter().all(|log| log.timestamp == 1_000 + log.block.number.0));

    assert_eq!(source.head().await.unwrap().block_ref(), at(11, 2));
    let tip = source.tip_window(&everything(), at(10, 1), BlockNumber(11)).await.unwrap();
    assert!(matches!(tip, Tip::NotLinked(NotLinked { found, .. }) if found.block_ref() == at(11, 2)));
    let known: Vec<BlockRef> = (1..=10).map(|number| at(number, 1)).collect();
    assert_eq!(common_ancestor(&source, &known).await.unwrap(), Some(at(7, 1)));
    let Tip::Window(after) = source.tip_window(&everything(), at(7, 1), BlockNumber(11)).await.unwrap() else {
        panic!("not linked")
    };
    assert_eq!((after.headers.len(), after.logs.len()), (4, 4));
    assert!(after.logs.iter().all(|log| log.address == Address::repeat_byte(2)));

    source.head().await.unwrap();
    assert!(source.finished());
    assert_eq!(source.head().await.unwrap().block_ref(), at(12, 2));
    let logs = source.logs(&everything(), window(1, 12)).await.unwrap();
    assert_eq!(logs.len(), 7 * 2 + 5);
    assert!(logs.is_sorted());
    assert_eq!(source.header_by_hash(hash(9, 1)).await.unwrap(), None);
    assert_eq!(source.header(BlockNumber(13)).await.unwrap(), None);
}

#[tokio::test]
async fn played_at_once_it_shows_the_final_chain() {
    let source = open(&reorging(), Pace::AtOnce).unwrap();
    assert!(source.finished());
    assert_eq!(source.head().await.unwrap().block_ref(), at(12, 2));
    assert_eq!(source.headers(window(6, 9)).await.unwrap().len(), 4);

    let by_the_clock = open(&reorging(), Pace::Every(Duration::from_nanos(1))).unwrap();
    assert_eq!(by_the_clock.head().await.unwrap().block_ref(), at(12, 2));
    let slow = open(&reorging(), Pace::Every(Duration::from_secs(3_600))).unwrap();
    assert_eq!(slow.head().await.unwrap().block_ref(), at(5, 1));
}

#[tokio::test]
async fn plain_logs_come_sorted_with_derived_hashes_and_all_final() {
    let log = |number: u64, index: u64, time: Value| {
        json!({
            "chainId": 5, "address": format!("{:#x}", Address::repeat_byte(9)), "topics": [], "data": "0x",
            "blockNumber": format!("{number:#x}"), "blockHash": null, "blockTimestamp": time,
            "transactionHash": format!("{:#x}", hash(number, 0)), "transactionIndex": "0x0",
            "logIndex": format!("{index:#x}"), "removed": false,
        })
    };
    let lines = [
        log(20, 1, json!("0x64")),
        log(10, 0, json!("0x32")),
        log(20, 0, json!("0x64")),
        log(30, 0, Value::Null),
        log(20, 0, json!("0x64")),
    ];
    let source = open(&lines, Pace::EachLook).unwrap();
    assert_eq!(source.chain_id(), ChainId(5));
    let logs = source.logs(&everything(), window(0, 100)).await.unwrap();
    let places: Vec<_> = logs.iter().map(|log| (log.block.number.0, log.log_index, log.timestamp)).collect();
    assert_eq!(places, [(10, 0, 50), (20, 0, 100), (20, 1, 100), (30, 0, 0)]);
    assert!(logs.iter().all(|log| log.block.hash == derived_block_hash(log.block.number.0)));
    let last = source.finalized().await.unwrap().unwrap();
    assert_eq!(last, BlockRef { number: BlockNumber(30), hash: derived_block_hash(30) });
    assert_eq!(source.head().await.unwrap().number, BlockNumber(30));
    let headers = source.headers(window(9, 30)).await.unwrap();
    check_headers(9, &headers).unwrap();
    assert!(source.finished());
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let mut unlinked = reorging();
    unlinked.remove(4);
    let mut deep = reorging();
    deep.insert(4, json!({ "reorg": { "depth": 3 } }));
    let mut other = reorging();
    other[3]["chainId"] = json!(1);
    let mut odd = reorging();
    odd.insert(6, json!({ "surprise": 1 }));
    let cases: [(&[Value], &str); 7] = [
        (&[], "no line"),
        (&[json!({ "hello": 1 })], "line 1: neither"),
        (&[json!({ "format": "nuthatch-chain/9", "chainId": 1 })], "'nuthatch-chain/9' is not known"),
        (&unlinked, "line 5: block 5 does not follow"),
        (&deep, "line 5: a reorg down to the first block"),
        (&other, "line 4: this line is of chain 1"),
        (&odd, "line 7: neither a block nor a reorg"),
    ];
    for (lines, words) in cases {
        let error = open(lines, Pace::AtOnce).err().unwrap().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[tokio::test]
async fn logs_that_stand_with_another_block_are_refused() {
    let mut lines = reorging();
    lines[3]["logs"][0]["blockHash"] = json!(format!("{:#x}", hash(3, 9)));
    let source = open(&lines, Pace::AtOnce).unwrap();
    let error = source.logs(&everything(), window(1, 5)).await.unwrap_err().to_string();
    assert!(error.contains("line 4: a log of block 3"), "{error}");
}
