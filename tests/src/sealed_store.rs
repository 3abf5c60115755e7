//! A store whose rows are sealed already, made without indexing: for what is asked of many segments.

use std::sync::Arc;

use anyhow::Result;
use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, TimestampSecondArray, UInt32Array, UInt64Array};
use nuthatch::model::{
    BlockNumber, BlockRange, BlockRef, BundleHash, ColumnSchema, ColumnType, DataIdentity, DatasetKey, Endpoint,
    TableId, TableSchema, arrow_schema,
};
use nuthatch::segments::{Place, encode, key};
use nuthatch::store::{Commit, DatasetCommit, HotStore, NewDataset, SealedRows, SegmentMeta};

/// The nest and endpoint.
pub const NEST: &str = "token";
/// The table.
pub const TABLE: &str = "token__transfer";
/// Rows of each block.
pub const BLOCK_ROWS: u64 = 128;
/// Rows of each segment, as the format has them.
pub const SEGMENT_ROWS: u64 = 131_072;
/// Contracts that the rows are spread over.
const CONTRACTS: u64 = 10_000;

/// Blocks of one segment.
pub const SEGMENT_BLOCKS: u64 = SEGMENT_ROWS / BLOCK_ROWS;

fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 32)
}

/// A block of the chain.
pub fn block(number: u64) -> BlockRef {
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
        column("amount", ColumnType::Uint(64)),
    ];
    TableSchema { name: TABLE.to_owned(), columns, doc: String::new() }
}

/// `width` bytes that end with this number.
fn wide(width: usize, number: u64) -> Vec<u8> {
    let mut bytes = vec![0; width];
    bytes[width - 8..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// The sender of a row: its own, so that one row answers a lookup.
pub fn sender(row: u64) -> Vec<u8> {
    wide(20, mix(row) | 1 << 63)
}

/// The transaction of a row; four rows share one.
pub fn transaction(row: u64) -> Vec<u8> {
    wide(32, mix(row / 4 + (1 << 40)))
}

fn rows(first_block: u64) -> Result<RecordBatch> {
    let rows = || first_block * BLOCK_ROWS..first_block * BLOCK_ROWS + SEGMENT_ROWS;
    let fixed = |value: &dyn Fn(u64) -> Vec<u8>| -> Result<ArrayRef> {
        Ok(Arc::new(FixedSizeBinaryArray::try_from_iter(rows().map(value))?))
    };
    let times = TimestampSecondArray::from_iter_values(rows().map(|row| time(row / BLOCK_ROWS)));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(rows().map(|row| row / BLOCK_ROWS))),
        fixed(&|row| wide(32, row / BLOCK_ROWS))?,
        Arc::new(times.with_timezone("+00:00")),
        fixed(&transaction)?,
        Arc::new(UInt32Array::from_iter_values(rows().map(|row| (row % BLOCK_ROWS / 4) as u32))),
        Arc::new(UInt64Array::from_iter_values(rows().map(|row| row % BLOCK_ROWS))),
        fixed(&|row| wide(20, mix(row) % CONTRACTS))?,
        fixed(&sender)?,
        fixed(&|row| wide(20, mix(row + 1) % 50_000))?,
        fixed(&|row| wide(32, mix(row + 2)))?,
        Arc::new(UInt64Array::from_iter_values(rows().map(|row| mix(row + 3) >> 20))),
    ];
    Ok(RecordBatch::try_new(arrow_schema(&table()), columns)?)
}

/// The time of a block.
pub fn time(block: u64) -> i64 {
    1_700_000_000 + 12 * block as i64
}

/// Makes the dataset with its endpoint and so many segments; gives their keys and sizes, in block order.
pub async fn fill(store: &dyn HotStore, place: &Place, segments: u64) -> Result<Vec<(String, u64)>> {
    let bundle = BundleHash([7; 32]);
    let dataset_key = DatasetKey { identity: DataIdentity([1; 32]), first_block: BlockNumber(0) };
    let dataset = store
        .create_dataset(NewDataset {
            key: dataset_key,
            nest: NEST.parse()?,
            bundle,
            tables: vec![table()],
            engine: "made".to_owned(),
            backfill: None,
        })
        .await?;
    let mut files = Vec::new();
    for segment in 0..segments {
        let first = segment * SEGMENT_BLOCKS;
        let last = first + SEGMENT_BLOCKS - 1;
        let encoded = tokio::task::spawn_blocking(move || anyhow::Ok(encode(&rows(first)?)?)).await??;
        let mut read = store.read().await?;
        let (store_id, began_at) = (read.store_id().await?, read.now().await?);
        drop(read);
        let meta = SegmentMeta {
            table: TableId::Event(0),
            range: BlockRange { first: BlockNumber(first), last: BlockNumber(last) },
            rows: SEGMENT_ROWS,
            bytes: encoded.bytes.len() as u64,
            hash: encoded.hash,
            key: key(store_id, dataset_key, TABLE, encoded.hash),
        };
        files.push((meta.key.clone(), meta.bytes));
        place.put(&meta.key, encoded.bytes).await?;
        let tree = encoded.tree.leaves().clone();
        let sealed =
            vec![SealedRows { segment: meta, sealed_to: BlockNumber(last), sources: Vec::new(), tree, began_at }];
        let from = first.checked_sub(1).map(block);
        let part = DatasetCommit { dataset, from, done_to: block(last), chunks: Vec::new(), sealed };
        let final_block = Some(block(last));
        store.commit(Commit { final_block, datasets: vec![part], ..Commit::default() }).await?;
    }
    store
        .put_endpoint(Endpoint {
            name: NEST.parse()?,
            nest: NEST.parse()?,
            version: "1.0.0".parse()?,
            bundle,
            dataset,
            manifest: "{}".to_owned(),
            views: Vec::new(),
            epoch: 0,
        })
        .await?;
    Ok(files)
}
