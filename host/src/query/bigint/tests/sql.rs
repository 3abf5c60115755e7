use super::harness::{add_table, cell, column, context};

fn session() -> datafusion::prelude::SessionContext {
    let context = context();
    let max = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    add_table(
        &context,
        "t",
        &[
            column("id", "int64", &[Some("1"), Some("2"), Some("3"), Some("4")]),
            column("u", "uint256", &[Some(max), Some("0"), None, Some("1000000000000000000")]),
            column("i", "int256", &[Some("-1"), Some("5"), Some("-340282366920938463463374607431768211456"), None]),
            column("b", "uint64", &[Some("18446744073709551615"), Some("7"), Some("0"), None]),
        ],
    );
    context
}

#[tokio::test]
async fn first_steps() {
    let context = session();
    for sql in [
        "SELECT sum(u) FROM t",
        "SELECT u FROM t",
        "SELECT sum(u) FROM t WHERE id > 1",
        "SELECT id, sum(u) FROM t GROUP BY id ORDER BY id LIMIT 1",
        "EXPLAIN SELECT sum(u) FROM t LIMIT 1",
        "SELECT sum(u), min(u), max(u), count(u) FROM t",
        "SELECT sum(i), min(i), max(i) FROM t",
        "SELECT count(*) FROM t WHERE u > 5",
        "SELECT count(*) FROM t WHERE u >= 115792089237316195423570985008687907853269984665640564039457584007913129639935",
        "SELECT u + 1 FROM t WHERE id = 1",
        "SELECT u * u FROM t WHERE id = 1",
        "SELECT -u FROM t WHERE id = 1",
        "SELECT u / 10^9 FROM t WHERE id = 4",
        "SELECT 10^30 + 1",
        "SELECT id FROM t WHERE i < -340282366920938463463374607431768211455",
        "SELECT sum(b) FROM t",
        "SELECT b + 1 FROM t WHERE id = 1",
        "SELECT b + 1 FROM t WHERE id = 2",
        "SELECT avg(u), avg(i), avg(id) FROM t",
    ] {
        println!("{sql}\n    {:?}", super::harness::run(&context, sql).await);
    }
}
