//! SQL views of a bundle.

use serde_json::json;

use super::bench_with;
use crate::query::{QueryLimits, TableKind};

const VIEWS: [(&str, &str); 6] = [
    ("per_block", "SELECT block_number, sum(value) AS total, count(*) AS n FROM usdc__transfer GROUP BY block_number"),
    ("large", "SELECT * FROM per_block WHERE total > 10"),
    ("broken", "SELECT nothing FROM usdc__transfer"),
    ("late", "SELECT * FROM later"),
    ("later", "SELECT from_, value FROM usdc__transfer"),
    ("evil", "DROP TABLE usdc__transfer"),
];

#[tokio::test]
async fn views_stand_on_tables_and_earlier_views() {
    let bench = bench_with(QueryLimits::default(), &VIEWS);
    let rows = bench.rows("SELECT block_number, total, n FROM large ORDER BY 1 LIMIT 2").await;
    assert_eq!(rows, [[json!(6), json!("12"), json!(2)], [json!(7), json!("14"), json!(2)]]);
    let json = bench.json("SELECT l.* FROM later AS l JOIN large ON l.value = large.block_number LIMIT 1").await;
    assert_eq!(json["columns"], json!([{"name": "from_", "type": "address"}, {"name": "value", "type": "uint256"}]));
}

#[tokio::test]
async fn a_broken_view_hurts_only_its_own_queries() {
    let bench = bench_with(QueryLimits::default(), &VIEWS);
    for (view, part) in [
        ("broken", "no column 'nothing'"),
        ("late", "there is no table 'later'"),
        ("evil", "DROP TABLE is not allowed"),
    ] {
        let error = bench.error(&format!("SELECT * FROM {view}")).await.to_string();
        assert!(error.starts_with(&format!("view '{view}' of nest 'usdc' is broken")), "{error}");
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(bench.rows("SELECT count(*) FROM usdc__transfer").await, [[json!(20)]]);
    let described = bench.engine.describe(&"usdc".parse().unwrap()).await.unwrap();
    let broken: Vec<_> =
        described.tables.iter().filter(|table| table.broken.is_some()).map(|t| t.name.as_str()).collect();
    assert_eq!(broken, ["broken", "late", "evil"]);
    let large = described.tables.iter().find(|table| table.name == "large").unwrap();
    assert_eq!((large.kind, large.columns.len()), (TableKind::View, 3));
}
