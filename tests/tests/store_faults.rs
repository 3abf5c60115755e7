//! The SQLite store on file systems that fail: full, read-only, gone read-only after a crash.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, TimestampSecondArray, UInt32Array, UInt64Array};
use nuthatch::model::{
    BlockHash, BlockNumber, BlockRange, BlockRef, BundleHash, ChainId, ColumnSchema, ColumnType, DataIdentity,
    DatasetId, DatasetKey, Endpoint, TableId, TableSchema, arrow_schema,
};
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use nuthatch::store::{Commit, DatasetCommit, HotReader, HotStore, NewChunk, NewDataset, StoreError, chunk};
use nuthatch_tests::mount::Mount;
use tempfile::TempDir;

const CHAIN: ChainId = ChainId(1);
const ROWS: u64 = 200;

fn block(number: u64) -> BlockRef {
    BlockRef { number: BlockNumber(number), hash: BlockHash::repeat_byte(number as u8) }
}

fn table() -> TableSchema {
    let value =
        ColumnSchema { name: "value".to_owned(), ty: ColumnType::Uint(64), nullable: false, doc: String::new() };
    TableSchema { name: "a__transfer".to_owned(), columns: vec![value], doc: String::new() }
}

/// The window of one block.
fn commit(dataset: DatasetId, number: u64) -> Commit {
    let count = ROWS as usize;
    let fixed = |width: usize| -> ArrayRef {
        // Nothing that compresses or repeats between blocks.
        let bytes: Vec<u8> = (0..width * count).map(|at| (at as u64 * 31 + number * 17) as u8).collect();
        Arc::new(FixedSizeBinaryArray::new(width as i32, bytes.into(), None))
    };
    let numbers = || -> ArrayRef { Arc::new(UInt64Array::from_iter_values(0..ROWS)) };
    let batch = RecordBatch::try_new(
        arrow_schema(&table()),
        vec![
            Arc::new(UInt64Array::from_value(number, count)),
            fixed(32),
            Arc::new(TimestampSecondArray::from_value(number as i64, count).with_timezone("+00:00")),
            fixed(32),
            Arc::new(UInt32Array::from_value(0, count)),
            numbers(),
            fixed(20),
            numbers(),
        ],
    )
    .unwrap();
    let range = BlockRange::new(BlockNumber(number), BlockNumber(number)).unwrap();
    let chunk = NewChunk { table: TableId::Event(0), range, rows: ROWS, bytes: chunk::encode(&batch).unwrap() };
    let from = (number > 1).then(|| block(number - 1));
    let part = DatasetCommit { dataset, from, done_to: block(number), chunks: vec![chunk], sealed: Vec::new() };
    Commit { final_block: Some(block(number)), datasets: vec![part], ..Commit::default() }
}

async fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&DataLock::acquire(folder).unwrap(), CHAIN, SqliteOptions::default()).await.unwrap()
}

async fn begin(store: &SqliteStore) -> DatasetId {
    let key = DatasetKey { identity: DataIdentity([1; 32]), first_block: BlockNumber(1) };
    let nest: nuthatch::model::NestName = "usdc".parse().unwrap();
    let (bundle, engine) = (BundleHash([1; 32]), "engine".to_owned());
    let new = NewDataset { key, nest: nest.clone(), bundle, tables: vec![table()], engine, backfill: None };
    let dataset = store.create_dataset(new).await.unwrap();
    let version = "1.0.0".parse().unwrap();
    let (manifest, views) = ("{}".to_owned(), vec![]);
    let endpoint = Endpoint { name: nest.clone(), nest, version, bundle, dataset, manifest, views, epoch: 0 };
    store.put_endpoint(endpoint).await.unwrap();
    dataset
}

/// Blocks whose rows are there, each chunk read and decoded.
async fn blocks_there(reader: &dyn HotReader) -> u64 {
    let mut read = reader.read().await.unwrap();
    let snapshot = read.snapshot(&"usdc".parse().unwrap()).await.unwrap().unwrap();
    for (place, meta) in snapshot.chunks.iter().enumerate() {
        assert_eq!((meta.range.first, meta.rows), (BlockNumber(place as u64 + 1), ROWS));
        let bytes = read.chunk(meta.id).await.unwrap().unwrap();
        assert_eq!(chunk::decode(&arrow_schema(&table()), bytes).unwrap().num_rows() as u64, ROWS);
    }
    let there = snapshot.chunks.len() as u64;
    assert_eq!(snapshot.dataset.done_to.map_or(0, |done| done.number.0), there);
    there
}

/// I7: a full disk stops the store between two commits, and room lets it go on, without a repair or a restart.
#[tokio::test]
async fn a_full_disk_loses_nothing_and_room_lets_it_go_on() {
    let disk = Mount::of_kib(4 << 10);
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0u8; 2 << 20]).unwrap();
    let store = open(disk.path()).await;
    let dataset = begin(&store).await;
    let mut done = 0;
    let refused = loop {
        match store.commit(commit(dataset, done + 1)).await {
            Ok(()) => done += 1,
            Err(error) => break error,
        }
        assert!(done < 1_000, "the disk never filled");
    };
    assert!(matches!(&refused, StoreError::DiskFull { path } if path.ends_with("chain-1.sqlite")), "{refused}");
    assert!(done > 5, "it was full after {done} blocks");
    // It goes on being full, and keeps serving what it has.
    for _ in 0..3 {
        let again = store.commit(commit(dataset, done + 1)).await.unwrap_err();
        assert!(matches!(again, StoreError::DiskFull { .. }), "{again}");
    }
    assert_eq!(blocks_there(&store).await, done);
    fs::remove_file(&ballast).unwrap();
    for number in done + 1..=done + 5 {
        store.commit(commit(dataset, number)).await.unwrap();
    }
    assert_eq!(blocks_there(&store).await, done + 5);
    store.close().await;
    drop(store);
    assert_eq!(blocks_there(&open(disk.path()).await).await, done + 5);
}

/// A disk with no room at all: nothing half made is left in the way.
#[tokio::test]
async fn a_first_start_on_a_full_disk_can_be_tried_again() {
    let disk = Mount::of_kib(1 << 10);
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0u8; (1 << 20) - (8 << 10)]).unwrap();
    let lock = DataLock::acquire(disk.path()).unwrap();
    let refused = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await.unwrap_err();
    assert!(matches!(refused, StoreError::DiskFull { .. }), "{refused}");
    fs::remove_file(&ballast).unwrap();
    let store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await.unwrap();
    begin(&store).await;
}

#[tokio::test]
async fn a_read_only_folder_is_read_and_not_owned() {
    let disk = Mount::of_kib(16 << 10);
    let store = open(disk.path()).await;
    let dataset = begin(&store).await;
    for number in 1..=3 {
        store.commit(commit(dataset, number)).await.unwrap();
    }
    store.close().await;
    drop(store);
    let view = Mount::read_only_view(disk.path());
    let refused = DataLock::acquire(view.path()).unwrap_err();
    assert!(
        matches!(&refused, StoreError::NotWritable { path, reason } if path.contains("lock") && reason.contains("Read-only")),
        "{refused}"
    );
    let refused = DataLock::acquire(&view.path().join("new")).unwrap_err();
    assert!(matches!(refused, StoreError::NotWritable { .. }), "{refused}");
    let reader = SqliteReader::open(view.path(), CHAIN).await.unwrap();
    assert_eq!(blocks_there(&reader).await, 3);
    let missing = SqliteReader::open(view.path(), ChainId(2)).await.unwrap_err();
    assert!(matches!(missing, StoreError::NoStore { .. }), "{missing}");
}

/// A reader that may not write in the folder sees what a live owner commits.
#[tokio::test]
async fn a_read_only_view_of_a_live_folder_is_current() {
    let disk = Mount::of_kib(16 << 10);
    let store = open(disk.path()).await;
    let dataset = begin(&store).await;
    store.commit(commit(dataset, 1)).await.unwrap();
    let view = Mount::read_only_view(disk.path());
    let reader = SqliteReader::open(view.path(), CHAIN).await.unwrap();
    assert_eq!(blocks_there(&reader).await, 1);
    store.commit(commit(dataset, 2)).await.unwrap();
    assert_eq!(blocks_there(&reader).await, 2);
}

/// After a crash the log has to be folded in first, which a folder that cannot be written does not allow: said so,
/// and never rows without the last commits.
#[tokio::test]
async fn a_crashed_folder_that_cannot_be_written_says_what_to_do() {
    let disk = Mount::of_kib(16 << 10);
    let live = TempDir::new().unwrap();
    let store = open(live.path()).await;
    let dataset = begin(&store).await;
    store.commit(commit(dataset, 1)).await.unwrap();
    for name in ["chain-1.sqlite", "chain-1.sqlite-wal"] {
        fs::copy(live.path().join(name), disk.path().join(name)).unwrap();
    }
    {
        let view = Mount::read_only_view(disk.path());
        let refused = SqliteReader::open(view.path(), CHAIN).await.unwrap_err();
        assert!(
            matches!(&refused, StoreError::NotReadable { reason, .. } if reason.contains("make the folder writable")),
            "{refused}"
        );
    }
    let reader = SqliteReader::open(disk.path(), CHAIN).await.unwrap();
    assert_eq!(blocks_there(&reader).await, 1);
}
