//! Sealed history as a user meets it: the rows are those of an index that never seals, and the files are those of
//! every other operator.
#![allow(clippy::unwrap_used)]

mod crash;
mod duckdb;
mod random;
mod rows;

use std::path::{Path, PathBuf};

use nuthatch_tests::cuts::{Segments, segments, settled, wanted};
use nuthatch_tests::mock_nest::{MockNest, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::process::{Dev, Finished, run};
use rustix::process::Signal;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const NEST: MockNest = MockNest { name: "tokens", start_block: 0, tokens: 0..5 };

/// Rows that fill a segment in these tests.
const ROWS: u64 = 100;

const LIST: [&str; 3] = ["segments", "list", "--json"];

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
        segments(&self.command(&LIST).await).unwrap()
    }

    /// Waits until all is sealed that has to be, as worked out from the rows themselves; gives the segments.
    async fn settled(&self, dev: &Dev) -> Segments {
        dev.wait_at(NEST.name, self.chain.head()).await.unwrap();
        let wanted = wanted(dev, NEST.name, ROWS, self.chain.final_block().number.0).await.unwrap();
        assert!(wanted.len() > 3, "{wanted:?}");
        settled(dev, &wanted, async || run(EXE, &self.nest, &LIST).await).await.unwrap()
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
    segments(&run(EXE, nest, &LIST).await.unwrap()).unwrap()
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
