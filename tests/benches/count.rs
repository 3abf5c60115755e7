//! How long `SELECT count(*)` takes through HTTP over rows that a live tip laid down, four a block, after a restart.
//!
//! Prints percentiles of 300 requests, one after the other on one connection, and of a scan that reads a column.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, TimestampSecondArray, UInt32Array, UInt64Array};
use nuthatch::model::{
    BlockNumber, BlockRange, BlockRef, BundleHash, ChainId, ColumnSchema, ColumnType, DataIdentity, DatasetId,
    DatasetKey, Endpoint, TableId, TableSchema, arrow_schema,
};
use nuthatch::query::{QueryEngine, QueryLimits};
use nuthatch::serve::{Surroundings, router, run};
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use nuthatch::store::{Commit, DatasetCommit, HotReader, HotStore, NewChunk, NewDataset, chunk};

const CHAIN: ChainId = ChainId(1);
const BLOCKS: u64 = 3_200;
const ROWS: u64 = 4;
const REQUESTS: usize = 300;

type Any<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn block(number: u64) -> BlockRef {
    let mut hash = [0; 32];
    hash[24..].copy_from_slice(&number.to_be_bytes());
    BlockRef { number: BlockNumber(number), hash: hash.into() }
}

fn table() -> TableSchema {
    let column = |name: &str, ty| ColumnSchema { name: name.to_owned(), ty, nullable: false, doc: String::new() };
    let columns = vec![
        column("from_", ColumnType::Address),
        column("to_", ColumnType::Address),
        column("value", ColumnType::Uint(256)),
    ];
    TableSchema { name: "token__transfer".to_owned(), columns, doc: String::new() }
}

fn rows(number: u64) -> Any<RecordBatch> {
    let fixed = |width: usize| -> Any<ArrayRef> {
        let values = (0..ROWS).map(|log| {
            let mut value = vec![0; width];
            value[width - 8..].copy_from_slice(&(number * ROWS + log).to_be_bytes());
            value
        });
        Ok(Arc::new(FixedSizeBinaryArray::try_from_iter(values)?))
    };
    let times = TimestampSecondArray::from_iter_values((0..ROWS).map(|_| number as i64 * 12)).with_timezone("+00:00");
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values((0..ROWS).map(|_| number))),
        fixed(32)?,
        Arc::new(times),
        fixed(32)?,
        Arc::new(UInt32Array::from_iter_values(0..ROWS as u32)),
        Arc::new(UInt64Array::from_iter_values(0..ROWS)),
        fixed(20)?,
        fixed(20)?,
        fixed(20)?,
        fixed(32)?,
    ];
    Ok(RecordBatch::try_new(arrow_schema(&table()), columns)?)
}

async fn lay_down(store: &SqliteStore) -> Any<DatasetId> {
    let dataset = store
        .create_dataset(NewDataset {
            key: DatasetKey { identity: DataIdentity([1; 32]), first_block: BlockNumber(1) },
            nest: "token".parse()?,
            bundle: BundleHash([7; 32]),
            tables: vec![table()],
            engine: "bench".to_owned(),
            backfill: None,
        })
        .await?;
    store
        .put_endpoint(Endpoint {
            name: "token".parse()?,
            nest: "token".parse()?,
            version: "1.0.0".parse()?,
            bundle: BundleHash([7; 32]),
            dataset,
            manifest: "{}".to_owned(),
            views: Vec::new(),
            epoch: 0,
        })
        .await?;
    let branch = store.read().await?.state().await?.branch;
    for number in 1..=BLOCKS {
        let rows = rows(number)?;
        let range = BlockRange { first: BlockNumber(number), last: BlockNumber(number) };
        let chunk = NewChunk { table: TableId::Event(0), range, rows: ROWS, bytes: chunk::encode(&rows)? };
        let from = (number > 1).then(|| block(number - 1));
        let datasets =
            vec![DatasetCommit { dataset, from, done_to: block(number), chunks: vec![chunk], sealed: Vec::new() }];
        let commit = Commit { branch: Some(branch), blocks: vec![block(number)], final_block: None, datasets };
        store.commit(commit).await?;
    }
    Ok(dataset)
}

async fn measure(client: &reqwest::Client, url: &str, sql: &str) -> Any<()> {
    let mut times = Vec::with_capacity(REQUESTS);
    let mut first = None;
    for _ in 0..REQUESTS {
        let started = Instant::now();
        let body = client.post(url).body(sql.to_owned()).send().await?.error_for_status()?.text().await?;
        let took = started.elapsed();
        first.get_or_insert((took, body));
        times.push(took);
    }
    times.sort();
    let (first, body) = first.unwrap_or_default();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("{sql}");
    println!("  {}", body.chars().take(160).collect::<String>());
    println!("  first {first:?}, p50 {:?}, p95 {:?}, max {:?}", at(50), at(95), at(100));
    Ok(())
}

#[tokio::main]
async fn main() -> Any<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::TempDir::new()?;
    let lock = DataLock::acquire(folder.path())?;
    let store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await?;
    let started = Instant::now();
    lay_down(&store).await?;
    println!("{BLOCKS} blocks of {ROWS} rows, one commit each: {:?}", started.elapsed());
    drop(store);
    drop(lock);

    let lock = DataLock::acquire(folder.path())?;
    let _store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await?;
    let reader: Arc<dyn HotReader> = Arc::new(SqliteReader::open(folder.path(), CHAIN).await?);
    let engine = QueryEngine::new(vec![reader], QueryLimits::default())?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/nests/token/sql", listener.local_addr()?);
    let around = Surroundings { readiness: Arc::new(()), metrics: Arc::new(String::new) };
    tokio::spawn(run(listener, router(engine, around), std::future::pending()));

    let client = reqwest::Client::builder().timeout(Duration::from_secs(60)).build()?;
    for sql in [
        "SELECT 1",
        "SELECT count(*) FROM token__transfer",
        "SELECT count(*) FROM _status",
        "SELECT sum(value) FROM token__transfer",
        "SELECT * FROM token__transfer ORDER BY block_number DESC LIMIT 10",
    ] {
        measure(&client, &url, sql).await?;
    }
    Ok(())
}
