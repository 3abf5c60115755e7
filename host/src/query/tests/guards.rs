//! Queries only read, and only their own nest.

use std::sync::Arc;

use super::mem::{Mem, Transfer, transfer_table, transfers};
use super::{bench, bench_with};
use crate::model::TableId;
use crate::query::{QueryEngine, QueryError, QueryLimits};

#[tokio::test]
async fn statements_that_do_more_than_read_are_refused() {
    let bench = bench();
    for (sql, part) in [
        ("CREATE TABLE t (a INT)", "CREATE TABLE is not allowed"),
        ("CREATE TABLE t AS SELECT 1", "CREATE TABLE is not allowed"),
        ("CREATE VIEW v AS SELECT 1", "CREATE VIEW is not allowed"),
        ("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'", ""),
        ("CREATE FUNCTION f(INT) RETURNS INT RETURN $1", "CREATE FUNCTION is not allowed"),
        ("DROP TABLE usdc__transfer", "DROP TABLE is not allowed"),
        ("ALTER TABLE usdc__transfer ADD COLUMN a INT", "ALTER TABLE is not allowed"),
        ("TRUNCATE TABLE usdc__transfer", "TRUNCATE is not allowed"),
        ("INSERT INTO usdc__transfer SELECT * FROM usdc__transfer", "INSERT is not allowed"),
        ("UPDATE usdc__transfer SET value = 0", "UPDATE is not allowed"),
        ("DELETE FROM usdc__transfer", "DELETE is not allowed"),
        ("MERGE INTO usdc__transfer USING usdc__empty ON true WHEN MATCHED THEN DELETE", "MERGE is not allowed"),
        ("COPY usdc__transfer TO '/tmp/x'", "COPY is not allowed"),
        ("COPY (SELECT 1) TO '/tmp/x.parquet'", "COPY is not allowed"),
        ("SET datafusion.execution.batch_size = 1", "SET is not allowed"),
        ("RESET datafusion.execution.batch_size", "RESET is not allowed"),
        ("SHOW ALL", "SHOW ALL is not allowed"),
        ("SHOW datafusion.execution.batch_size", "is not allowed"),
        ("USE other", "USE is not allowed"),
        ("BEGIN", "BEGIN is not allowed"),
        ("COMMIT", "COMMIT is not allowed"),
        ("PREPARE p AS SELECT 1", "PREPARE is not allowed"),
        ("EXECUTE p", "EXECUTE is not allowed"),
        ("DEALLOCATE p", "DEALLOCATE is not allowed"),
        ("GRANT SELECT ON usdc__transfer TO PUBLIC", "GRANT is not allowed"),
        ("ATTACH DATABASE 'x' AS y", "ATTACH is not allowed"),
        ("INSTALL httpfs", "is not allowed"),
        ("CALL f()", "CALL is not allowed"),
        ("KILL 1", "KILL is not allowed"),
        ("VACUUM", "VACUUM is not allowed"),
        ("ANALYZE TABLE usdc__transfer", "ANALYZE is not allowed"),
        ("EXPLAIN INSERT INTO usdc__transfer SELECT * FROM usdc__transfer", "EXPLAIN of INSERT is not allowed"),
        ("EXPLAIN ANALYZE DELETE FROM usdc__transfer", "EXPLAIN of DELETE is not allowed"),
        ("SELECT * INTO t FROM usdc__transfer", "SELECT INTO is not allowed"),
        ("SELECT * FROM usdc__transfer FOR UPDATE", "FOR UPDATE is not allowed"),
        ("WITH t AS (INSERT INTO usdc__empty SELECT 1) SELECT * FROM t", "INSERT is not allowed"),
        ("WITH t AS (DELETE FROM usdc__transfer) SELECT 1", "DELETE is not allowed"),
        ("SELECT 1; SELECT 2", "there are 2 statements"),
        ("SELECT 1; DROP TABLE usdc__transfer", "there are 2 statements"),
        ("", "there is no statement"),
        (" ; ; -- nothing", "there is no statement"),
    ] {
        let error = bench.error(sql).await;
        assert!(matches!(error, QueryError::Bad(_)), "{sql}: {error:?}");
        assert!(error.to_string().contains(part), "{sql}: {error}");
    }
    assert_eq!(bench.rows("SELECT count(*) FROM usdc__transfer;").await[0][0], 20);
}

#[tokio::test]
async fn nothing_reaches_files_functions_of_tables_or_variables() {
    let bench = bench();
    for sql in [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_parquet('/tmp/x.parquet')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM \"/etc/passwd\"",
        "SELECT * FROM \"file:///etc/passwd\"",
        "SELECT * FROM '/tmp/x.parquet'",
        "SELECT * FROM generate_series(1, 10)",
        "SELECT * FROM TABLE(range(1, 10))",
        "SELECT * FROM LATERAL read_csv('/etc/passwd')",
        "SELECT * FROM parquet_metadata('/tmp/x.parquet')",
        "SELECT @@version",
        "SELECT @x",
        "SELECT read_file('/etc/passwd')",
        "SELECT getenv('HOME')",
        "SELECT repeat('x', 2000000000)",
        "SELECT lpad('x', 2000000000)",
        "SELECT range(0, 1000000000000)",
    ] {
        let error = bench.error(sql).await;
        assert!(matches!(error, QueryError::Bad(_)), "{sql}: {error:?}");
        assert!(!error.to_string().contains("root:"), "{sql}: {error}");
    }
}

/// Two nests of one cursor, and a third of another chain's.
fn three() -> QueryEngine {
    let first = Arc::new(Mem::new(1));
    let second = Arc::new(Mem::new(137));
    for (mem, name) in [(&first, "usdc"), (&first, "weth"), (&second, "quick")] {
        let table = format!("{name}__transfer");
        let view = [("secret_view", "SELECT 1 AS one")];
        let dataset = mem.endpoint(name, vec![transfer_table(&table)], if name == "weth" { &view } else { &[] });
        mem.chunk(dataset, TableId::Event(0), 1, 1, &transfers(&[Transfer::at(1, name.len() as u64)]));
        mem.stand(dataset, 1, 1);
    }
    QueryEngine::new(vec![Arc::new(first), Arc::new(second)], QueryLimits::default()).unwrap()
}

#[tokio::test]
async fn a_nest_sees_no_other() {
    let engine = three();
    let usdc = "usdc".parse().unwrap();
    for sql in [
        "SELECT * FROM weth__transfer",
        "SELECT * FROM weth.weth__transfer",
        "SELECT * FROM weth.public.weth__transfer",
        "SELECT * FROM quick__transfer",
        "SELECT * FROM weth.information_schema.tables",
        "SELECT * FROM secret_view",
        "DESCRIBE weth__transfer",
        "SELECT * FROM information_schema.df_settings",
        "SELECT * FROM information_schema.routines",
        "SELECT * FROM datafusion.public.usdc__transfer",
    ] {
        let error = engine.query(&usdc, sql).await.unwrap_err();
        assert_eq!(error.code(), "unknown-name", "{sql}: {error}");
    }
    for sql in ["SELECT * FROM information_schema.tables", "SELECT * FROM information_schema.columns", "SHOW TABLES"] {
        let answer = engine.query(&usdc, sql).await.unwrap().to_json();
        assert!(answer.contains("usdc__transfer"), "{answer}");
        for other in ["weth", "quick", "secret_view"] {
            assert!(!answer.contains(other), "{sql}: {answer}");
        }
    }
    let answer = engine.query(&"quick".parse().unwrap(), "SELECT log_index FROM public.quick__transfer").await.unwrap();
    assert_eq!((answer.meta.chain_id.0, answer.rows()), (137, 1));
}

#[tokio::test]
async fn hostile_statements_end_in_an_error() {
    let bench = bench();
    let deep = format!("SELECT {}1{}", "(".repeat(3_000), ")".repeat(3_000));
    let long = format!("SELECT 1{}", "+1".repeat(5_000));
    let negated = format!("SELECT {}true", "NOT ".repeat(5_000));
    let cast = format!("SELECT 1{}", "::int".repeat(5_000));
    let selects = vec!["SELECT 1"; 3_000].join(" UNION ALL ");
    let joins = format!("SELECT 1 FROM usdc__transfer{}", " CROSS JOIN usdc__transfer".repeat(5_000));
    let huge = format!("SELECT '{}'", "x".repeat(200_000));
    let ctes: String = (1..40).map(|n| format!(", c{n} AS (SELECT a.x FROM c{} a, c{} b)", n - 1, n - 1)).collect();
    let doubling = format!("WITH c0 AS (SELECT 1 x){ctes} SELECT count(*) FROM c39");
    for sql in [deep, long, negated, cast, selects, joins, huge, doubling] {
        let error = bench.error(&sql).await;
        assert!(matches!(error, QueryError::Bad(_)), "{}: {error:?}", &sql[..60]);
    }
    // As much as is allowed does not overflow a stack either.
    let most = QueryLimits::default().operators - 10;
    let allowed = format!("SELECT 1{}", "+1".repeat(most));
    assert_eq!(bench.rows(&allowed).await[0][0], most as u64 + 1);
    let allowed =
        format!("SELECT count(*) FROM usdc__transfer WHERE {}", vec!["block_number = 3"; most / 2].join(" OR "));
    assert_eq!(bench.rows(&allowed).await[0][0], 2);
}

#[tokio::test]
async fn views_that_double_are_refused() {
    let views: Vec<(String, String)> = (0..40)
        .map(|n| match n {
            0 => ("v0".to_owned(), "SELECT 1 AS x".to_owned()),
            n => (format!("v{n}"), format!("SELECT a.x FROM v{} a, v{} b", n - 1, n - 1)),
        })
        .collect();
    let views: Vec<(&str, &str)> = views.iter().map(|(name, sql)| (name.as_str(), sql.as_str())).collect();
    let bench = bench_with(QueryLimits::default(), &views);
    let error = bench.error("SELECT * FROM v39").await;
    assert!(error.to_string().contains("table reads"), "{error}");
    assert_eq!(bench.rows("SELECT x FROM v2").await.len(), 1);
    assert!(!bench.rows("SELECT * FROM information_schema.columns").await.is_empty());
}
