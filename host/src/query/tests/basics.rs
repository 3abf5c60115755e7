//! Rows, types and meta of an answer.

use serde_json::json;

use super::bench;

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
