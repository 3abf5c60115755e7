//! I6: what a query sees is one snapshot; one that loses a chunk starts again, once.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::mem::{Transfer, block, transfers};
use super::{bench, bench_with};
use crate::model::{Fault, TableId};
use crate::query::{QueryError, QueryLimits};
use crate::store::DatasetStatus;

#[tokio::test]
async fn a_lost_chunk_is_looked_for_in_a_new_snapshot() {
    for read_ahead in [0, 32 << 20] {
        let bench = bench_with(QueryLimits { read_ahead, ..QueryLimits::default() }, &[]);
        let gone = bench.mem.seen("usdc").chunks[0].id;
        let other: Vec<_> = (1..=2).map(|number| Transfer { value: 1_000, ..Transfer::at(number, 9) }).collect();
        bench.mem.vanish(bench.dataset, gone, TableId::Event(0), (1, 2), &transfers(&other));
        let rows = bench.rows("SELECT sum(value), count(*) FROM usdc__transfer WHERE block_number <= 4").await;
        assert_eq!(rows, [[json!("2014"), json!(6)]], "read ahead {read_ahead}");
    }
}

#[tokio::test]
async fn a_chunk_that_stays_lost_is_an_error() {
    let bench = bench();
    bench.mem.lose(bench.mem.seen("usdc").chunks[0].id);
    let error = bench.error("SELECT sum(value) FROM usdc__transfer").await;
    assert!(matches!(&error, QueryError::Internal(text) if text.contains("blocks 1..=2")), "{error}");
    assert_eq!(bench.mem.fetched.load(Ordering::Relaxed), 2);
    assert_eq!(bench.rows("SELECT count(*) FROM usdc__transfer WHERE block_number > 2").await, [[json!(16)]]);
}

#[tokio::test]
async fn what_is_not_read_ahead_is_read_when_it_is_reached() {
    let bench = bench_with(QueryLimits { read_ahead: 0, cache: 0, ..QueryLimits::default() }, &[]);
    for _ in 0..2 {
        assert_eq!(bench.rows("SELECT sum(value) FROM usdc__transfer").await, [[json!("110")]]);
    }
    assert_eq!(bench.mem.fetched.load(Ordering::Relaxed), 10);
}

#[tokio::test]
async fn a_dataset_that_stands_still_says_so() {
    let bench = bench();
    let fault = Fault { block: block(11), log_index: 4, class: "out-of-fuel".to_owned(), message: "spent".to_owned() };
    bench.mem.status(bench.dataset, DatasetStatus::Quarantined(fault));
    let json = bench.json("SELECT status, fault, reason FROM _status").await;
    assert_eq!(json["rows"][0]["status"], json!("quarantined"));
    assert_eq!(json["rows"][0]["fault"], json!("out-of-fuel at block 11, log 4: spent"));
    assert_eq!(json["meta"]["complete"], json!(false));
    assert_eq!(json["meta"]["reason"], json!("quarantined: out-of-fuel at block 11, log 4: spent"));
}
