//! Rows that a SQLite store holds, read back over HTTP.

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::{Surroundings, client, router, run, send};
use crate::model::{
    BlockNumber, BlockRange, BlockRef, Branch, BundleHash, ChainId, DataIdentity, DatasetId, DatasetKey, Endpoint,
    Fault, TableId,
};
use crate::query::tests::mem::{Transfer, block, rejection, transfer_table, transfers};
use crate::query::{QueryEngine, QueryLimits};
use crate::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use crate::store::{Commit, DatasetCommit, HotReader, HotStore, NewChunk, NewDataset, Rollback, chunk};

const CHAIN: ChainId = ChainId(1);

struct Stored {
    folder: TempDir,
    store: SqliteStore,
    dataset: DatasetId,
}

impl Stored {
    async fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let lock = DataLock::acquire(folder.path()).unwrap();
        let store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await.unwrap();
        let table = transfer_table("usdc__transfer");
        let new = NewDataset {
            key: DatasetKey { identity: DataIdentity([1; 32]), first_block: BlockNumber(1) },
            nest: "usdc".parse().unwrap(),
            bundle: BundleHash([7; 32]),
            tables: vec![table],
            engine: "engine".to_owned(),
            backfill: None,
        };
        let dataset = store.create_dataset(new).await.unwrap();
        let endpoint = Endpoint {
            name: "usdc".parse().unwrap(),
            nest: "usdc".parse().unwrap(),
            version: "1.2.3".parse().unwrap(),
            bundle: BundleHash([7; 32]),
            dataset,
            manifest: "{}".to_owned(),
            views: vec![("large".to_owned(), "SELECT * FROM usdc__transfer WHERE value > 5".to_owned())],
            epoch: 0,
        };
        store.put_endpoint(endpoint).await.unwrap();
        Stored { folder, store, dataset }
    }

    async fn window(&self, from: Option<BlockRef>, blocks: RangeInclusive<u64>, value: u128) -> DatasetCommit {
        let (first, last) = (*blocks.start(), *blocks.end());
        let rows: Vec<Transfer> =
            blocks.flat_map(|number| (0..4).map(move |log| Transfer { value, ..Transfer::at(number, log) })).collect();
        let range = BlockRange::new(BlockNumber(first), BlockNumber(last)).unwrap();
        let made = [(TableId::Event(0), transfers(&rows)), (TableId::Rejected, rejection((first, 9), "bad-length"))];
        let chunks = made.map(|(table, rows)| NewChunk {
            table,
            range,
            rows: rows.num_rows() as u64,
            bytes: chunk::encode(&rows).unwrap(),
        });
        DatasetCommit { dataset: self.dataset, from, done_to: block(last), chunks: chunks.into(), sealed: Vec::new() }
    }

    /// Final blocks in one window.
    async fn backfill(&self, last: u64) {
        let datasets = vec![self.window(None, 1..=last, 1).await];
        let commit = Commit { branch: None, blocks: Vec::new(), final_block: Some(block(last)), datasets };
        self.store.commit(commit).await.unwrap();
    }

    /// One block at the tip.
    async fn tip(&self, branch: Branch, number: u64, value: u128) {
        let datasets = vec![self.window(Some(block(number - 1)), number..=number, value).await];
        let commit = Commit { branch: Some(branch), blocks: vec![block(number)], final_block: None, datasets };
        self.store.commit(commit).await.unwrap();
    }

    async fn branch(&self) -> Branch {
        self.store.read().await.unwrap().state().await.unwrap().branch
    }
}

async fn serve(reader: Arc<dyn HotReader>) -> String {
    let engine = QueryEngine::new(vec![reader], QueryLimits::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let around = Surroundings { readiness: Arc::new(()), metrics: Arc::new(String::new) };
    tokio::spawn(run(listener, router(engine, around), std::future::pending()));
    url
}

async fn sql(url: &str, sql: &str) -> Value {
    let reply = send(client().post(format!("{url}/nests/usdc/sql")).body(sql.to_owned())).await;
    assert_eq!(reply.status, 200, "{sql}: {}", reply.body);
    reply.json()
}

#[tokio::test]
async fn committed_rows_are_answered_and_outlive_a_restart() {
    let stored = Stored::new().await;
    stored.backfill(10).await;
    stored.tip(stored.branch().await, 11, 2).await;
    let Stored { folder, store, .. } = stored;
    let url = serve(Arc::new(SqliteReader::open(folder.path(), CHAIN).await.unwrap())).await;
    let before = sql(&url, "SELECT * FROM usdc__transfer ORDER BY block_number, log_index").await;
    assert_eq!(before["rows"].as_array().unwrap().len(), 44);
    assert_eq!(before["rows"][43]["value"], json!("2"));
    assert_eq!(before["meta"]["as_of_hash"], json!(block(11).hash.to_string()));
    assert_eq!(before["meta"]["complete"], json!(true));
    let rejected = sql(&url, "SELECT block_number, code FROM _rejected ORDER BY 1").await;
    assert_eq!(rejected["rows"][1], json!({"block_number": 11, "code": "bad-length"}));

    drop(store);
    let lock = DataLock::acquire(folder.path()).unwrap();
    let store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await.unwrap();
    let url = serve(Arc::new(SqliteReader::open(folder.path(), CHAIN).await.unwrap())).await;
    let after = sql(&url, "SELECT * FROM usdc__transfer ORDER BY block_number, log_index").await;
    assert_eq!(after, before);
    drop(store);
}

#[tokio::test]
async fn a_warm_cache_shows_the_rows_of_the_new_branch() {
    let stored = Stored::new().await;
    stored.backfill(10).await;
    for number in 11..=14 {
        stored.tip(stored.branch().await, number, 5).await;
    }
    let url = serve(Arc::new(SqliteReader::open(stored.folder.path(), CHAIN).await.unwrap())).await;
    let totals = "SELECT sum(value) AS total, count(*) AS n, max(block_number) AS last FROM usdc__transfer";
    for _ in 0..2 {
        assert_eq!(sql(&url, totals).await["rows"][0], json!({"total": "120", "n": 56, "last": 14}));
    }
    let branch = stored.branch().await;
    let replacement = Commit {
        branch: Some(branch),
        blocks: vec![BlockRef { number: BlockNumber(13), hash: [0xee; 32].into() }],
        final_block: None,
        datasets: vec![DatasetCommit {
            done_to: BlockRef { number: BlockNumber(13), hash: [0xee; 32].into() },
            ..stored.window(Some(block(12)), 13..=13, 1_000).await
        }],
    };
    stored.store.rollback(Rollback { ancestor: block(12), replacement }).await.unwrap();
    let answer = sql(&url, totals).await;
    assert_eq!(answer["rows"][0], json!({"total": "4080", "n": 52, "last": 13}));
    assert_eq!(answer["meta"]["as_of_hash"], json!(format!("0x{}", "ee".repeat(32))));
}

#[tokio::test]
async fn merged_chunks_hold_the_same_rows() {
    let stored = Stored::new().await;
    stored.backfill(3).await;
    for number in 4..=40 {
        stored.tip(stored.branch().await, number, u128::from(number)).await;
    }
    let url = serve(Arc::new(SqliteReader::open(stored.folder.path(), CHAIN).await.unwrap())).await;
    let all = "SELECT * FROM usdc__transfer ORDER BY block_number DESC, log_index DESC";
    let before = sql(&url, all).await;
    let final_block = Commit { final_block: Some(block(40)), ..Commit::default() };
    stored.store.commit(final_block).await.unwrap();
    let mut merged = 0;
    while let gone @ 1.. = stored.store.merge().await.unwrap() {
        merged += gone;
    }
    assert!(merged > 30, "{merged}");
    assert_eq!(sql(&url, all).await["rows"], before["rows"]);
    assert_eq!(sql(&url, "SELECT count(*) AS n FROM usdc__transfer").await["rows"], json!([{"n": 160}]));
}

#[tokio::test]
async fn a_quarantined_nest_serves_what_it_has() {
    let stored = Stored::new().await;
    stored.backfill(10).await;
    let fault = Fault { block: block(11), log_index: 2, class: "trap".to_owned(), message: "unreachable".to_owned() };
    stored.store.quarantine(stored.dataset, fault).await.unwrap();
    let url = serve(Arc::new(SqliteReader::open(stored.folder.path(), CHAIN).await.unwrap())).await;
    let answer = sql(&url, "SELECT count(*) AS n FROM large").await;
    assert_eq!(answer["meta"]["complete"], json!(false));
    assert_eq!(answer["meta"]["reason"], json!("quarantined: trap at block 11, log 2: unreachable"));
    let status = sql(&url, "SELECT block_number, status, fault FROM _status").await;
    assert_eq!(status["rows"][0]["status"], json!("quarantined"));
}
