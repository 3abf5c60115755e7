//! Errors point at the mistake and name what was probably meant.

use super::bench;
use crate::query::{Flaw, QueryError};

#[tokio::test]
async fn unknown_names_come_with_place_and_nearest_name() {
    let bench = bench();
    for (sql, message, place, hint) in [
        ("SELECT valeu FROM usdc__transfer", "there is no column 'valeu'", (1, 8), "did you mean value?"),
        (
            "SELECT value\nFROM usdc__transfer\nWHERE blocknumber = 1",
            "there is no column 'blocknumber'",
            (3, 7),
            "did you mean block_number?",
        ),
        ("SELECT t.valu FROM usdc__transfer t", "there is no column 'valu' in 't'", (1, 8), "did you mean value?"),
        (
            "SELECT *\nFROM usdc_transfer",
            "there is no table 'usdc_transfer' in nest 'usdc'",
            (2, 6),
            "did you mean usdc__transfer?",
        ),
        (
            "SELECT * FROM transfer",
            "there is no table 'transfer' in nest 'usdc'",
            (1, 15),
            "did you mean usdc__transfer?",
        ),
        (
            "SELECT * FROM pool_swaps",
            "there is no table 'pool_swaps' in nest 'usdc'",
            (1, 15),
            "SHOW TABLES lists what there is",
        ),
        ("SELECT summ(value) FROM usdc__transfer", "there is no function 'summ'", (1, 8), "did you mean sum?"),
        (
            "SELECT value FROM usdc__transfer a, usdc__transfer b",
            "'value' is in more than one of the tables",
            (1, 8),
            "write the table's name or alias and a dot in front of it",
        ),
    ] {
        let error = bench.error(sql).await;
        assert_eq!(error.code(), "unknown-name", "{sql}: {error}");
        assert_eq!(error.message(), message, "{sql}");
        assert_eq!(error.position().map(|p| (p.line, p.column)), Some(place), "{sql}: {error}");
        assert_eq!(error.hint(), Some(hint), "{sql}");
    }
}

#[tokio::test]
async fn reserved_words_name_the_column_that_is_meant() {
    let bench = bench();
    for sql in [
        "SELECT from FROM usdc__transfer",
        "SELECT value, from FROM usdc__transfer",
        "SELECT t.from FROM usdc__transfer t",
    ] {
        let error = bench.error(sql).await;
        assert!(error.hint().is_some_and(|hint| hint.contains("the column is called from_")), "{sql}: {error}");
    }
    let error = bench.error("SELECT to FROM usdc__transfer").await;
    assert!(error.hint().is_some_and(|hint| hint.contains("the column is called to_")), "{error}");
}

#[tokio::test]
async fn syntax_errors_have_a_place() {
    let bench = bench();
    let error = bench.error("SELECT value\nFRM usdc__transfer WHERE").await;
    assert_eq!(error.code(), "syntax");
    assert_eq!(error.position().map(|p| p.line), Some(2), "{error}");
    let error = bench.error("SELECT 'open").await;
    assert_eq!((error.code(), error.position().is_some()), ("syntax", true), "{error}");
}

#[tokio::test]
async fn failures_on_the_data_are_the_statement_s() {
    let bench = bench();
    for sql in [
        "SELECT 1 / (block_number - block_number) FROM usdc__transfer",
        "SELECT CAST(memo AS INT) FROM usdc__transfer WHERE memo IS NOT NULL",
        "SELECT unhex(memo) FROM usdc__transfer",
    ] {
        let error = bench.error(sql).await;
        assert!(matches!(&error, QueryError::Bad(bad) if bad.flaw == Flaw::Data), "{sql}: {error:?}");
    }
    for sql in ["SELECT sum(memo) FROM usdc__transfer", "SELECT value FROM usdc__transfer GROUP BY memo"] {
        let error = bench.error(sql).await;
        assert!(matches!(&error, QueryError::Bad(_)), "{sql}: {error:?}");
    }
}

#[tokio::test]
async fn an_unknown_nest_is_told_with_the_nearest() {
    let bench = bench();
    let error = bench.engine.query(&"usdcc".parse().unwrap(), "SELECT 1").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no nest 'usdcc' here; did you mean usdc?");
}
