//! SHOW TABLES, DESCRIBE and information_schema carry nest types and the authors' words.

use serde_json::json;

use super::{bench, bench_with};
use crate::query::QueryLimits;

#[tokio::test]
async fn show_tables_lists_tables_and_views() {
    let bench = bench_with(QueryLimits::default(), &[("totals", "SELECT sum(value) AS total FROM usdc__transfer")]);
    let rows = bench.rows("SHOW TABLES").await;
    let names: Vec<_> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(names, ["_ignored", "_rejected", "_status", "totals", "usdc__empty", "usdc__transfer"]);
    assert_eq!(rows[5], [json!("usdc__transfer"), json!("BASE TABLE"), json!("tokens moved")]);
    assert_eq!(rows[3][1], json!("VIEW"));
    assert_eq!(bench.rows("SHOW TABLES LIKE 'usdc%'").await.len(), 2);
}

#[tokio::test]
async fn describe_shows_nest_types_and_docs() {
    let bench = bench_with(
        QueryLimits::default(),
        &[("totals", "SELECT sum(value) AS total, max(from_) AS f FROM usdc__transfer")],
    );
    for sql in ["DESCRIBE usdc__transfer", "DESC usdc.public.usdc__transfer", "SHOW COLUMNS FROM usdc__transfer"] {
        let rows = bench.rows(sql).await;
        assert_eq!(rows.len(), 16, "{sql}");
        assert_eq!(rows[0], [json!("block_number"), json!("uint64"), json!("NO"), json!("block of the log")]);
        assert_eq!(rows[9], [json!("value"), json!("uint256"), json!("NO"), json!("the value")]);
        assert_eq!(rows[13][2], json!("YES"));
    }
    assert_eq!(bench.rows("SHOW COLUMNS FROM usdc__transfer LIKE '%hash'").await.len(), 2);
    let rows = bench.rows("DESCRIBE totals").await;
    assert_eq!((rows[0][0].clone(), rows[1][1].clone()), (json!("total"), json!("address")));
    let rows = bench.rows("DESCRIBE SELECT value, kind + 1 AS k, hex(from_) FROM usdc__transfer").await;
    assert_eq!((rows[0][1].clone(), rows[2][1].clone()), (json!("uint256"), json!("string")));
    let rows = bench.rows("DESCRIBE information_schema.columns").await;
    assert_eq!(rows.len(), 8);
    let error = bench.error("DESCRIBE usdc__transfers").await;
    assert_eq!((error.code(), error.hint()), ("unknown-name", Some("did you mean usdc__transfer?")));
}

#[tokio::test]
async fn information_schema_can_be_queried() {
    let bench = bench();
    let sql = "SELECT table_name, column_name FROM information_schema.columns \
               WHERE data_type = 'uint256' ORDER BY table_name, ordinal_position";
    assert_eq!(
        bench.rows(sql).await,
        [["usdc__empty", "value"], ["usdc__transfer", "value"]].map(|row| row.map(|text| json!(text)))
    );
    let sql = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(bench.rows(sql).await, [[json!(5)]]);
}
