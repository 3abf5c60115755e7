//! Bytes compared with hex.

use serde_json::json;

use super::mem::{Mem, Transfer, transfer_table, transfers};
use super::{Bench, bench};
use crate::model::TableId;
use crate::query::{QueryEngine, QueryLimits};
use std::sync::Arc;

/// Five rows from 0x0a…, 0x0b… in turn to 0x01…, 0x02…
fn addresses() -> Bench {
    let mem = Arc::new(Mem::new(1));
    let dataset = mem.endpoint("usdc", vec![transfer_table("usdc__transfer")], &[]);
    let rows: Vec<Transfer> = (1..=5)
        .map(|n| Transfer {
            from: 0x0a + (n % 2) as u8,
            to: n as u8,
            memo: Some(["0x0A0A", "none", "0xffff", "0x0A", "x"][n as usize - 1]),
            ..Transfer::at(n, 0)
        })
        .collect();
    mem.chunk(dataset, TableId::Event(0), 1, 5, &transfers(&rows));
    mem.stand(dataset, 5, 5);
    let engine = QueryEngine::new(vec![Arc::new(Arc::clone(&mem))], QueryLimits::default()).unwrap();
    Bench { mem, dataset, engine }
}

fn a() -> String {
    format!("0x{}", "0A".repeat(20))
}

fn b() -> String {
    format!("0X{}", "0b".repeat(20))
}

async fn blocks(bench: &Bench, condition: &str) -> Vec<u64> {
    let sql = format!("SELECT block_number FROM usdc__transfer WHERE {condition} ORDER BY 1");
    bench.rows(&sql).await.iter().map(|row| row[0].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn literals_compare_in_any_letter_case() {
    let bench = addresses();
    let (a, b) = (a(), b());
    let one = |n: u8| format!("0x{}", hex::encode([n; 20]));
    for (condition, wanted) in [
        (format!("from_ = '{a}'"), vec![2, 4]),
        (format!("'{a}' = from_"), vec![2, 4]),
        (format!("from_ = '{}'", a.to_lowercase()), vec![2, 4]),
        (format!("from_ <> '{a}'"), vec![1, 3, 5]),
        (format!("from_ > '{a}'"), vec![1, 3, 5]),
        (format!("from_ IS DISTINCT FROM '{a}'"), vec![1, 3, 5]),
        (format!("from_ IS NOT DISTINCT FROM '{a}'"), vec![2, 4]),
        (format!("from_ IN ('{a}', '{b}')"), vec![1, 2, 3, 4, 5]),
        (format!("from_ NOT IN ('{a}')"), vec![1, 3, 5]),
        (format!("to_ BETWEEN '{}' AND '{}'", one(2), one(4)), vec![2, 3, 4]),
        (format!("to_ NOT BETWEEN '{}' AND '{}'", one(2), one(4)), vec![1, 5]),
        (format!("CASE from_ WHEN '{a}' THEN true ELSE false END"), vec![2, 4]),
        (format!("CASE WHEN from_ = '{a}' THEN to_ ELSE '{}' END = '{}'", one(9), one(9)), vec![1, 3, 5]),
        (format!("from_ = X'{}'", "0a".repeat(20)), vec![2, 4]),
        (format!("from_ = unhex('{a}')"), vec![2, 4]),
        (format!("hex(from_) = '{}'", a.to_lowercase()), vec![2, 4]),
        ("payload = '0x0A02'".to_owned(), vec![2]),
        ("payload IN ('0x0a02', '0x0B03')".to_owned(), vec![2, 3]),
        (format!("block_hash = '{}'", super::mem::block(3).hash), vec![3]),
        ("from_ LIKE '0x0A%'".to_owned(), vec![2, 4]),
        ("from_ NOT LIKE '0x0A%'".to_owned(), vec![1, 3, 5]),
        ("payload LIKE '%04'".to_owned(), vec![4]),
        (format!("from_ = (SELECT max(from_) FROM usdc__transfer) OR from_ = '{a}'"), vec![1, 2, 3, 4, 5]),
        (format!("from_ IN (SELECT '{a}')"), vec![2, 4]),
        (
            format!(
                "'{a}' IN (SELECT t.from_ FROM usdc__transfer t WHERE t.block_number = usdc__transfer.block_number)"
            ),
            vec![2, 4],
        ),
        (
            format!("EXISTS (SELECT 1 FROM usdc__transfer t WHERE t.to_ = usdc__transfer.to_ AND t.from_ = '{a}')"),
            vec![2, 4],
        ),
        (format!("CAST(from_ AS VARCHAR) = '{}'", a.to_lowercase()), vec![2, 4]),
        (format!("from_ = CAST('{a}' AS BYTEA)"), vec![2, 4]),
    ] {
        assert_eq!(blocks(&bench, &condition).await, wanted, "{condition}");
    }
}

#[tokio::test]
async fn text_known_only_row_by_row_compares_as_hex() {
    let bench = addresses();
    let (a, one) = (a(), format!("0x{}", "03".repeat(20)));
    let values = format!("(VALUES ('{a}', 'first'), ('{one}', 'second'), (NULL, 'none')) AS known(who, label)");
    let joined = format!("SELECT block_number, label FROM usdc__transfer JOIN {values} ON from_ = who ORDER BY 1");
    assert_eq!(bench.rows(&joined).await, [[json!(2), json!("first")], [json!(4), json!("first")]]);
    let joined = format!("SELECT block_number, label FROM {values} JOIN usdc__transfer ON who = to_ ORDER BY 1");
    assert_eq!(bench.rows(&joined).await, [[json!(3), json!("second")]]);
    let using = format!(
        "SELECT block_number FROM usdc__transfer JOIN (SELECT who AS from_ FROM {values}) w USING (from_) ORDER BY 1"
    );
    assert_eq!(bench.rows(&using).await, [[json!(2)], [json!(4)]]);
    assert_eq!(blocks(&bench, &format!("from_ IN (SELECT who FROM {values})")).await, [2, 4]);
    assert_eq!(blocks(&bench, "payload = memo").await, Vec::<u64>::new());
    assert_eq!(blocks(&bench, "'0x' || 'AB' <> payload AND block_number = 1").await, [1]);
}

#[tokio::test]
async fn output_is_lower_case_hex_everywhere() {
    let bench = addresses();
    let sql = "SELECT from_, payload, from_ || '!' AS shout, CAST(payload AS VARCHAR) AS text, min(to_) OVER () AS least \
               FROM usdc__transfer WHERE block_number = 2";
    let answer = bench.ask(sql).await.unwrap();
    let from = "0x".to_owned() + &"0a".repeat(20);
    let csv = format!("{from},0x0a02,{from}!,0x0a02,0x{}", "02".repeat(20));
    assert_eq!(answer.to_csv().lines().nth(1).unwrap(), csv);
    assert!(answer.to_table(400).contains(&format!("{from}!")), "{}", answer.to_table(400));
    let types: Vec<&str> = answer.columns.iter().map(|column| column.ty.as_str()).collect();
    assert_eq!(types, ["address", "bytes", "string", "string", "address"]);
    assert_eq!(bench.rows("SELECT DISTINCT from_ FROM usdc__transfer ORDER BY 1").await.len(), 2);
    assert_eq!(
        bench.rows("SELECT from_, count(*) FROM usdc__transfer GROUP BY from_ ORDER BY 2").await[0][1],
        json!(2)
    );
}

#[tokio::test]
async fn literals_that_do_not_fit_are_errors_not_empty_answers() {
    let bench = bench();
    for (condition, part) in [
        ("from_ = '0xabc'", "it has 3 hex digits"),
        ("from_ = '0x12'", "it has 2 hex digits"),
        ("from_ <> 'alice'", "does not begin with 0x"),
        ("from_ IN ('0x12')", "it has 2 hex digits"),
        ("from_ BETWEEN '0x12' AND '0x13'", "it has 2 hex digits"),
        ("CASE from_ WHEN '0x12' THEN true END", "it has 2 hex digits"),
        ("payload = '0xabc'", "it has 3 hex digits"),
        ("payload = '0xzz'", "'z' is no hex digit"),
        ("block_hash = '0xc0'", "it has 2 hex digits"),
    ] {
        let error = bench.error(&format!("SELECT 1 FROM usdc__transfer WHERE {condition}")).await;
        assert_eq!(error.code(), "literal", "{condition}: {error}");
        assert!(error.to_string().contains(part), "{condition}: {error}");
        assert!(error.position().is_some() && error.hint().is_some(), "{condition}: {error:?}");
    }
    let error = bench.error("SELECT 1 FROM usdc__transfer\nWHERE from_ = '0xabc'").await;
    assert_eq!(error.position().map(|position| (position.line, position.column)), Some((2, 15)));
    assert_eq!(error.hint(), Some("an address is 0x and 40 hex digits"));
    bench.error("SELECT unhex('12')").await;
}
