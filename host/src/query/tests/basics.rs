//! Rows, types and meta of an answer.

use serde_json::json;

use super::{bench, bench_with};
use crate::query::QueryLimits;

#[tokio::test]
async fn rows_come_back_with_their_types() {
    let bench = bench();
    let json = bench.json("SELECT * FROM usdc__transfer WHERE block_number = 3 ORDER BY log_index").await;
    assert_eq!(json["rows"].as_array().unwrap().len(), 2);
    let row = &json["rows"][1];
    assert_eq!(row["block_number"], json!(3));
    assert_eq!(row["block_timestamp"], json!("2024-01-05T00:00:36Z"));
    assert_eq!(row["address"], json!(format!("0x{}", "c0".repeat(20))));
    assert_eq!(row["from_"], json!(format!("0x{}", "aa".repeat(20))));
    assert_eq!(row["value"], json!("3"));
    assert_eq!(row["delta"], json!("-5"));
    assert_eq!(row["kind"], json!(0));
    assert_eq!(row["ok"], json!(false));
    assert_eq!(row["memo"], json!("hi"));
    assert_eq!(row["payload"], json!("0xaabb"));
    assert_eq!(row["tags"], json!(["7", {"a": true}]));
    let types: Vec<_> = json["columns"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "uint64",
            "bytes32",
            "timestamp",
            "bytes32",
            "uint32",
            "uint64",
            "address",
            "address",
            "address",
            "uint256",
            "int256",
            "uint8",
            "bool",
            "string",
            "bytes",
            "json"
        ]
    );
}

#[tokio::test]
async fn meta_says_where_the_answer_came_from() {
    let bench = bench();
    let json = bench.json("SELECT count(*) AS n FROM usdc__transfer").await;
    assert_eq!(json["rows"], json!([{"n": 20}]));
    let meta = &json["meta"];
    assert_eq!(meta["nest"], json!("usdc"));
    assert_eq!(meta["version"], json!("1.2.3"));
    assert_eq!(meta["bundle"], json!("07".repeat(32)));
    assert_eq!(meta["chain_id"], json!(1));
    assert_eq!(meta["as_of_block"], json!(10));
    assert_eq!(meta["as_of_hash"], json!(super::mem::block(10).hash.to_string()));
    assert_eq!((meta["complete"].clone(), meta["reason"].clone()), (json!(true), json!(null)));

    bench.mem.stand(bench.dataset, 10, 25);
    let json = bench.json("SELECT 1").await;
    assert_eq!(json["meta"]["complete"], json!(false));
    assert_eq!(json["meta"]["reason"], json!("15 blocks behind the head"));
}

#[tokio::test]
async fn tables_of_the_host_are_there() {
    let bench = bench();
    assert_eq!(bench.rows("SELECT code, data FROM _rejected").await, [[json!("bad-padding"), json!("0x0102")]]);
    assert_eq!(bench.rows("SELECT count(*) FROM _ignored").await, [[json!(0)]]);
    assert_eq!(
        bench.rows("SELECT nest, block_number, lag, status, rows FROM _status").await,
        [[json!("usdc"), json!(10), json!(0), json!("head"), json!(20)]]
    );
}

#[tokio::test]
async fn times_compare_with_text_and_group_by_day() {
    let bench = bench();
    for (condition, count) in [
        ("block_timestamp >= '2024-01-05T00:01:48Z'", 4),
        ("block_timestamp = '2024-01-05 00:00:12'", 2),
        ("block_timestamp < TIMESTAMP '2024-01-05 00:00:36'", 4),
        ("block_timestamp BETWEEN '2024-01-05T00:00:12+00:00' AND '2024-01-05T00:00:24+00:00'", 4),
        ("block_timestamp > to_timestamp_seconds(1704412900)", 4),
        ("block_timestamp >= '2024-01-06'", 0),
    ] {
        let sql = format!("SELECT count(*) FROM usdc__transfer WHERE {condition}");
        assert_eq!(bench.rows(&sql).await, [[json!(count)]], "{condition}");
    }
    let sql = "SELECT date_trunc('day', block_timestamp) AS day, count(*) FROM usdc__transfer GROUP BY 1";
    let json = bench.json(sql).await;
    assert_eq!(json["rows"], json!([{"day": "2024-01-05T00:00:00Z", "count(*)": 20}]));
    assert_eq!(json["columns"][0]["type"], json!("timestamp"));
    assert_eq!(bench.rows("SELECT extract(hour FROM max(block_timestamp)) FROM usdc__transfer").await, [[json!(0)]]);
}

#[tokio::test]
async fn queries_beside_each_other_do_not_mix() {
    let bench = bench_with(QueryLimits { running: 4, waiting: 100, ..QueryLimits::default() }, &[]);
    let asked = (1..=40).map(|n| {
        let (bench, block) = (&bench, n % 10 + 1);
        async move {
            let sql = format!("SELECT block_number, value FROM usdc__transfer WHERE block_number = {block}");
            (block, bench.rows(&sql).await)
        }
    });
    for (block, rows) in futures::future::join_all(asked).await {
        let wanted = vec![json!(block), json!(block.to_string())];
        assert_eq!(rows, [wanted.clone(), wanted]);
    }
}
