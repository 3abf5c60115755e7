//! What the golden file does not hold: plans, other types beside integers, views, dialects.

use std::sync::Arc;

use datafusion::catalog::view::ViewTable;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::harness::{add_table, column, context, context_with, run};
use crate::query::bigint::rewrite_statement;

const MAX: &str = "115792089237316195423570985008687907853269984665640564039457584007913129639935";

fn session() -> SessionContext {
    let context = context();
    add_session_tables(&context);
    context
}

fn add_session_tables(context: &SessionContext) {
    add_table(
        context,
        "t",
        &[
            column("id", "int64", &[Some("1"), Some("2"), Some("3"), Some("4")]),
            column("u", "uint256", &[Some(MAX), Some("65"), None, Some("1000000000000000000")]),
            column("i", "int256", &[Some("-1"), Some("5"), Some("-340282366920938463463374607431768211456"), None]),
            column("b", "uint64", &[Some("18446744073709551615"), Some("7"), Some("0"), None]),
            column("tiny", "int8", &[Some("127"), Some("-128"), Some("127"), Some("127")]),
            column("byte", "uint8", &[Some("255"), Some("255"), Some("2"), None]),
            column("narrow", "int32", &[Some("2147483647"), Some("2147483647"), Some("-1"), None]),
            column("unsigned", "uint32", &[Some("4294967295"), Some("4294967295"), Some("1"), None]),
            column("price", "decimal(20,2)", &[Some("65.00"), Some("64.99"), Some("-0.01"), None]),
            column("count", "decimal(38,0)", &[Some("65"), Some("0"), Some("-1"), None]),
            column("d", "double", &[Some("0.5"), Some("2"), Some("65"), None]),
            column("s", "string", &[Some("a"), Some("b"), Some("c"), None]),
        ],
    );
}

async fn cells(context: &SessionContext, sql: &str) -> Vec<String> {
    let rows = run(context, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.into_iter()
        .map(|row| row.into_iter().map(|cell| cell.unwrap_or_else(|| "null".into())).collect::<Vec<_>>().join(" "))
        .collect()
}

/// Asks several questions of one session; each has one row.
async fn check(context: &SessionContext, questions: &[(&str, &str)]) {
    for (sql, expected) in questions {
        assert_eq!(cells(context, sql).await, [*expected], "{sql}");
    }
}

#[tokio::test]
async fn filters_stay_plain_comparisons_with_literals() {
    let context = session();
    for condition in [
        "u > 5",
        "u = 115792089237316195423570985008687907853269984665640564039457584007913129639935",
        "u >= 10^18",
        "u < 5 * 10^18 + 1",
        "u = '0xde0b6b3a7640000'",
        "u > 1e18",
        "u <= 0.5",
        "-5 < i",
        "i = -340282366920938463463374607431768211456",
        "u BETWEEN 1 AND 10^30",
        "u IN (1, '2', 36893488147419103232)",
        "u IS DISTINCT FROM 5",
    ] {
        let plan = cells(&context, &format!("EXPLAIN SELECT id FROM t WHERE {condition}")).await.join("\n");
        let physical = plan.split("physical_plan").nth(1).unwrap();
        assert!(physical.contains("FilterExec: "), "{condition}: {plan}");
        for call in ["to_integer", "integer_", "power", "CAST"] {
            assert!(!physical.contains(call), "{condition} calls {call} for each row: {plan}");
        }
    }
}

#[tokio::test]
async fn decimals_and_doubles_beside_integers() {
    let context = session();
    check(
        &context,
        &[
            ("SELECT count(*) FROM t a, t b WHERE a.u = b.price AND a.id = 2", "1"),
            ("SELECT count(*) FROM t a, t b WHERE a.u > b.price AND a.id = 2", "2"),
            ("SELECT count(*) FROM t a, t b WHERE b.price < a.u AND a.id = 2", "2"),
            ("SELECT count(*) FROM t a JOIN t b ON a.u = b.count", "1"),
            ("SELECT u + count FROM t WHERE id = 2", "65"),
            ("SELECT u + price, price - u, u * price, u % price FROM t WHERE id = 2", "129.99 -0.01 4224.35 0.01"),
            ("SELECT u / price FROM t WHERE id = 2", "1.0001"),
            ("SELECT u / d FROM t WHERE id = 2", "32.5"),
            ("SELECT 2.5 * u FROM t WHERE id = 2", "162.5"),
            ("SELECT count(*) FROM t a, t b WHERE a.u = b.d AND a.id = 2", "1"),
            ("SELECT power(u, 0.5) > 8.06 FROM t WHERE id = 2", "true"),
            ("SELECT coalesce(u, price) FROM t WHERE id = 3", "-0.01"),
            ("SELECT coalesce(i, d) FROM t WHERE id = 2", "5.0"),
            ("SELECT CASE WHEN id = 2 THEN count ELSE u END FROM t WHERE id = 2", "0"),
            ("SELECT round(u), floor(i), ceil(i), trunc(u) FROM t WHERE id = 2", "65 5 5 65"),
            ("SELECT round(sqrt(u), 3), round(ln(u), 3) FROM t WHERE id = 2", "8.062 4.174"),
            (
                "SELECT to_timestamp_seconds(u), CAST(u AS TIMESTAMP) FROM t WHERE id = 2",
                "1970-01-01T00:01:05 1970-01-01T00:01:05",
            ),
        ],
    )
    .await;
    let refused = run(&context, "SELECT u IN (1.5) FROM t").await.unwrap_err();
    assert!(refused.contains("1.5 is not an integer"), "{refused}");
    let refused = run(&context, "SELECT u IN (d) FROM t").await.unwrap_err();
    assert!(refused.contains("does not mix with double"), "{refused}");
}

#[tokio::test]
async fn integers_of_every_width_sum_exactly() {
    let context = session();
    check(
        &context,
        &[
            ("SELECT sum(tiny), sum(byte), sum(narrow), sum(unsigned) FROM t", "253 512 4294967293 8589934591"),
            ("SELECT avg(tiny), avg(byte), avg(b) FROM t", "63.25 170.66666666666666 6.148914691236517e18"),
            ("SELECT arrow_typeof(sum(tiny)), arrow_typeof(avg(tiny)), arrow_typeof(avg(u)) FROM t", "LargeBinary Float64 LargeBinary"),
            ("SELECT sum(b) > 2^64, sum(b) = 18446744073709551622 FROM t", "true true"),
            ("SELECT sum(byte) FILTER (WHERE id = 1), sum(DISTINCT byte) FROM t", "255 257"),
            ("SELECT sum(d), avg(d), sum(price), avg(price) FROM t", "67.5 22.5 129.98 43.326666"),
            ("SELECT tiny + tiny, byte * byte, narrow + narrow FROM t WHERE id = 1", "254 65025 4294967294"),
            ("SELECT byte - 256, unsigned * unsigned / unsigned, -byte FROM t WHERE id = 3", "-254 1 -2"),
            ("SELECT b - 8, 5 - b, b + id, -b FROM t WHERE id = 2", "-1 -2 9 -7"),
            ("SELECT arrow_typeof(b + 1), arrow_typeof(b - 1), arrow_typeof(b + id), arrow_typeof(id * 2) FROM t WHERE id = 2", "UInt64 Int64 Int64 Int64"),
        ],
    )
    .await;
}

#[tokio::test]
async fn what_has_no_integers_is_as_before() {
    let context = session();
    check(
        &context,
        &[
            ("SELECT 1.5 + 2, 7 / 2, 7 % 4, -7 / 2, 2.0 / 4", "3.5 3 3 -3 0.5"),
            ("SELECT DATE '2024-01-31' + INTERVAL '1 day', - INTERVAL '1 day' + DATE '2024-01-31'", "2024-02-01 2024-01-30"),
            ("SELECT -d, -price, -(d + 1) FROM t WHERE id = 1", "-0.5 -65.00 -1.5"),
            ("SELECT abs(d - 1), abs(-price), sign(d), abs(-5), sign(-7.5) FROM t WHERE id = 1", "0.5 65.00 1.0 5 -1.0"),
            ("SELECT coalesce(s, 'x') || 'y', nullif(s, 'a'), greatest(1, 2), upper(s) FROM t WHERE id = 2", "by b 2 B"),
            ("SELECT CASE WHEN id = 1 THEN 1 ELSE 2.5 END + 1 FROM t WHERE id = 1", "2.0"),
            ("SELECT 5 IS DISTINCT FROM 6, NULL IS NOT DISTINCT FROM NULL, 'a' IS DISTINCT FROM 'b'", "true true true"),
            ("SELECT NULL + 1, NULL * NULL", "null null"),
            ("SELECT power(2.0, 0.5) > 1.41, power(2, 10), pow(4, 0.5)", "true 1024 2.0"),
            ("SELECT count(*) FROM (SELECT id FROM t ORDER BY id LIMIT 1 + 1 OFFSET 2 - 1)", "2"),
            ("SELECT median(d), stddev_pop(id) > 1.1, string_agg(s, '-' ORDER BY s) FROM t", "2.0 true a-b-c"),
            ("SELECT CAST('7' AS uint8), 300::uint16, '-5'::int64, CAST(5 AS INT8)", "7 300 -5 5"),
            ("SELECT CAST(70000 AS UINT128) * 2, TRY_CAST(-1 AS UINT128), TRY_CAST('170141183460469231731687303715884105728' AS INT128)", "140000 null null"),
            ("SELECT lag(id, 1, 0) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 1", "0"),
        ],
    )
    .await;
}

#[tokio::test]
async fn groups_agree_however_they_are_aggregated() {
    // Partial aggregation given up at once: rows go on as states of their own.
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(32)
        .set_u64("datafusion.execution.skip_partial_aggregation_probe_rows_threshold", 1)
        .set_str("datafusion.execution.skip_partial_aggregation_probe_ratio_threshold", "0.0");
    let skipping = context_with(config);
    let usual = context();
    let numbers: Vec<Option<String>> =
        (0..2000i64).map(|row| (row % 7 != 3).then(|| (row * 1_000_003).to_string())).collect();
    let keys: Vec<Option<String>> = (0..2000).map(|row| Some((row * 37 % 500).to_string())).collect();
    let wides: Vec<Option<String>> =
        (0..2000).map(|row| (row % 5 != 1).then(|| MAX.to_string()[..60 + row % 17].to_owned())).collect();
    let columns = |cells: &[Option<String>]| {
        cells.iter().map(Option::as_deref).map(|cell| cell.map(str::to_owned)).collect::<Vec<_>>()
    };
    let table = [("k", "int64", columns(&keys)), ("n", "int64", columns(&numbers)), ("u", "uint256", columns(&wides))]
        .map(|(name, ty, cells)| {
            let cells: Vec<Option<&str>> = cells.iter().map(Option::as_deref).collect();
            column(name, ty, &cells)
        });
    add_table(&skipping, "many", &table);
    add_table(&usual, "many", &table);
    let sql = "SELECT k, sum(u), avg(u), sum(n), avg(n), sum(u) FILTER (WHERE n % 2 = 0), count(u), sum(DISTINCT n % 10), \
               min(u), max(u) FROM many GROUP BY k ORDER BY k";
    let rows = cells(&usual, sql).await;
    assert_eq!(rows.len(), 500);
    assert_eq!(cells(&skipping, sql).await, rows);
    let total = "SELECT sum(s), sum(c) FROM (SELECT sum(u) AS s, count(u) AS c FROM many GROUP BY k)";
    assert_eq!(cells(&skipping, total).await, cells(&usual, "SELECT sum(u), count(u) FROM many").await);
}

async fn add_view(context: &SessionContext, name: &str, sql: &str) {
    let state = context.state();
    let mut statement = state.sql_to_statement(sql, &state.config_options().sql_parser.dialect).unwrap();
    rewrite_statement(&mut statement);
    let plan = state.statement_to_plan(statement).await.unwrap();
    context.register_table(name, Arc::new(ViewTable::new(plan, None))).unwrap();
}

#[tokio::test]
async fn views_are_typed_with_the_query_over_them() {
    let context = session();
    add_view(
        &context,
        "v",
        "SELECT id, CASE WHEN id > 1 THEN 0 ELSE u END AS x, u BETWEEN 1 AND 10^30 AS inside FROM t",
    )
    .await;
    add_view(&context, "w", "SELECT 1 AS x UNION ALL SELECT u FROM t WHERE id = 2").await;
    add_view(&context, "daily", "SELECT id % 2 AS day, sum(u) AS total, avg(i) AS middle FROM t GROUP BY id % 2").await;
    let max_and_one = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    check(
        &context,
        &[
            ("SELECT x + 1 FROM v WHERE x > 5", max_and_one),
            ("SELECT sum(x), max(x) FROM w WHERE x < 10^20", "66 65"),
            ("SELECT count(*) FROM v WHERE inside", "2"),
            ("SELECT total - 65 FROM daily WHERE day = 0", "1000000000000000000"),
            ("SELECT count(*) FROM v JOIN w ON v.x = w.x", "0"),
        ],
    )
    .await;
}

#[tokio::test]
async fn postgres_dialect_has_its_operators() {
    let config = SessionConfig::new().set_str("datafusion.sql_parser.dialect", "PostgreSQL");
    let context = context_with(config);
    add_session_tables(&context);
    check(
        &context,
        &[
            ("SELECT u # 1, u & 64, u | 2, u << 1, u >> 1 FROM t WHERE id = 2", "64 64 67 130 32"),
            ("SELECT u / 2^6, 2 * 3^2 FROM t WHERE id = 2", "1 18"),
            ("SELECT 5 # 1, 5 & 4", "4 4"),
            ("SELECT u::text ~ '^6' FROM t WHERE id = 2", "true"),
        ],
    )
    .await;
}

#[tokio::test]
async fn literals_read_as_decimals_compare_by_value() {
    let config = SessionConfig::new().set_bool("datafusion.sql_parser.parse_float_as_decimal", true);
    let context = context_with(config);
    add_session_tables(&context);
    check(
        &context,
        &[
            ("SELECT count(*) FROM t WHERE u > 64.5", "3"),
            ("SELECT count(*) FROM t WHERE u = 65.0", "1"),
            ("SELECT count(*) FROM t WHERE u <> 64.5", "3"),
            ("SELECT count(*) FROM t WHERE i < -0.5", "2"),
        ],
    )
    .await;
}

/// No function may print or measure the bytes that stand for an integer: 65 is the bytes 0x81 0x41.
#[tokio::test]
async fn no_function_shows_an_encoding() {
    let context = session();
    let state = context.state();
    let mut names: Vec<String> = state.scalar_functions().keys().cloned().collect();
    names.extend(state.aggregate_functions().keys().cloned());
    names.sort();
    let mut answered = 0;
    for name in names {
        for args in [
            "u",
            "u, u",
            "u, 1",
            "1, u",
            "u, 'a'",
            "'a', u",
            "'hex', u",
            "u, 'hex'",
            "[u]",
            "[u], ','",
            "row(u)",
            "u ORDER BY u",
        ] {
            let sql = format!("SELECT {name}({args}) FROM t WHERE id = 2");
            let Ok(rows) = run(&context, &sql).await else { continue };
            answered += 1;
            for cell in rows.into_iter().flatten().flatten() {
                let shown = cell.contains("8141")
                    || cell.contains("\u{81}")
                    || cell.contains("gUE")
                    || cell.contains("invalid");
                assert!(!shown, "{sql} shows {cell}");
            }
        }
    }
    assert!(answered > 200, "only {answered} calls answered");
    for sql in [
        "SELECT CAST([u] AS VARCHAR) FROM t WHERE id = 2",
        "SELECT [u] || 'x' FROM t WHERE id = 2",
        "SELECT array_to_string(array_agg(u), ',') FROM t WHERE id = 2",
        "SELECT CAST(row(u) AS VARCHAR) FROM t WHERE id = 2",
    ] {
        if let Ok(rows) = run(&context, sql).await {
            assert!(rows[0][0].as_ref().unwrap().contains("65"), "{sql}: {rows:?}");
        }
    }
}
