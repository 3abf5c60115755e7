//! A reader over hand-made chunks: one cursor in memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, RecordBatch, StringArray, TimestampSecondArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use async_trait::async_trait;
use bytes::Bytes;

use crate::model::{
    BlockNumber, BlockRange, BlockRef, Branch, BundleHash, ChainId, ColumnSchema, ColumnType, DataIdentity, DatasetId,
    DatasetKey, Endpoint, Fence, NestName, TableId, TableSchema, arrow_schema, rejected_schema,
};
use crate::query::chunk::Chunk;
use crate::query::tables::Catalog;
use crate::store::{
    ChunkId, ChunkMeta, CursorState, DatasetState, DatasetStatus, DroppedKey, HotReader, ReadTxn, Result, SegmentMeta,
    Snapshot, StoreId, StoreTime,
};

/// One cursor's store in memory.
pub struct Mem {
    chain: ChainId,
    inner: Mutex<Inner>,
    /// Chunks whose bytes were read.
    pub fetched: AtomicUsize,
}

/// Chunks with their bytes.
type Stored = Vec<(ChunkMeta, Bytes)>;

#[derive(Default)]
struct Inner {
    endpoints: Vec<Endpoint>,
    datasets: Vec<DatasetState>,
    chunks: HashMap<DatasetId, Vec<ChunkMeta>>,
    bytes: HashMap<ChunkId, Bytes>,
    head: Option<BlockRef>,
    halted: Option<String>,
    /// Chunks to lose at the next fetch of their bytes, with what replaces them.
    vanishing: Vec<(ChunkId, DatasetId, Stored)>,
}

pub fn block(number: u64) -> BlockRef {
    BlockRef { number: BlockNumber(number), hash: BlockRefHash(number).into() }
}

struct BlockRefHash(u64);

impl From<BlockRefHash> for crate::model::BlockHash {
    fn from(hash: BlockRefHash) -> Self {
        let mut bytes = [0xb1; 32];
        bytes[24..].copy_from_slice(&hash.0.to_be_bytes());
        bytes.into()
    }
}

impl Mem {
    pub fn new(chain: u64) -> Self {
        Mem { chain: ChainId(chain), inner: Mutex::default(), fetched: AtomicUsize::new(0) }
    }

    /// Adds an endpoint with a dataset of its own.
    pub fn endpoint(&self, name: &str, tables: Vec<TableSchema>, views: &[(&str, &str)]) -> DatasetId {
        let mut inner = self.inner.lock().unwrap();
        let id = DatasetId(inner.datasets.len() as i64 + 1);
        let bundle = BundleHash([7; 32]);
        inner.datasets.push(DatasetState {
            id,
            key: DatasetKey { identity: DataIdentity([id.0 as u8; 32]), first_block: BlockNumber(1) },
            nest: name.parse().unwrap(),
            bundle,
            tables,
            engine: "engine".to_owned(),
            backfill: None,
            done_to: None,
            status: DatasetStatus::Active,
        });
        inner.endpoints.push(Endpoint {
            name: name.parse().unwrap(),
            nest: name.parse().unwrap(),
            version: "1.2.3".parse().unwrap(),
            bundle,
            dataset: id,
            manifest: "{}".to_owned(),
            views: views.iter().map(|&(name, sql)| (name.to_owned(), sql.to_owned())).collect(),
            epoch: 1,
        });
        id
    }

    /// Adds one chunk.
    pub fn chunk(&self, dataset: DatasetId, table: TableId, first: u64, last: u64, rows: &RecordBatch) -> ChunkId {
        let (meta, bytes) = made(dataset, table, first, last, rows);
        let mut inner = self.inner.lock().unwrap();
        inner.chunks.entry(dataset).or_default().push(meta);
        inner.bytes.insert(meta.id, bytes);
        meta.id
    }

    /// At the next fetch of its bytes this chunk is gone, and the current set has another in its place.
    pub fn vanish(&self, dataset: DatasetId, chunk: ChunkId, table: TableId, blocks: (u64, u64), rows: &RecordBatch) {
        let replaced = made(dataset, table, blocks.0, blocks.1, rows);
        self.inner.lock().unwrap().vanishing.push((chunk, dataset, vec![replaced]));
    }

    /// The chunk's bytes are gone for good, and it stays in the current set.
    pub fn lose(&self, chunk: ChunkId) {
        self.inner.lock().unwrap().bytes.remove(&chunk);
    }

    /// What a query of this endpoint sees.
    pub fn seen(&self, name: &str) -> Snapshot {
        let inner = self.inner.lock().unwrap();
        let endpoint = inner.endpoints.iter().find(|endpoint| endpoint.name.as_str() == name).unwrap();
        let dataset = inner.datasets.iter().find(|dataset| dataset.id == endpoint.dataset).unwrap();
        Snapshot {
            chain_id: self.chain,
            endpoint: endpoint.clone(),
            dataset: dataset.clone(),
            final_block: None,
            head: inner.head,
            halted: inner.halted.clone(),
            chunks: inner.chunks.get(&dataset.id).cloned().unwrap_or_default(),
            segments: Vec::new(),
        }
    }

    /// Sets where dataset and cursor stand.
    pub fn stand(&self, dataset: DatasetId, done_to: u64, head: u64) {
        let mut inner = self.inner.lock().unwrap();
        inner.head = Some(block(head));
        let state = inner.datasets.iter_mut().find(|state| state.id == dataset).unwrap();
        state.done_to = Some(block(done_to));
    }

    pub fn status(&self, dataset: DatasetId, status: DatasetStatus) {
        let mut inner = self.inner.lock().unwrap();
        inner.datasets.iter_mut().find(|state| state.id == dataset).unwrap().status = status;
    }
}

fn made(dataset: DatasetId, table: TableId, first: u64, last: u64, rows: &RecordBatch) -> (ChunkMeta, Bytes) {
    let bytes = crate::store::chunk::encode(rows).unwrap();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes).update(&dataset.0.to_be_bytes()).update(&table.to_i64().to_be_bytes());
    hasher.update(&first.to_be_bytes()).update(&last.to_be_bytes());
    let meta = ChunkMeta {
        id: ChunkId(*hasher.finalize().as_bytes()),
        table,
        range: BlockRange::new(BlockNumber(first), BlockNumber(last)).unwrap(),
        rows: rows.num_rows() as u64,
        bytes: bytes.len() as u64,
    };
    (meta, bytes)
}

#[async_trait]
impl HotReader for Arc<Mem> {
    async fn read(&self) -> Result<Box<dyn ReadTxn>> {
        Ok(Box::new(MemTxn(Arc::clone(self))))
    }
}

struct MemTxn(Arc<Mem>);

#[async_trait]
impl ReadTxn for MemTxn {
    async fn state(&mut self) -> Result<CursorState> {
        let inner = self.0.inner.lock().unwrap();
        Ok(CursorState {
            chain_id: self.0.chain,
            fence: Fence(1),
            branch: Branch(0),
            final_block: None,
            blocks: inner.head.into_iter().collect(),
            halted: inner.halted.clone(),
            datasets: inner.datasets.clone(),
        })
    }

    async fn endpoints(&mut self) -> Result<Vec<Endpoint>> {
        Ok(self.0.inner.lock().unwrap().endpoints.clone())
    }

    async fn snapshot(&mut self, name: &NestName) -> Result<Option<Snapshot>> {
        let known = self.0.inner.lock().unwrap().endpoints.iter().any(|endpoint| endpoint.name == *name);
        Ok(known.then(|| self.0.seen(name.as_str())))
    }

    async fn chunk(&mut self, id: ChunkId) -> Result<Option<Bytes>> {
        self.0.fetched.fetch_add(1, Ordering::Relaxed);
        let mut inner = self.0.inner.lock().unwrap();
        if let Some(place) = inner.vanishing.iter().position(|(chunk, ..)| *chunk == id) {
            let (chunk, dataset, replaced) = inner.vanishing.swap_remove(place);
            inner.bytes.remove(&chunk);
            let current = inner.chunks.get_mut(&dataset).unwrap();
            current.retain(|meta| meta.id != chunk);
            current.extend(replaced.iter().map(|(meta, _)| *meta));
            inner.bytes.extend(replaced.into_iter().map(|(meta, bytes)| (meta.id, bytes)));
        }
        Ok(inner.bytes.get(&id).cloned())
    }

    async fn chunks(&mut self, dataset: DatasetId) -> Result<Vec<ChunkMeta>> {
        Ok(self.0.inner.lock().unwrap().chunks.get(&dataset).cloned().unwrap_or_default())
    }

    async fn segments(&mut self, _: DatasetId) -> Result<Vec<SegmentMeta>> {
        Ok(Vec::new())
    }

    async fn segment_tree(&mut self, _: &str) -> Result<Option<Bytes>> {
        Ok(None)
    }

    async fn dropped_keys(&mut self) -> Result<Vec<DroppedKey>> {
        Ok(Vec::new())
    }

    async fn store_id(&mut self) -> Result<StoreId> {
        Ok(StoreId([0; 16]))
    }

    async fn now(&mut self) -> Result<StoreTime> {
        Ok(StoreTime(0))
    }
}

fn column(name: &str, ty: ColumnType, nullable: bool) -> ColumnSchema {
    ColumnSchema { name: name.to_owned(), ty, nullable, doc: format!("the {name}") }
}

/// A table with one column of most types.
pub fn transfer_table(name: &str) -> TableSchema {
    TableSchema {
        name: name.to_owned(),
        columns: vec![
            column("from_", ColumnType::Address, false),
            column("to_", ColumnType::Address, false),
            column("value", ColumnType::Uint(256), false),
            column("delta", ColumnType::Int(256), false),
            column("kind", ColumnType::Uint(8), false),
            column("ok", ColumnType::Bool, false),
            column("memo", ColumnType::String, true),
            column("payload", ColumnType::Bytes, false),
            column("tags", ColumnType::Json, false),
        ],
        doc: "tokens moved".to_owned(),
    }
}

/// One row of [`transfer_table`].
#[derive(Clone, Debug)]
pub struct Transfer {
    pub block: u64,
    pub log: u64,
    pub from: u8,
    pub to: u8,
    pub value: u128,
    pub delta: i128,
    pub memo: Option<&'static str>,
}

impl Transfer {
    pub fn at(block: u64, log: u64) -> Self {
        Transfer { block, log, from: 0xaa, to: 0xbb, value: u128::from(block), delta: 0, memo: None }
    }
}

fn fixed(width: usize, values: impl Iterator<Item = Vec<u8>>) -> ArrayRef {
    let values: Vec<Vec<u8>> = values.collect();
    assert!(values.iter().all(|value| value.len() == width));
    match values.is_empty() {
        true => arrow::array::new_empty_array(&arrow::datatypes::DataType::FixedSizeBinary(width as i32)),
        false => Arc::new(FixedSizeBinaryArray::try_from_iter(values.into_iter()).unwrap()),
    }
}

fn word(negative: bool, low: [u8; 16], signed: bool) -> Vec<u8> {
    let mut bytes = vec![if negative { 0xff } else { 0 }; 16];
    bytes.extend_from_slice(&low);
    if signed {
        bytes[0] ^= 0x80;
    }
    bytes
}

fn provenance(rows: &[(u64, u64)]) -> Vec<ArrayRef> {
    vec![
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.0))),
        fixed(32, rows.iter().map(|row| block(row.0).hash.0.to_vec())),
        Arc::new(
            TimestampSecondArray::from_iter_values(rows.iter().map(|row| 1_704_412_800 + row.0 as i64 * 12))
                .with_timezone("+00:00"),
        ),
        fixed(32, rows.iter().map(|row| vec![row.1 as u8; 32])),
        Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.1 as u32 / 2))),
        Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.1))),
        fixed(20, rows.iter().map(|_| vec![0xc0; 20])),
    ]
}

/// Rows of [`transfer_table`].
pub fn transfers(rows: &[Transfer]) -> RecordBatch {
    let mut columns = provenance(&rows.iter().map(|row| (row.block, row.log)).collect::<Vec<_>>());
    columns.extend([
        fixed(20, rows.iter().map(|row| vec![row.from; 20])),
        fixed(20, rows.iter().map(|row| vec![row.to; 20])),
        fixed(32, rows.iter().map(|row| word(false, row.value.to_be_bytes(), false))),
        fixed(32, rows.iter().map(|row| word(row.delta < 0, row.delta.to_be_bytes(), true))),
        Arc::new(UInt8Array::from_iter_values(rows.iter().map(|row| (row.block % 3) as u8))) as ArrayRef,
        Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.block % 2 == 0)))),
        Arc::new(StringArray::from_iter(rows.iter().map(|row| row.memo))),
        Arc::new(BinaryArray::from_iter_values(rows.iter().map(|row| vec![row.from, row.to]))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| format!("[\"{}\",{{\"a\":true}}]", row.log)))),
    ]);
    RecordBatch::try_new(arrow_schema(&transfer_table("any")), columns).unwrap()
}

/// One rejected log.
pub fn rejection(at: (u64, u64), code: &str) -> RecordBatch {
    let mut columns = provenance(&[at]);
    columns.extend([
        Arc::new(StringArray::from(vec!["[\"0x00\"]"])) as ArrayRef,
        Arc::new(BinaryArray::from_iter_values([[1_u8, 2]])),
        Arc::new(StringArray::from(vec![code])),
        Arc::new(StringArray::from(vec!["why"])),
    ]);
    RecordBatch::try_new(rejected_schema(), columns).unwrap()
}

/// A decoded chunk of this many rows.
pub fn decoded(rows: u64) -> Chunk {
    let rows = transfers(&(0..rows).map(|log| Transfer::at(1, log)).collect::<Vec<_>>());
    let (meta, bytes) = made(DatasetId(1), TableId::Event(0), 1, 1, &rows);
    let mem = Mem::new(1);
    mem.endpoint("any", vec![transfer_table("any")], &[]);
    let snapshot = mem.seen("any");
    Chunk::decode(bytes, &Catalog::of(&snapshot).tables[0], &meta).unwrap()
}
