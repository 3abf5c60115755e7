//! Sealed history as a user meets it: the rows are those of an index that never seals, and the files are those of
//! every other operator.
#![allow(clippy::unwrap_used)]

mod crash;
mod duckdb;
mod random;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nuthatch_tests::mock_nest::{MockNest, TABLES, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::process::{Dev, Finished, PATIENCE, number, run};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const NEST: MockNest = MockNest { name: "tokens", start_block: 0, tokens: 0..5 };

/// Rows that fill a segment in these tests.
const ROWS: u64 = 100;

/// Hashes by table, first block, last block, rows.
type Segments = BTreeMap<(String, u64, u64, u64), String>;

/// A chain, an endpoint, the folder of a nest.
struct Lab {
    chain: MockChain,
    rpc: MockRpc,
    nest: PathBuf,
    scratch: TempDir,
}

impl Lab {
    async fn new(seed: u64, head: u64) -> Lab {
        let chain = MockChain::new(seed, head);
        let rpc = MockRpc::start(&chain).await;
        let scratch = tempfile::tempdir().unwrap();
        let nest = NEST.write(scratch.path(), &chain).unwrap();
        Lab { chain, rpc, nest, scratch }
    }

    async fn dev(&self) -> Dev {
        self.dev_of(ROWS).await
    }

    /// `dev` that seals so many rows at a time.
    async fn dev_of(&self, rows: u64) -> Dev {
        let (rows, url) = (rows.to_string(), self.rpc.url());
        let all = ["--segment-rows", &rows, "--rpc", &url];
        Dev::start(EXE, &self.nest, &all).await.unwrap()
    }

    async fn command(&self, args: &[&str]) -> Finished {
        run(EXE, &self.nest, args).await.unwrap()
    }

    /// The segments that the catalogue names.
    async fn segments(&self) -> Segments {
        segments_of(&self.nest).await
    }

    /// Waits until all is sealed that has to be, as worked out from the rows themselves; gives the segments.
    async fn settled(&self, dev: &Dev) -> Segments {
        dev.wait_at(NEST.name, self.chain.head()).await.unwrap();
        let final_block = self.chain.final_block().number.0;
        let mut wanted = BTreeSet::new();
        for table in TABLES.into_iter().chain(["_rejected", "_ignored"]) {
            let rows = dev.sql(NEST.name, &format!("SELECT block_number FROM {table} ORDER BY 1")).await.unwrap();
            let blocks: Vec<u64> = rows.iter().map(|row| number(&row["block_number"]).unwrap()).collect();
            wanted.extend(cuts(&blocks, final_block).into_iter().map(|(a, b, rows)| (table.to_owned(), a, b, rows)));
        }
        assert!(wanted.len() > 3, "{wanted:?}");
        let started = Instant::now();
        loop {
            let found = self.segments().await;
            if found.keys().cloned().collect::<BTreeSet<_>>() == wanted {
                return found;
            }
            assert!(started.elapsed() < PATIENCE, "{found:#?}\nwanted {wanted:#?}\n{}", dev.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn verify_is_clean(&self) {
        let verified = self.command(&["segments", "verify"]).await;
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
        assert!(verified.stdout.contains("; 0 missing or damaged"), "{}", verified.stdout);
    }

    async fn has_clean_rows(&self, dev: &Dev) {
        dev.wait_at(NEST.name, self.chain.head()).await.unwrap();
        let clean = clean_rows(EXE, self.scratch.path(), &self.chain, &NEST).await.unwrap();
        let rows = all_rows(dev, NEST.name).await.unwrap();
        assert!(!clean.is_empty());
        assert!(rows == clean, "{} rows, {} in a clean index", rows.len(), clean.len());
    }

    async fn stop(&self, dev: Dev) {
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        walk(&self.nest.join(".nuthatch/segments"), &mut files);
        files
    }
}

/// The segments that the catalogue in a nest's folder names.
async fn segments_of(nest: &Path) -> Segments {
    let listed = run(EXE, nest, &["segments", "list", "--json"]).await.unwrap();
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    let lines = listed.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .map(|it| {
            let number = |key: &str| it[key].as_u64().unwrap();
            let text = |key: &str| it[key].as_str().unwrap().to_owned();
            ((text("table"), number("first_block"), number("last_block"), number("rows")), text("hash"))
        })
        .collect()
}

/// Where rows in these blocks are cut, up to this final block: first block, last block, rows. No span ends in so few
/// blocks.
fn cuts(blocks: &[u64], final_block: u64) -> Vec<(u64, u64, u64)> {
    let mut made = Vec::new();
    let mut start = 0;
    for (place, block) in blocks.iter().enumerate() {
        let ends = blocks.get(place + 1).is_none_or(|next| next != block);
        let rows = (place + 1 - start) as u64;
        if ends && rows >= ROWS && *block <= final_block {
            made.push((blocks[start], *block, rows));
            start = place + 1;
        }
    }
    made
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}
