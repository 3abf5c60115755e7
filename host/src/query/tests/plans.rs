//! How much of a table a query reads.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::{Bench, bench};

async fn plan(bench: &Bench, sql: &str) -> String {
    let rows = bench.rows(&format!("EXPLAIN {sql}")).await;
    rows.iter().map(|row| row[1].as_str().unwrap().to_owned() + "\n").collect()
}

fn fetched(bench: &Bench) -> usize {
    bench.mem.fetched.swap(0, Ordering::Relaxed)
}

#[tokio::test]
async fn counting_reads_no_chunk() {
    let bench = bench();
    assert_eq!(bench.rows("SELECT count(*) FROM usdc__transfer").await, [[json!(20)]]);
    assert_eq!(bench.rows("SELECT count(1), count(block_number) FROM usdc__transfer").await, [[json!(20), json!(20)]]);
    assert_eq!(bench.rows("SELECT count(*) FROM usdc__empty").await, [[json!(0)]]);
    assert_eq!(bench.rows("SELECT count(*) FROM (SELECT * FROM usdc__transfer LIMIT 7)").await, [[json!(7)]]);
    assert_eq!(bench.rows("SELECT 'x' FROM usdc__transfer").await.len(), 20);
    assert_eq!(fetched(&bench), 0);
    assert_eq!(bench.rows("SELECT count(memo) FROM usdc__transfer").await, [[json!(10)]]);
    assert_eq!(fetched(&bench), 5);
}

#[tokio::test]
async fn blocks_choose_the_chunks() {
    for (condition, chunks, rows) in [
        ("block_number = 4", 1, 2),
        ("block_number >= 9", 1, 4),
        ("9 <= block_number", 1, 4),
        ("block_number > 8 AND block_number < 10", 1, 2),
        ("block_number BETWEEN 2 AND 3", 2, 4),
        ("block_number IN (1, 10)", 2, 4),
        ("block_number = 1 OR block_number = 5", 2, 4),
        ("block_number > 10", 0, 0),
        ("block_number < 3 AND log_index = 3", 1, 2),
        ("block_number <> 3", 5, 18),
        ("NOT block_number >= 3", 1, 4),
    ] {
        let bench = bench();
        let rows_read = bench.rows(&format!("SELECT value FROM usdc__transfer WHERE {condition}")).await.len();
        assert_eq!((fetched(&bench), rows_read), (chunks, rows), "{condition}");
    }
}

#[tokio::test]
async fn a_limit_reads_no_more_than_it_needs() {
    let bench = bench();
    assert_eq!(bench.rows("SELECT value FROM usdc__transfer LIMIT 5").await.len(), 5);
    assert_eq!(fetched(&bench), 2);
}

#[tokio::test]
async fn newest_first_reads_from_the_end() {
    let bench = bench();
    let sql = "SELECT block_number, log_index FROM usdc__transfer ORDER BY block_number DESC, log_index DESC LIMIT 3";
    let text = plan(&bench, sql).await;
    assert!(text.contains("newest first, fetch=3"), "{text}");
    assert!(!text.contains("SortExec"), "{text}");
    let wanted = [[json!(10), json!(7)], [json!(10), json!(3)], [json!(9), json!(7)]];
    assert_eq!(bench.rows(sql).await, wanted);
    assert_eq!(fetched(&bench), 1);
    // The same through a filter, and where only the block is asked for.
    let sql = "SELECT block_number FROM usdc__transfer WHERE log_index = 3 ORDER BY block_number DESC LIMIT 2";
    assert_eq!(bench.rows(sql).await, [[json!(10)], [json!(9)]]);
    let all = bench.rows("SELECT block_number, log_index FROM usdc__transfer ORDER BY 1 DESC, 2 DESC").await;
    let mut sorted = all.clone();
    sorted.sort_by_key(|row| std::cmp::Reverse((row[0].as_u64(), row[1].as_u64())));
    assert_eq!((all.len(), &all), (20, &sorted));
}

#[tokio::test]
async fn oldest_first_needs_no_sort() {
    let bench = bench();
    let sql = "SELECT block_number, log_index, value FROM usdc__transfer ORDER BY block_number, log_index LIMIT 3";
    let text = plan(&bench, sql).await;
    assert!(!text.contains("SortExec"), "{text}");
    assert_eq!(bench.rows(sql).await[2], [json!(2), json!(3), json!("2")]);
    assert_eq!(fetched(&bench), 1);
    let mixed = bench.rows("SELECT block_number, log_index FROM usdc__transfer ORDER BY 1 DESC, 2 ASC LIMIT 2").await;
    assert_eq!(mixed, [[json!(10), json!(3)], [json!(10), json!(7)]]);
}

#[tokio::test]
async fn a_chunk_is_read_once() {
    let bench = bench();
    let sum = bench.rows("SELECT sum(value) FROM usdc__transfer").await;
    assert_eq!(fetched(&bench), 5);
    assert_eq!(bench.rows("SELECT sum(value) FROM usdc__transfer").await, sum);
    assert_eq!(bench.rows("SELECT max(memo), min(from_) FROM usdc__transfer").await.len(), 1);
    assert_eq!(fetched(&bench), 0);
}
