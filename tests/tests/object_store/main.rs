//! Faults of the object store under a running `dev`: it waits and goes on by itself, nothing is lost, no answer is
//! wrong, and what cannot be written or read is named.
#![allow(clippy::unwrap_used)]

mod disk;
mod gc;
mod reads;
mod requests;
mod stores;
mod uploads;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use nuthatch_tests::clock::Clock;
use nuthatch_tests::cuts::{Segments, listed, segments, settled_by_and_by};
use nuthatch_tests::mock_nest::{MockNest, all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::process::{Dev, Finished, run_with};
use nuthatch_tests::s3::S3;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Mutex;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const NEST: MockNest = MockNest { name: "tokens", start_block: 0, tokens: 0..5 };

/// Rows that fill a segment in these tests.
const ROWS: u64 = 100;

/// A chain, an endpoint, a bucket, and stores that seal into it.
struct Lab {
    clock: Clock,
    chain: MockChain,
    rpc: MockRpc,
    s3: S3,
    scratch: TempDir,
    /// A head, and the rows of a clean index up to there.
    clean: Mutex<(u64, Vec<Value>)>,
}

/// The folder of a nest, whose segments are in the bucket.
struct Store<'a> {
    lab: &'a Lab,
    nest: PathBuf,
    env: Vec<(&'static str, String)>,
}

impl Lab {
    async fn new(seed: u64, head: u64) -> Lab {
        Lab::by(Clock::real(), seed, head).await
    }

    async fn by(clock: Clock, seed: u64, head: u64) -> Lab {
        let chain = MockChain::new(seed, head);
        let rpc = MockRpc::start(&chain).await;
        let s3 = S3::start(&clock).await.unwrap();
        Lab { clock, chain, rpc, s3, scratch: tempfile::tempdir().unwrap(), clean: Mutex::default() }
    }

    /// A new store in a folder of this name.
    fn store(&self, name: &str) -> Store<'_> {
        let parent = self.scratch.path().join(name);
        std::fs::create_dir(&parent).unwrap();
        let env = [self.s3.env(), self.clock.env()].concat();
        Store { lab: self, nest: NEST.write(&parent, &self.chain).unwrap(), env }
    }

    /// Keys of all objects with their sizes, as an operator's own tool would list them.
    async fn objects(&self) -> BTreeMap<String, u64> {
        self.s3.objects().await.unwrap()
    }

    /// Bytes of an object, by its key in the catalogue.
    async fn size(&self, key: &str) -> u64 {
        self.objects().await.into_iter().find(|(object, _)| object.ends_with(key)).unwrap().1
    }
}

impl Store<'_> {
    fn env(&self) -> Vec<(&str, &str)> {
        self.env.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// Another value of a variable.
    fn with(self, name: &'static str, value: &str) -> Self {
        let mut env = self.env;
        env.retain(|(other, _)| *other != name);
        env.push((name, value.to_owned()));
        Store { env, ..self }
    }

    async fn dev(&self) -> Dev {
        let (rows, rpc, place) = (ROWS.to_string(), self.lab.rpc.url(), self.place());
        let all = ["--segment-rows", &rows, "--rpc", &rpc, "--segments", &place];
        Dev::start_with(EXE, &self.nest, &all, &self.env()).await.unwrap()
    }

    fn place(&self) -> String {
        self.lab.s3.place("history/of")
    }

    async fn command(&self, args: &[&str]) -> Finished {
        run_with(EXE, &self.nest, args, &self.env()).await.unwrap()
    }

    async fn list(&self) -> Finished {
        self.command(&["segments", "list", "--json"]).await
    }

    /// Keys of the segments of a table, in block order.
    async fn keys_of(&self, table: &str) -> Vec<String> {
        let listed = listed(&self.list().await).unwrap();
        let of_table = listed.iter().filter(|it| it["table"] == table);
        of_table.map(|it| it["key"].as_str().unwrap().to_owned()).collect()
    }

    /// Keys of objects of this store that its catalogue does not name, once nothing is on its way to the bucket.
    async fn unnamed(&self) -> BTreeSet<String> {
        let mut before = self.lab.objects().await;
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let now = self.lab.objects().await;
            if now == before {
                break;
            }
            before = now;
        }
        let named = listed(&self.list().await).unwrap();
        let named: BTreeSet<&str> = named.iter().map(|it| it["key"].as_str().unwrap()).collect();
        let keys = before.keys().map(|key| key.strip_prefix("history/of/").unwrap());
        keys.filter(|key| !named.contains(key)).map(str::to_owned).collect()
    }

    /// Waits until the head is reached and all is sealed that has to be; gives the segments.
    async fn settled(&self, dev: &Dev) -> Segments {
        settled_by_and_by(dev, NEST.name, &self.lab.chain, ROWS, async || Ok(self.list().await)).await.unwrap()
    }

    async fn has_clean_rows(&self, dev: &Dev) {
        dev.wait_at(NEST.name, self.lab.chain.head()).await.unwrap();
        let rows = all_rows(dev, NEST.name).await.unwrap();
        let mut known = self.lab.clean.lock().await;
        let (head, clean) = &mut *known;
        if *head != self.lab.chain.head().number.0 {
            *clean = clean_rows(EXE, self.lab.scratch.path(), &self.lab.chain, &NEST).await.unwrap();
            *head = self.lab.chain.head().number.0;
        }
        assert!(!clean.is_empty());
        assert!(rows == *clean, "{} rows, {} in a clean index", rows.len(), clean.len());
    }

    /// Settles, holds the rows against a clean index, ends `dev`, verifies every file; gives the segments.
    async fn ends_well(&self, dev: Dev) -> Segments {
        let found = self.settled(&dev).await;
        self.has_clean_rows(&dev).await;
        let log = dev.log();
        assert!(!log.contains(S3::KEY_ID) && !log.contains(S3::SECRET), "a credential is in the log: {log}");
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
        self.verify_is_clean().await;
        found
    }

    async fn verify_is_clean(&self) {
        let verified = self.command(&["segments", "verify", "--segments", &self.place()]).await;
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
        assert!(verified.stdout.contains("; 0 missing or damaged"), "{}", verified.stdout);
        assert!(!segments(&self.list().await).unwrap().is_empty());
    }

    /// `segments gc --delete`: keys that it deleted.
    async fn gc(&self) -> Vec<String> {
        let done = self.command(&["segments", "gc", "--delete", "--segments", &self.place()]).await;
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let keys = done.stdout.lines().filter_map(|line| line.split_once("  "));
        keys.map(|(key, _)| key.to_owned()).collect()
    }
}
