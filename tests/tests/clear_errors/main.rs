//! What stops `dev`, or makes it wait: one error that says what to do, and after the right step the rows of a clean
//! index.
#![allow(clippy::unwrap_used)]

mod disk;
mod endpoint;
mod folder;
mod nest;

use std::path::{Path, PathBuf};

use nuthatch_tests::mock_nest::{MockNest, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::process::{Dev, Finished, run};
use rustix::process::Signal;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const NEST: MockNest = MockNest { name: "tokens", start_block: 0, tokens: 0..5 };
const HEAD: u64 = 120;

/// A chain, an endpoint, the folder of a nest.
struct Lab {
    chain: MockChain,
    rpc: MockRpc,
    nest: PathBuf,
    scratch: TempDir,
}

impl Lab {
    async fn new() -> Lab {
        let chain = MockChain::new(47, HEAD);
        let rpc = MockRpc::start(&chain).await;
        let scratch = tempfile::tempdir().unwrap();
        let nest = NEST.write(scratch.path(), &chain).unwrap();
        Lab { chain, rpc, nest, scratch }
    }

    /// A lab whose nest was indexed to the head by a process that has left.
    async fn indexed() -> Lab {
        let lab = Lab::new().await;
        let dev = lab.dev().await;
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
        lab
    }

    /// `dev` in the nest's folder.
    async fn dev(&self) -> Dev {
        Dev::start(EXE, &self.nest, &["--rpc", &self.rpc.url()]).await.unwrap()
    }

    /// `dev` in this folder, to its end.
    async fn dev_ends(&self, folder: &Path, args: &[&str]) -> Finished {
        let all = [&["dev", "--listen", "127.0.0.1:0"], args].concat();
        run(EXE, folder, &all).await.unwrap()
    }

    /// As [`Lab::dev_ends`], in the nest's folder and over its endpoint.
    async fn refused(&self, says: &[&str]) {
        refused(&self.dev_ends(&self.nest, &["--rpc", &self.rpc.url()]).await, says);
    }

    /// The database of the nest.
    fn database(&self) -> PathBuf {
        self.nest.join(".nuthatch/chain-31337.sqlite")
    }

    /// What `nuthatch sql` reads while nothing runs.
    async fn rows_at_rest(&self) -> String {
        let query = "SELECT * FROM token__transfer ORDER BY block_number, log_index";
        let read = run(EXE, &self.nest, &["sql", "--dir", ".", query, "--format", "csv"]).await.unwrap();
        assert_eq!(read.code, 0, "{}", read.stderr);
        assert!(read.stdout.lines().count() > 100, "{}", read.stdout);
        read.stdout
    }

    /// The chain goes on, and so does `dev`, to the rows of a clean index.
    async fn goes_on(&self, dev: Dev) {
        self.chain.advance(7);
        dev.wait_at(NEST.name, self.chain.head()).await.unwrap();
        self.has_clean_rows(&dev).await;
        assert!(!dev.log().contains(MockRpc::KEY), "the key of the endpoint is in the log");
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    }

    async fn has_clean_rows(&self, dev: &Dev) {
        let clean = clean_rows(EXE, self.scratch.path(), &self.chain, &NEST).await.unwrap();
        let rows = all_rows(dev, NEST.name).await.unwrap();
        assert!(!clean.is_empty());
        assert!(rows == clean, "{} rows, {} in a clean index", rows.len(), clean.len());
    }
}

/// A command that failed with one error that says all of this, and nothing secret.
#[track_caller]
fn refused(finished: &Finished, says: &[&str]) {
    assert_eq!(finished.code, 1, "{}", finished.stderr);
    let errors = finished.stderr.lines().filter(|line| line.starts_with("error: ")).count();
    assert_eq!(errors, 1, "{}", finished.stderr);
    for text in says {
        assert!(finished.stderr.contains(text), "'{text}' is not in: {}", finished.stderr);
    }
    assert!(!finished.stderr.contains(MockRpc::KEY) && !finished.stderr.contains("panicked"), "{}", finished.stderr);
}
