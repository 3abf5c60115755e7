//! Deadline, memory, caps and queue.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bench, bench_with};
use crate::query::{QueryError, QueryLimits};

/// More work than any deadline here.
const ENDLESS: &str = "SELECT sum(a.block_number * b.block_number % 7) FROM usdc__transfer a, usdc__transfer b, \
                       usdc__transfer c, usdc__transfer d, usdc__transfer e, usdc__transfer f, usdc__transfer g, \
                       usdc__transfer h, usdc__transfer i";

#[tokio::test]
async fn a_query_ends_at_its_deadline() {
    let deadline = Duration::from_millis(300);
    let bench = bench_with(QueryLimits { deadline, ..QueryLimits::default() }, &[]);
    for sql in [ENDLESS, "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"] {
        let started = Instant::now();
        let error = bench.error(sql).await;
        assert!(matches!(error, QueryError::Timeout { after } if after == deadline), "{sql}: {error}");
        assert!(started.elapsed() < Duration::from_secs(30), "{sql}: {:?}", started.elapsed());
    }
    // What was stopped lets go of its threads between two batches.
    threads_free(&bench).await;
    assert_eq!(bench.rows("SELECT 1").await, [[json!(1)]]);
}

/// Waits until a query is answered again.
async fn threads_free(bench: &Bench) {
    let free = async {
        while bench.ask("SELECT 1").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free).await.expect("what was stopped goes on");
}

#[tokio::test]
async fn all_queries_share_one_memory_pool() {
    let bench = bench_with(QueryLimits { memory: 1 << 20, ..QueryLimits::default() }, &[]);
    let wide = "SELECT count(*) FROM (SELECT DISTINCT a.block_number, b.block_number, c.block_number, d.block_number, \
                a.log_index, b.log_index, c.log_index, d.log_index FROM usdc__transfer a, usdc__transfer b, \
                usdc__transfer c, usdc__transfer d)";
    let error = bench.error(wide).await;
    assert!(matches!(error, QueryError::OutOfMemory { pool: 1 }), "{error:?}");
    assert_eq!(bench.rows("SELECT count(DISTINCT block_number) FROM usdc__transfer").await, [[json!(10)]]);
}

#[tokio::test]
async fn answers_have_caps() {
    let bench = bench_with(QueryLimits { rows: 19, ..QueryLimits::default() }, &[]);
    let error = bench.error("SELECT value FROM usdc__transfer").await;
    assert!(matches!(&error, QueryError::TooLarge { limit } if limit == "19 rows"), "{error:?}");
    assert_eq!(bench.rows("SELECT value FROM usdc__transfer LIMIT 19").await.len(), 19);

    let bench = bench_with(QueryLimits { bytes: 1 << 20, ..QueryLimits::default() }, &[]);
    let error = bench
        .error("SELECT a.block_hash FROM usdc__transfer a, usdc__transfer b, usdc__transfer c, usdc__transfer d")
        .await;
    assert!(matches!(&error, QueryError::TooLarge { limit } if limit == "1 MiB"), "{error:?}");
}

#[tokio::test]
async fn a_full_queue_says_busy() {
    let limits = QueryLimits { running: 1, waiting: 1, deadline: Duration::from_secs(2), ..QueryLimits::default() };
    let bench = bench_with(limits, &[]);
    let engine = bench.engine.clone();
    let nest = "usdc".parse().unwrap();
    let running = bench.ask(ENDLESS);
    let waiting = bench.ask(ENDLESS);
    let refused = async {
        loop {
            // Refused once both places are taken; answered or timed out before.
            match engine.query(&nest, "SELECT 1").await {
                Err(error @ QueryError::Busy { .. }) => break error,
                Ok(_) | Err(QueryError::Timeout { .. }) => tokio::task::yield_now().await,
                Err(other) => panic!("{other}"),
            }
        }
    };
    let (first, second, refused) = tokio::join!(running, waiting, refused);
    assert!(matches!(refused, QueryError::Busy { running: 1, waiting: 1 }), "{refused}");
    assert!(matches!(first, Err(QueryError::Timeout { .. })));
    assert!(matches!(second, Err(QueryError::Timeout { .. })));
    // Both places are free again once the stopped queries have ended.
    let free = async {
        while bench.ask("SELECT 1").await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free).await.expect("the queue does not empty");
}

/// Whatever grows without end lets go of its thread: joins that read their tables once and never again among it.
#[tokio::test]
async fn giving_up_frees_the_place() {
    let limits = QueryLimits { running: 1, waiting: 0, ..QueryLimits::default() };
    let bench = bench_with(limits, &[]);
    let small = "(SELECT block_number AS x FROM usdc__transfer ORDER BY value LIMIT 20)";
    let joined: Vec<String> = ('a'..='i').map(|name| format!("{small} {name}")).collect();
    let crossed = format!("SELECT sum(a.x * b.x * i.x % 7) FROM {}", joined.join(", "));
    let unlike: Vec<String> = ('b'..='i').map(|name| format!("JOIN {small} {name} ON a.x != {name}.x + 1")).collect();
    let looped = format!("SELECT sum(a.x * i.x % 7) FROM {small} a {}", unlike.join(" "));
    let alike: Vec<String> = ('b'..='i').map(|name| format!("JOIN {small} {name} ON a.x % 2 = {name}.x % 2")).collect();
    let hashed = format!("SELECT sum(a.x * i.x % 7) FROM {small} a {}", alike.join(" "));
    for endless in [ENDLESS, &crossed, &looped, &hashed] {
        tokio::time::timeout(Duration::from_millis(100), bench.ask(endless)).await.expect_err(endless);
        threads_free(&bench).await;
    }
}
