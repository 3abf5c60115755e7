//! Many nests on one cursor: each rides its own lane, joins the others, falls out and comes back, while the chain
//! changes branch; and each ends with the rows of a clean index of its own.
#![allow(clippy::unwrap_used)]

mod below_final;
mod datasets;
mod joining;
mod quarantine;
mod warm_cache;

use std::path::Path;

use nuthatch_tests::mock_nest::{MockNest, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::process::{Dev, Finished, run};
use rustix::process::Signal;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");

/// A chain, an endpoint for it, and a folder with a data folder `data` in it.
struct Lab {
    chain: MockChain,
    rpc: MockRpc,
    scratch: TempDir,
}

impl Lab {
    async fn new(seed: u64, head: u64) -> Lab {
        let chain = MockChain::new(seed, head);
        let rpc = MockRpc::start(&chain).await;
        Lab { chain, rpc, scratch: tempfile::tempdir().unwrap() }
    }

    fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Writes the nests' folders and starts `dev` over them.
    async fn dev(&self, nests: &[&MockNest]) -> Dev {
        nests.iter().for_each(|nest| drop(nest.write(self.folder(), &self.chain).unwrap()));
        let folders: Vec<&str> = nests.iter().flat_map(|nest| ["--dir", nest.name]).collect();
        self.dev_with(&folders).await
    }

    /// Starts `dev` with these arguments over the lab's data folder and endpoint.
    async fn dev_with(&self, args: &[&str]) -> Dev {
        let url = self.rpc.url();
        let all = [args, &["--data", "data", "--rpc", &url]].concat();
        Dev::start(EXE, self.folder(), &all).await.unwrap()
    }

    /// Runs another command over the lab's data folder.
    async fn command(&self, args: &[&str]) -> Finished {
        run(EXE, self.folder(), &[args, &["--data", "data"]].concat()).await.unwrap()
    }

    /// The datasets in the data folder.
    async fn datasets(&self) -> Vec<serde_json::Value> {
        let listed = self.command(&["dataset", "list", "--json"]).await;
        done(&listed, "");
        listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until these nests are at the head, then holds each against a clean index of its own.
    async fn all_equal_clean(&self, dev: &Dev, nests: &[&MockNest]) {
        for nest in nests {
            dev.wait_at(nest.name, self.chain.head()).await.unwrap();
            let clean = clean_rows(EXE, self.folder(), &self.chain, nest).await.unwrap();
            assert!(!clean.is_empty());
            let rows = all_rows(dev, nest.name).await.unwrap();
            assert!(rows == clean, "{}: {} rows, {} in a clean index", nest.name, rows.len(), clean.len());
        }
    }
}

/// The one row of `_status`.
async fn status(dev: &Dev, nest: &str) -> serde_json::Value {
    dev.sql(nest, "SELECT * FROM _status").await.unwrap().remove(0)
}

async fn stop(dev: Dev) {
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
}

#[track_caller]
fn done(finished: &Finished, says: &str) {
    assert_eq!(finished.code, 0, "{}", finished.stderr);
    assert!(finished.stdout.contains(says), "'{says}' is not in: {}", finished.stdout);
}

#[track_caller]
fn refused(finished: &Finished, says: &[&str]) {
    assert_eq!((finished.code, finished.stdout.as_str()), (1, ""), "{}", finished.stderr);
    assert!(says.iter().all(|text| finished.stderr.contains(text)), "{says:?} not all in: {}", finished.stderr);
}
