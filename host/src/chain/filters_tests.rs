#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::model::{BlockRef, ChainId};

fn hex_of(byte: u8, width: usize) -> String {
    format!("0x{}", format!("{byte:02x}").repeat(width))
}

fn filter(addresses: &[u8], topics: &[u8], start_block: u64) -> LogFilter {
    LogFilter {
        addresses: addresses.iter().map(|byte| hex_of(*byte, 20)).collect(),
        topics: topics.iter().map(|byte| hex_of(*byte, 32)).collect(),
        start_block,
    }
}

fn log(batch: &mut LogBatch, number: u64, address: u8, topics: &[u8]) {
    let topics: Vec<B256> = topics.iter().map(|byte| B256::repeat_byte(*byte)).collect();
    let index = batch.len() as u64;
    batch.push(LogView {
        block: BlockRef { number: BlockNumber(number), hash: B256::left_padding_from(&number.to_be_bytes()) },
        timestamp: 1,
        tx_index: 0,
        log_index: index,
        tx_hash: B256::ZERO,
        address: Address::repeat_byte(address),
        topics: &topics,
        data: &[],
    });
}

fn limits() -> QueryLimits {
    QueryLimits { requests: 4, addresses: 500, topic_only: 5_000 }
}

fn all() -> BlockRange {
    BlockRange { first: BlockNumber(0), last: BlockNumber(u64::MAX) }
}

fn queries(filters: &[LogFilter]) -> Vec<LogQuery> {
    LogFilters::parse(filters).unwrap().queries(all(), &limits())
}

proptest! {
    /// Whatever the filters and limits: each wanted log is asked for, and a nest gets exactly its own.
    #[test]
    fn every_wanted_log_is_asked_for(
        filters in prop::collection::vec(
            (prop::collection::vec(0_u8..6, 0..4), prop::collection::vec(0_u8..6, 0..4), 0_u64..4), 0..8),
        requests in 1_usize..4, addresses in 1_usize..4, topic_only in 1_usize..6, first in 0_u64..4, blocks in 0_u64..3,
    ) {
        let filters: Vec<LogFilter> = filters.iter().map(|(a, t, s)| filter(a, t, *s)).collect();
        let set = LogFilters::parse(&filters).unwrap();
        let range = BlockRange { first: BlockNumber(first), last: BlockNumber(first + blocks) };
        let limits = QueryLimits { requests, addresses, topic_only };
        let queries = set.queries(range, &limits);
        for query in &queries {
            prop_assert!(query.addresses.len() <= addresses);
        }
        let mut batch = LogBatch::new(ChainId(1));
        for number in range.first.0..=range.last.0 {
            for address in 0..7 {
                log(&mut batch, number, address, &[]);
                (0..7).for_each(|topic| log(&mut batch, number, address, &[topic, 0]));
            }
        }
        for entry in batch.iter() {
            let wanted = filters.iter().any(|filter| {
                let address = format!("{:#x}", entry.address);
                let topic = entry.topics.first().map(|topic| format!("{topic:#x}"));
                filter.start_block <= entry.block.number.0
                    && (filter.addresses.is_empty() || filter.addresses.contains(&address))
                    && (filter.topics.is_empty() || topic.is_some_and(|topic| filter.topics.contains(&topic)))
            });
            prop_assert_eq!(set.matches(&entry), wanted);
            prop_assert!(!wanted || queries.iter().any(|query| query.wants(&entry)));
        }
        prop_assert_eq!(set.select(&batch).iter().count(), batch.iter().filter(|log| set.matches(log)).count());
    }
}

#[test]
fn like_filters_share_a_request_and_unlike_ones_do_not() {
    assert_eq!(queries(&[]).len(), 0);
    assert_eq!(queries(&[filter(&[1], &[1], 0), filter(&[2], &[1], 5)]).len(), 1, "same topics");
    assert_eq!(queries(&[filter(&[1], &[1], 0), filter(&[1], &[2], 0)]).len(), 1, "same contract");
    assert_eq!(queries(&[filter(&[1], &[], 0), filter(&[1], &[2], 0)]).len(), 1, "one covers the other");
    assert_eq!(queries(&[filter(&[1], &[1], 0), filter(&[2], &[2], 0)]).len(), 2, "would bring strangers");
    let many: Vec<LogFilter> = (0..60).map(|byte| filter(&[byte], &[byte], 0)).collect();
    assert_eq!(queries(&many).len(), 4, "joined where there are too many");
}

#[test]
fn a_filter_that_starts_later_is_not_asked_for_yet() {
    let set = LogFilters::parse(&[filter(&[1], &[], 10), filter(&[2], &[], 100)]).unwrap();
    let range = BlockRange { first: BlockNumber(0), last: BlockNumber(50) };
    let queries = set.queries(range, &limits());
    assert_eq!(queries.len(), 1);
    assert_eq!(queries[0].addresses, [Address::repeat_byte(1)].into());
    assert_eq!(set.first_block(), Some(BlockNumber(10)));
}

#[test]
fn long_lists_of_contracts_are_cut_and_very_long_ones_dropped() {
    let address = |n: u64| format!("{:#x}", Address::left_padding_from(&n.to_be_bytes()));
    let family =
        |n: u64, topics: &[u8]| LogFilter { addresses: (0..n).map(address).collect(), ..filter(&[], topics, 0) };
    assert_eq!(queries(&[family(1_200, &[1])]).len(), 3);
    let topic_only = queries(&[family(6_000, &[1])]);
    assert_eq!((topic_only.len(), topic_only[0].addresses.len()), (1, 0));
    assert_eq!(queries(&[family(6_000, &[])]).len(), 12, "without topics everything would come");
    assert_eq!(topic_only[0].split(), None);
    let (left, right) = queries(&[family(3, &[1])])[0].split().unwrap();
    assert_eq!((left.addresses.len(), right.addresses.len()), (1, 2));
}

#[test]
fn text_that_is_no_filter_is_named() {
    let bad = LogFilter { addresses: vec!["0x12".into()], topics: vec![], start_block: 0 };
    assert!(LogFilters::parse(&[bad]).unwrap_err().to_string().contains("'0x12' is not an address"));
    let bad = LogFilter { addresses: vec![], topics: vec![hex_of(1, 20)], start_block: 0 };
    assert!(LogFilters::parse(&[bad]).unwrap_err().to_string().contains("is not a topic"));
}
