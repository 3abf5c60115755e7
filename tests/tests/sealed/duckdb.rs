//! Segments are plain Parquet: another reader sees the same rows.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Lab, NEST};

const TABLE: &str = "token__transfer";

fn duckdb(files: &[PathBuf]) -> Value {
    let python = std::env::var("NUTHATCH_PYTHON").expect("NUTHATCH_PYTHON names a Python with duckdb: use tests/run");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sealed/duckdb_rows.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json!({"files": files}).to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success());
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Each row as texts, in the order of its columns.
fn texts(rows: &[Value], columns: &[&str]) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    rows.iter()
        .map(|row| columns.iter().map(|column| text(&row[column])).collect::<Vec<_>>())
        .collect::<Vec<_>>()
        .into()
}

#[tokio::test]
async fn duckdb_reads_the_same_rows() {
    let lab = Lab::new(77, 700).await;
    let dev = lab.dev().await;
    let sealed = lab.settled(&dev).await;
    let last = sealed.keys().filter(|(table, ..)| table == TABLE).map(|(_, _, last, _)| *last).max().unwrap();
    let mut files = lab.files();
    files.retain(|file| file.components().any(|part| part.as_os_str() == TABLE));
    assert!(files.len() > 3, "{files:?}");
    let theirs = duckdb(&files);
    let ours = async |sql: &str| {
        dev.sql(NEST.name, &sql.replace("FROM t", &format!("FROM {TABLE} WHERE block_number <= {last}"))).await.unwrap()
    };

    let totals = ours(
        "SELECT count(*) AS n, count(DISTINCT block_number) AS d, sum(log_index) AS l, \
         date_part('epoch', min(block_timestamp))::bigint AS a, date_part('epoch', max(block_timestamp))::bigint AS b FROM t",
    )
    .await;
    assert_eq!(texts(&totals, &["n", "d", "l", "a", "b"])[0], theirs["totals"]);
    let sums = ours("SELECT sum(value) AS s, max(value) AS m FROM t").await;
    assert_eq!(texts(&sums, &["s", "m"])[0], json!([theirs["sum"], theirs["most"]]));
    assert!(theirs["sum"].as_str().unwrap().len() > 20, "256 bits are needed: {}", theirs["sum"]);
    let by_address = ours("SELECT address, count(*) AS n, sum(value) AS s FROM t GROUP BY address ORDER BY 1").await;
    assert_eq!(texts(&by_address, &["address", "n", "s"]), theirs["by_address"]);
    let by_block = ours(
        "SELECT block_number / 50 AS part, count(*) AS n, sum(tx_index) AS s FROM t GROUP BY block_number / 50 ORDER BY 1",
    )
    .await;
    assert_eq!(texts(&by_block, &["part", "n", "s"]), theirs["by_block"]);
    let sender = theirs["sender"].as_str().unwrap();
    let one = format!("SELECT block_number, from_ FROM t AND from_ = '{sender}'");
    let mut one = texts(&ours(&one).await, &["block_number", "from_"]);
    one.as_array_mut().unwrap().sort_by_key(Value::to_string);
    let mut wanted = theirs["one"].clone();
    wanted.as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!(one, wanted);
    lab.stop(dev).await;
}
