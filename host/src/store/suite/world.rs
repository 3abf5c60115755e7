//! A small made-up chain and nest for the suite.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{
    ArrayRef, AsArray, FixedSizeBinaryArray, RecordBatch, TimestampSecondArray, UInt32Array, UInt64Array,
};
use arrow::datatypes::{SchemaRef, UInt64Type};

use crate::model::{
    BlockHash, BlockNumber, BlockRange, BlockRef, Branch, BundleHash, ColumnSchema, ColumnType, DataIdentity,
    DatasetId, DatasetKey, Endpoint, Fault, TableId, TableSchema, arrow_schema, ignored_schema,
};
use crate::store::{
    ChunkMeta, Commit, CursorState, DatasetCommit, DatasetState, HotReader, HotStore, NewChunk, NewDataset, chunk,
};

/// A store with what must live as long as it.
pub(crate) struct Opened<S, K> {
    pub store: S,
    #[allow(dead_code)]
    pub keep: K,
}

/// Block `number` of fork `fork`.
pub(crate) fn block(number: u64, fork: u64) -> BlockRef {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    hash[24..].copy_from_slice(&fork.to_be_bytes());
    BlockRef { number: BlockNumber(number), hash: BlockHash::from(hash) }
}

pub(crate) fn blocks(first: u64, last: u64, fork: u64) -> Vec<BlockRef> {
    (first..=last).map(|number| block(number, fork)).collect()
}

pub(crate) fn range(first: u64, last: u64) -> BlockRange {
    BlockRange::new(BlockNumber(first), BlockNumber(last)).unwrap()
}

fn table(name: &str) -> TableSchema {
    let value =
        ColumnSchema { name: "value".to_owned(), ty: ColumnType::Uint(64), nullable: false, doc: String::new() };
    TableSchema { name: name.to_owned(), columns: vec![value], doc: String::new() }
}

pub(crate) fn dataset(seed: u8, first_block: u64) -> NewDataset {
    NewDataset {
        key: DatasetKey { identity: DataIdentity([seed; 32]), first_block: BlockNumber(first_block) },
        nest: format!("nest-{seed}").parse().unwrap(),
        bundle: BundleHash([seed; 32]),
        tables: vec![table("a__transfer"), table("a__approval")],
        engine: "engine 1".to_owned(),
        backfill: None,
    }
}

pub(crate) fn endpoint(name: &str, dataset: DatasetId) -> Endpoint {
    Endpoint {
        name: name.parse().unwrap(),
        nest: name.parse().unwrap(),
        version: semver::Version::new(1, 0, 0),
        bundle: BundleHash([7; 32]),
        dataset,
        manifest: "{}".to_owned(),
        views: vec![("daily".to_owned(), "SELECT 1".to_owned())],
        epoch: 0,
    }
}

pub(crate) fn fault(at: BlockRef) -> Fault {
    Fault { block: at, log_index: 3, class: "trap".to_owned(), message: "unreachable".to_owned() }
}

/// A row: block number, fork of its block, log index, value.
pub(crate) type Row = (u64, u64, u64, u64);

/// Rows of a window: `per_block` in each block, the value made of block, fork and log.
pub(crate) fn rows(blocks: BlockRange, fork: u64, per_block: u64) -> Vec<Row> {
    (blocks.first.0..=blocks.last.0)
        .flat_map(|number| (0..per_block).map(move |log| (number, fork, log, number * 1_000_000 + fork * 1_000 + log)))
        .collect()
}

fn event_schema() -> SchemaRef {
    arrow_schema(&table("any"))
}

pub(crate) fn batch(rows: &[Row]) -> RecordBatch {
    let fixed = |width: i32, values: Vec<Vec<u8>>| -> ArrayRef {
        let size = width as usize;
        assert!(values.iter().all(|value| value.len() == size));
        Arc::new(FixedSizeBinaryArray::new(width, values.concat().into(), None))
    };
    let numbers = |of: fn(&Row) -> u64| -> ArrayRef { Arc::new(UInt64Array::from_iter_values(rows.iter().map(of))) };
    let times = rows.iter().map(|row| row.0 as i64 * 12);
    RecordBatch::try_new(
        event_schema(),
        vec![
            numbers(|row| row.0),
            fixed(32, rows.iter().map(|row| block(row.0, row.1).hash.to_vec()).collect()),
            Arc::new(TimestampSecondArray::from_iter_values(times).with_timezone("+00:00")),
            fixed(32, rows.iter().map(|row| vec![row.2 as u8; 32]).collect()),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.2 as u32))),
            numbers(|row| row.2),
            fixed(20, rows.iter().map(|_| vec![9; 20]).collect()),
            numbers(|row| row.3),
        ],
    )
    .unwrap()
}

pub(crate) fn new_chunk(table: u32, range: BlockRange, rows: &[Row]) -> NewChunk {
    let bytes = chunk::encode(&batch(rows)).unwrap();
    NewChunk { table: TableId::Event(table), range, rows: rows.len() as u64, bytes }
}

/// Counts of ignored logs, one a block.
pub(crate) fn ignored_chunk(range: BlockRange) -> NewChunk {
    let count = range.blocks() as usize;
    let rows = RecordBatch::try_new(
        ignored_schema(),
        vec![
            Arc::new(UInt64Array::from_iter_values(range.first.0..=range.last.0)),
            Arc::new(FixedSizeBinaryArray::new(20, vec![1u8; 20 * count].into(), None)),
            Arc::new(FixedSizeBinaryArray::new_null(32, count)),
            Arc::new(UInt64Array::from_value(1, count)),
        ],
    )
    .unwrap();
    NewChunk { table: TableId::Ignored, range, rows: count as u64, bytes: chunk::encode(&rows).unwrap() }
}

/// One dataset's window of `per_block` rows a block in its first table.
pub(crate) fn window(
    dataset: DatasetId,
    from: Option<BlockRef>,
    blocks: BlockRange,
    fork: u64,
    per_block: u64,
) -> DatasetCommit {
    let rows = rows(blocks, fork, per_block);
    let chunks = if rows.is_empty() { vec![] } else { vec![new_chunk(0, blocks, &rows)] };
    DatasetCommit { dataset, from, done_to: block(blocks.last.0, fork), chunks, sealed: Vec::new() }
}

/// A commit of final blocks.
pub(crate) fn finals(parts: Vec<DatasetCommit>, end: u64) -> Commit {
    Commit { final_block: Some(block(end, 0)), datasets: parts, ..Commit::default() }
}

/// A commit at the tip: these blocks, on this branch.
pub(crate) fn tip(branch: Branch, blocks: Vec<BlockRef>, parts: Vec<DatasetCommit>) -> Commit {
    Commit { branch: Some(branch), blocks, final_block: None, datasets: parts }
}

pub(crate) async fn state<S: HotReader + ?Sized>(store: &S) -> CursorState {
    store.read().await.unwrap().state().await.unwrap()
}

pub(crate) async fn dataset_state<S: HotReader + ?Sized>(store: &S, id: DatasetId) -> DatasetState {
    state(store).await.datasets.into_iter().find(|dataset| dataset.id == id).unwrap()
}

/// Chunks and rows of a dataset as a query would see them, through an endpoint made for the purpose.
pub(crate) async fn seen(store: &dyn HotStore, id: DatasetId) -> (Vec<ChunkMeta>, Vec<(TableId, Row)>) {
    let name = watch(store, id).await;
    let seen = read_rows(store, &name).await;
    store.remove_endpoint(&name.parse().unwrap()).await.unwrap();
    seen
}

/// An endpoint of the dataset; returns its name.
pub(crate) async fn watch(store: &dyn HotStore, id: DatasetId) -> String {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    let name = format!("watch-{}", NAMES.fetch_add(1, Ordering::Relaxed));
    store.put_endpoint(endpoint(&name, id)).await.unwrap();
    name
}

pub(crate) async fn read_rows<S: HotReader + ?Sized>(store: &S, name: &str) -> (Vec<ChunkMeta>, Vec<(TableId, Row)>) {
    let mut read = store.read().await.unwrap();
    let snapshot = read.snapshot(&name.parse().unwrap()).await.unwrap().unwrap();
    let mut all = Vec::new();
    for meta in &snapshot.chunks {
        let bytes = read.chunk(meta.id).await.unwrap().unwrap();
        assert_eq!(bytes.len() as u64, meta.bytes);
        let schema = if meta.table == TableId::Ignored { ignored_schema() } else { event_schema() };
        let batch = chunk::decode(&schema, bytes).unwrap();
        assert_eq!(batch.num_rows() as u64, meta.rows);
        assert!(chunk::within(&batch, meta.range).unwrap());
        all.extend(rows_of(&batch).into_iter().map(|row| (meta.table, row)));
    }
    check_chunks(&snapshot.dataset, &snapshot.chunks);
    (snapshot.chunks, all)
}

/// Chunks of one table never overlap and lie within what is done.
fn check_chunks(dataset: &DatasetState, chunks: &[ChunkMeta]) {
    for pair in chunks.windows(2).filter(|pair| pair[0].table == pair[1].table) {
        assert!(pair[0].range.last < pair[1].range.first, "{pair:?} overlap");
    }
    for chunk in chunks {
        assert!(chunk.rows > 0);
        assert!(chunk.range.first >= dataset.key.first_block);
        assert!(dataset.done_to.is_some_and(|done| chunk.range.last <= done.number));
    }
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let number = |name: &str, row: usize| {
        batch.column_by_name(name).map_or(0, |column| column.as_primitive::<UInt64Type>().value(row))
    };
    let fork = |row: usize| {
        batch.column_by_name("block_hash").map_or(0, |column| {
            let hash = column.as_fixed_size_binary().value(row);
            u64::from_be_bytes(hash[24..].try_into().unwrap())
        })
    };
    (0..batch.num_rows())
        .map(|row| (number("block_number", row), fork(row), number("log_index", row), number("value", row)))
        .collect()
}

/// The rows that [`rows`] makes, as [`read_rows`] returns them from the first table.
pub(crate) fn expected(parts: &[(BlockRange, u64, u64)]) -> Vec<(TableId, Row)> {
    let of = |&(blocks, fork, per_block): &(BlockRange, u64, u64)| rows(blocks, fork, per_block);
    parts.iter().flat_map(of).map(|row| (TableId::Event(0), row)).collect()
}
