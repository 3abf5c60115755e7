#![allow(clippy::unwrap_used)]
use super::*;
use crate::model::{Address, B256, BlockNumber, ChainId, LogView};

fn hash(number: u64) -> B256 {
    B256::left_padding_from(&(number + 1).to_be_bytes())
}

fn header(number: u64) -> Header {
    Header {
        number: BlockNumber(number),
        hash: hash(number),
        parent_hash: hash(number - 1),
        timestamp: 100 + number,
        logs_bloom: None,
    }
}

fn batch(logs: &[(u64, u64, u64)]) -> LogBatch {
    let mut batch = LogBatch::new(ChainId(1));
    for &(number, log_index, timestamp) in logs {
        batch.push(LogView {
            block: BlockRef { number: BlockNumber(number), hash: hash(number) },
            timestamp,
            tx_index: 0,
            log_index,
            tx_hash: B256::ZERO,
            address: Address::ZERO,
            topics: &[],
            data: &[],
        });
    }
    batch
}

#[test]
fn order_and_repetitions_are_mended_and_contradictions_are_not() {
    let mut mixed = batch(&[(2, 1, 5), (1, 0, 4), (2, 0, 5), (2, 1, 5)]);
    settle(&mut mixed).unwrap();
    assert_eq!(mixed, batch(&[(1, 0, 4), (2, 0, 5), (2, 1, 5)]));

    let mut two_logs = batch(&[(2, 1, 5), (2, 1, 5)]);
    two_logs.address[0] = Address::repeat_byte(1);
    assert_eq!(settle(&mut two_logs).unwrap_err(), "two different logs at block 2, log 1");

    let mut two_hashes = batch(&[(2, 0, 5), (2, 1, 5)]);
    two_hashes.block_hash[1] = B256::ZERO;
    assert_eq!(settle(&mut two_hashes).unwrap_err(), "logs of block 2 name two block hashes");
}

#[test]
fn missing_times_are_filled_from_headers_of_the_same_blocks_only() {
    let mut logs = batch(&[(1, 0, 0), (1, 1, 0), (2, 0, 7), (3, 0, 0)]);
    assert_eq!(blocks_without_time(&logs), [1, 3]);
    fill_times(&mut logs, &[header(1), header(3)]).unwrap();
    assert_eq!(logs.block_timestamp, [101, 101, 7, 103]);
    let other = Header { hash: B256::ZERO, ..header(1) };
    assert!(fill_times(&mut logs, &[other]).unwrap_err().contains("that block's header says"));
}

#[test]
fn headers_must_be_the_ones_asked_for_and_link() {
    check_headers(4, &[header(4), header(5)]).unwrap();
    assert!(check_headers(4, &[header(5)]).unwrap_err().contains("block 5 came where block 4"));
    let broken = Header { parent_hash: B256::ZERO, ..header(5) };
    assert!(check_headers(4, &[header(4), broken]).unwrap_err().contains("is not the parent of"));
}

#[test]
fn every_log_must_stand_in_a_header_of_the_window() {
    let headers = [header(4), header(5)];
    let mut logs = batch(&[(4, 0, 0), (5, 0, 99)]);
    check_logs_stand_in(&headers, &mut logs).unwrap();
    assert_eq!(logs.block_timestamp, [104, 105]);
    for number in [3, 6] {
        assert!(check_logs_stand_in(&headers, &mut batch(&[(number, 0, 0)])).unwrap_err().contains("not asked for"));
    }
    logs.block_hash[1] = B256::ZERO;
    assert!(check_logs_stand_in(&headers, &mut logs).is_err());
    assert!(check_logs_stand_in(&[], &mut logs).is_err());
    check_logs_stand_in(&[], &mut batch(&[])).unwrap();
}
