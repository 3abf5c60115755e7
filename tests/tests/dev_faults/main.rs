//! An endpoint misbehaves while `dev` indexes over it: the rows are those of a clean index, and the mock counts, so
//! that a loop fails.
#![allow(clippy::unwrap_used)]

mod backfill;
mod pool;
mod tip;

use std::time::{Duration, Instant};

use nuthatch_tests::mock_nest::{MockNest, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{Injection, MockChain, MockRpc};
use nuthatch_tests::process::Dev;
use rustix::process::Signal;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const NEST: MockNest = MockNest { name: "tokens", start_block: 0, tokens: 0..5 };
const HEAD: u64 = 400;

/// A chain, an endpoint, a folder.
struct Lab {
    chain: MockChain,
    rpc: MockRpc,
    scratch: TempDir,
}

impl Lab {
    async fn new() -> Lab {
        let chain = MockChain::new(31, HEAD);
        let rpc = MockRpc::start(&chain).await;
        Lab { chain, rpc, scratch: tempfile::tempdir().unwrap() }
    }

    /// Starts `dev` over these endpoints. Silence is cut short after a second.
    async fn dev_over(&self, rpcs: &[&MockRpc]) -> Dev {
        let folder = NEST.write(self.scratch.path(), &self.chain).unwrap();
        let urls: Vec<String> = rpcs.iter().map(|rpc| rpc.url()).collect();
        let endpoints = urls.iter().flat_map(|url| ["--rpc", url.as_str()]);
        let args: Vec<&str> = ["--rpc-timeout", "1"].into_iter().chain(endpoints).collect();
        Dev::start(EXE, &folder, &args).await.unwrap()
    }

    async fn dev(&self) -> Dev {
        self.dev_over(&[&self.rpc]).await
    }

    /// At the head, with the rows of a clean index of the chain as it is now, and no key in the log.
    async fn ends_clean(&self, dev: Dev, what: &str) {
        dev.wait_at(NEST.name, self.chain.head()).await.unwrap_or_else(|error| panic!("{what}: {error:#}"));
        let rows = all_rows(&dev, NEST.name).await.unwrap();
        let clean = clean_rows(EXE, self.scratch.path(), &self.chain, &NEST).await.unwrap();
        assert!(!clean.is_empty());
        assert!(rows == clean, "{what}: {} rows, {} in a clean index", rows.len(), clean.len());
        assert!(!dev.log().contains(MockRpc::KEY), "{what}: the key of the endpoint is in the log");
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0, "{what}");
    }
}

/// Requests since some moment, held against the work that there was. The head is looked at however long it takes.
struct Meter {
    before: u64,
    started: Instant,
}

impl Meter {
    fn of(rpc: &MockRpc) -> Meter {
        Meter { before: rpc.requests(), started: Instant::now() }
    }

    fn requests(&self, rpc: &MockRpc) -> u64 {
        rpc.requests() - self.before
    }

    /// At most so many requests, and those that looking at the head took meanwhile.
    fn at_most(&self, rpc: &MockRpc, requests: u64, what: &str) {
        let looks = 4 * (1 + self.started.elapsed().as_millis() as u64 / 250);
        let counted = self.requests(rpc);
        assert!(counted <= requests + looks, "{what}: {counted} requests, {requests} and {looks} looks allowed");
    }

    /// Waits until the endpoint was asked so often since.
    async fn asked(&self, rpc: &MockRpc, times: u64) {
        while self.requests(rpc) < times {
            assert!(self.started.elapsed() < nuthatch_tests::process::PATIENCE, "nothing is asked any more");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn name(faults: &[Injection]) -> String {
    format!("{faults:?}")
}
