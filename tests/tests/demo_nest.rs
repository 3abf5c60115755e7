//! The demo's nest over the demo's chain: its views answer, and answer what the generator's own books say.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, U256};
use nuthatch::chain::{LogFilters, Pace, ReplayOptions, ReplaySource, Source};
use nuthatch::cli::demo;
use nuthatch::model::{BlockRange, DatasetKey, Endpoint, TableId};
use nuthatch::plugin::nest_folder::{self, BuiltNest, DecoderChoice};
use nuthatch::plugin::{Budget, Decoder, PluginHost, PluginLimits};
use nuthatch::query::{QueryEngine, QueryLimits};
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteStore};
use nuthatch::store::{Commit, DatasetCommit, HotReader, HotStore, NewChunk, NewDataset, chunk};
use nuthatch_registry::NestName;
use nuthatch_tests::demo_chain;
use serde_json::Value;

/// The rows of the whole recording, as its node sees it in the end, in a store of its own.
async fn indexed(dir: &std::path::Path, host: &PluginHost) -> QueryEngine {
    let BuiltNest { bundle, plugin, .. } =
        nest_folder::build_files(host, &demo::nest_files(), DecoderChoice::Locked).unwrap();
    let manifest = bundle.manifest();
    let path = dir.join("chain.jsonl");
    std::fs::write(&path, demo::CHAIN).unwrap();
    let source = ReplaySource::open(&path, ReplayOptions { pace: Pace::AtOnce, chain: None }).unwrap();
    assert_eq!(source.chain_id().0, manifest.chain_id);
    let head = source.head().await.unwrap();
    assert_eq!(head.number.0, demo_chain::HEAD);
    let range = BlockRange::new(nuthatch::model::BlockNumber(0), head.number).unwrap();
    let logs = source.logs(&LogFilters::parse(&manifest.filters).unwrap(), range).await.unwrap();

    let decoder =
        Decoder::new(plugin, &manifest.name, bundle.plan().to_vec(), manifest.tables.clone(), Budget::DEFAULT);
    let decoded = decoder.decode(Arc::new(logs)).await.unwrap();
    assert_eq!((decoded.counts.rejected, decoded.counts.ignored), (0, 0));

    let lock = DataLock::acquire(dir).unwrap();
    let store = SqliteStore::open(&lock, source.chain_id(), SqliteOptions::default()).await.unwrap();
    let key = DatasetKey {
        identity: bundle.data_identity(),
        first_block: nuthatch::model::BlockNumber(manifest.first_block()),
    };
    let new = NewDataset {
        key,
        nest: manifest.name.clone(),
        bundle: bundle.hash(),
        tables: manifest.tables.clone(),
        engine: host.fingerprint().to_owned(),
        backfill: None,
    };
    let dataset = store.create_dataset(new).await.unwrap();
    let whole = BlockRange::new(key.first_block, head.number).unwrap();
    let chunks = decoded.tables.iter().map(|(table, rows)| NewChunk {
        table: TableId::Event(*table),
        range: whole,
        rows: rows.num_rows() as u64,
        bytes: chunk::encode(rows).unwrap(),
    });
    let done_to = head.block_ref();
    let commit = Commit {
        final_block: Some(done_to),
        datasets: vec![DatasetCommit { dataset, from: None, done_to, chunks: chunks.collect(), sealed: Vec::new() }],
        ..Commit::default()
    };
    store.commit(commit).await.unwrap();
    let views = bundle.sql_views().unwrap().into_iter().map(|(name, sql)| (name.to_owned(), sql.to_owned()));
    let endpoint = Endpoint {
        name: manifest.name.clone(),
        nest: manifest.name.clone(),
        version: manifest.version.clone(),
        bundle: bundle.hash(),
        dataset,
        manifest: bundle.manifest_json().to_owned(),
        views: views.collect(),
        epoch: 0,
    };
    store.put_endpoint(endpoint).await.unwrap();
    QueryEngine::new(vec![Arc::new(store.reader()) as Arc<dyn HotReader>], QueryLimits::default()).unwrap()
}

async fn rows(engine: &QueryEngine, sql: &str) -> Vec<Value> {
    let nest: NestName = "demo".parse().unwrap();
    let answer = engine.query(&nest, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let json: Value = serde_json::from_str(&answer.to_json()).unwrap();
    json["rows"].as_array().unwrap().clone()
}

/// Balances by the raw logs of the branch that stays, and how many logs that is.
fn books() -> (BTreeMap<Address, U256>, usize) {
    let blocks: BTreeMap<u64, _> = demo_chain::blocks().into_iter().map(|block| (block.number, block)).collect();
    let transfer = alloy_primitives::keccak256("Transfer(address,address,uint256)");
    let mut balances: BTreeMap<Address, U256> = BTreeMap::new();
    let logs: Vec<_> = blocks.values().flat_map(|block| &block.logs).collect();
    for log in logs.iter().filter(|log| log.topics[0] == transfer) {
        let (from, to) = (Address::from_word(log.topics[1]), Address::from_word(log.topics[2]));
        let value = U256::from_be_slice(&log.data);
        if from != Address::ZERO {
            *balances.get_mut(&from).unwrap() -= value;
        }
        *balances.entry(to).or_default() += value;
    }
    balances.retain(|_, balance| !balance.is_zero());
    (balances, logs.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_views_of_the_demo_answer_what_its_chain_holds() {
    let dir = tempfile::tempdir().unwrap();
    let host = PluginHost::new(PluginLimits::default()).unwrap();
    let engine = indexed(dir.path(), &host).await;
    let (balances, logs) = books();

    let told: BTreeMap<Address, U256> = rows(&engine, "SELECT account, balance FROM balances")
        .await
        .iter()
        .map(|row| {
            (row["account"].as_str().unwrap().parse().unwrap(), row["balance"].as_str().unwrap().parse().unwrap())
        })
        .collect();
    assert_eq!(told, balances);

    let mut counted = 0;
    for table in ["acorn__transfer", "acorn__approval", "pool__swap", "pair__swap", "pair__sync", "pair__noted"] {
        let row = &rows(&engine, &format!("SELECT count(*) AS n FROM {table}")).await[0];
        counted += row["n"].as_u64().unwrap() as usize;
    }
    assert_eq!(counted, logs);

    let volume = rows(&engine, "SELECT * FROM daily_volume ORDER BY day, market").await;
    let swaps: u64 = volume.iter().map(|row| row["swaps"].as_u64().unwrap()).sum();
    let pool = rows(&engine, "SELECT count(*) AS n FROM pool__swap").await[0]["n"].as_u64().unwrap();
    let pair = rows(&engine, "SELECT count(*) AS n FROM pair__swap").await[0]["n"].as_u64().unwrap();
    assert_eq!(swaps, pool + pair);
    assert!(volume.iter().all(|row| row["acorns"].as_str().unwrap().parse::<U256>().unwrap() > U256::ZERO));

    let price = rows(&engine, "SELECT * FROM daily_price ORDER BY day").await;
    assert!(price.len() >= 8, "{} days", price.len());
    assert!(price.iter().all(|row| !row["birch_per_million_acorns"].is_null()));

    let unlimited =
        rows(&engine, &format!("SELECT count(*) AS n FROM acorn__approval WHERE value = {}", U256::MAX)).await;
    assert_eq!(unlimited[0]["n"], 1);
    let notes = rows(&engine, "SELECT text, tags, legs FROM pair__noted WHERE text LIKE '🌰%' LIMIT 1").await;
    assert_eq!(notes.len(), 1);
}
