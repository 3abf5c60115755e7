//! A nest over recorded logs, indexed by a real process and read back whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use nuthatch_tests::process::{Dev, number};
use rustix::process::Signal;
use serde_json::Value;

use super::EXE;

/// One `[[contracts]]` entry.
pub struct Contract {
    pub alias: String,
    pub addresses: Vec<String>,
    /// ABI files as they are found.
    pub abis: Vec<String>,
    pub anonymous: Vec<String>,
}

/// A row of an event table: own columns in order, with their types.
#[derive(Debug)]
pub struct Row {
    pub tx_hash: String,
    pub address: String,
    pub cells: Vec<(String, String, Value)>,
}

/// Where a log stands: block and log index.
pub type Place = (u64, u64);

/// All that a nest holds afterwards, by the place of the log.
pub struct Index {
    pub rows: BTreeMap<Place, Row>,
    pub rejected: BTreeMap<Place, Value>,
    pub ignored: u64,
    pub metrics: String,
}

/// Writes the nest and its recording into `folder`, runs `dev` to the last block, and reads every table.
pub async fn index(folder: &Path, chain: u64, contracts: &[Contract], recording: &str, last: u64) -> Index {
    write_nest(folder, chain, contracts);
    let file = folder.join("logs.jsonl");
    std::fs::write(&file, recording).unwrap();
    let dev = Dev::start(EXE, folder, &["--rpc", &format!("file://{}", file.display())]).await.unwrap();
    dev.wait_done_to("real", last).await.unwrap();
    let index = read(&dev).await;
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    index
}

fn write_nest(folder: &Path, chain: u64, contracts: &[Contract]) {
    std::fs::create_dir(folder.join("abis")).unwrap();
    let mut toml = format!("[nest]\nname = \"real\"\nversion = \"1.0.0\"\nchain = \"eip155:{chain}\"\n");
    for contract in contracts {
        let files: Vec<String> =
            (0..contract.abis.len()).map(|n| format!("abis/{}-{n}.json", contract.alias)).collect();
        files.iter().zip(&contract.abis).for_each(|(file, abi)| std::fs::write(folder.join(file), abi).unwrap());
        let Contract { alias, addresses, anonymous, .. } = contract;
        write!(
            toml,
            "[[contracts]]\nalias = \"{alias}\"\naddress = {addresses:?}\nstart_block = 0\nabi = {files:?}\n\
             anonymous = {anonymous:?}\n"
        )
        .unwrap();
    }
    std::fs::write(folder.join("nest.toml"), toml).unwrap();
}

async fn read(dev: &Dev) -> Index {
    let tables = dev.sql("real", "SHOW TABLES").await.unwrap();
    let named = |row: &Value| row["table_name"].as_str().unwrap().to_owned();
    let mut rows = BTreeMap::new();
    for table in tables.iter().map(named).filter(|name| name.contains("__")) {
        let columns = columns(dev, &table).await;
        // Text, not JSON: a tuple's fields keep their order only there.
        let select = columns.iter().map(|(name, ty)| match &**ty {
            "json" => format!("concat(\"{name}\", '') AS \"{name}\""),
            _ => format!("\"{name}\""),
        });
        let select = select.collect::<Vec<_>>().join(", ");
        let answer = dev.answer("real", &format!("SELECT {select} FROM {table}")).await.unwrap();
        // Provenance stands first, and then what the event has.
        let own = &columns[7..];
        for row in answer["rows"].as_array().unwrap() {
            let cells = own.iter().map(|(name, ty)| (name.clone(), ty.clone(), row[name].clone())).collect();
            let text = |column: &str| row[column].as_str().unwrap().to_owned();
            let one = Row { tx_hash: text("tx_hash"), address: text("address"), cells };
            assert!(rows.insert(place(row), one).is_none(), "two rows of one log: {row}");
        }
    }
    let rejected = dev.sql("real", "SELECT * FROM _rejected").await.unwrap();
    let ignored = dev.sql("real", "SELECT sum(logs) AS logs FROM _ignored").await.unwrap();
    Index {
        rows,
        rejected: rejected.into_iter().map(|row| (place(&row), row)).collect(),
        ignored: number(&ignored[0]["logs"]).unwrap_or_default(),
        metrics: dev.get("/metrics").await.unwrap().1,
    }
}

/// Names and types.
async fn columns(dev: &Dev, table: &str) -> Vec<(String, String)> {
    let answer = dev.answer("real", &format!("SELECT * FROM {table} LIMIT 0")).await.unwrap();
    let columns = answer["columns"].as_array().unwrap().iter();
    columns
        .map(|column| (column["name"].as_str().unwrap().to_owned(), column["type"].as_str().unwrap().to_owned()))
        .collect()
}

fn place(row: &Value) -> Place {
    (number(&row["block_number"]).unwrap(), number(&row["log_index"]).unwrap())
}

/// The value of a counter, over all labels that are not named.
pub fn counter(metrics: &str, name: &str, label: &str) -> u64 {
    let lines = metrics.lines().filter(|line| line.starts_with(name) && line.contains(label));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}
