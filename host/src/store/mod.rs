//! The hot store: what is not sealed yet, and all the bookkeeping of one chain's cursor, the catalogue of what is
//! sealed among it.
//!
//! [`HotReader`] is what queries use, [`HotStore`] what the one writer uses. Both are served by a backend: [`sqlite`].
//!
//! # Guarantees
//!
//! - Every write of [`HotStore`] is one transaction that first reads fence and owner in the store and refuses with
//!   [`StoreError::LostOwnership`] unless both are what this process wrote at its claim.
//! - A write either happened whole or not at all, whatever kills the process. What returned `Ok` survives a crash of
//!   the process.
//! - A [`ReadTxn`] sees one commit: never half of a write, never two different ones.
//! - Repeating a commit that already happened changes nothing and returns `Ok`.

pub mod chunk;
mod error;
mod rules;
pub mod sqlite;
#[cfg(test)]
mod suite;

use std::fmt;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use bytes::Bytes;

use crate::model::{
    BlockNumber, BlockRange, BlockRef, Branch, BundleHash, ChainId, ContentHash, DatasetId, DatasetKey, Endpoint,
    Fault, Fence, NestName, TableId, TableSchema, arrow_schema, ignored_schema, rejected_schema,
};

pub use chunk::NewChunk;
pub use error::StoreError;

/// Result of a store call.
pub type Result<T> = std::result::Result<T, StoreError>;

/// The content address of a chunk: BLAKE3 of its bytes with its dataset, table and block range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(pub [u8; 32]);

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChunkId({self})")
    }
}

/// A chunk's row in the current set, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkMeta {
    /// Content address.
    pub id: ChunkId,
    /// Table whose rows it holds.
    pub table: TableId,
    /// Blocks that it covers. Chunks of one table never overlap.
    pub range: BlockRange,
    /// Rows.
    pub rows: u64,
    /// Bytes as stored.
    pub bytes: u64,
}

/// The name of one store: 128 random bits, made with its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreId(pub [u8; 16]);

impl StoreId {
    /// A name that no other store has.
    pub fn random() -> StoreId {
        StoreId(rand::random())
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A moment by the store's clock: Unix milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreTime(pub i64);

/// A file of sealed rows, as the catalogue knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentMeta {
    /// Table whose rows it holds.
    pub table: TableId,
    /// From the block of its first row to that of its last.
    pub range: BlockRange,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3 of the bytes.
    pub hash: ContentHash,
    /// Where it lies among the segments. Never written a second time.
    pub key: String,
}

/// A cut to record: rows that are in an uploaded file leave the hot half.
#[derive(Clone, Debug)]
pub struct Seal {
    /// Dataset.
    pub dataset: DatasetId,
    /// The file, uploaded and durable.
    pub segment: SegmentMeta,
    /// The block at which the table is cut. Final, and done by the dataset.
    pub sealed_to: BlockNumber,
    /// The first current chunks of the table: all rows of the segment, and of the last one maybe more.
    pub sources: Vec<ChunkMeta>,
    /// Rows of the last source after the cut.
    pub rest: Option<NewChunk>,
    /// The file's inner hashes, for whoever reads a part of it.
    pub tree: Bytes,
    /// [`ReadTxn::now`] before the upload began.
    pub began_at: StoreTime,
}

/// What a seal came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SealOutcome {
    /// The catalogue has it.
    Sealed,
    /// The sources are not the table's first chunks any more: sealed already, merged, or dropped. Nothing changed.
    Stale,
    /// The upload began [`SEAL_WITHIN`] ago or earlier, so it may be taken for garbage any time. Nothing changed.
    Expired,
}

/// A key that the catalogue named once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedKey {
    /// The key.
    pub key: String,
    /// When it was named last.
    pub dropped_at: StoreTime,
}

/// A dataset to begin.
#[derive(Clone, Debug)]
pub struct NewDataset {
    /// Its key. Creating a key that exists returns the dataset that is there; one with [`NewDataset::backfill`] is
    /// the same only within its nest, and never the same as one without.
    pub key: DatasetKey,
    /// Nest that first asked for it, for people.
    pub nest: NestName,
    /// Bundle that first asked for it.
    pub bundle: BundleHash,
    /// Tables in the order of the manifest.
    pub tables: Vec<TableSchema>,
    /// Fingerprint of the plugin engine.
    pub engine: String,
    /// Whether the first block was fixed by `--backfill`, so that nobody else shares it.
    pub backfill: Option<u64>,
}

/// Whether a dataset takes new rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatasetStatus {
    /// Indexing or at the head.
    Active,
    /// Stands still since this fault, and serves what it has.
    Quarantined(Fault),
}

/// A dataset as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetState {
    /// Number in this store.
    pub id: DatasetId,
    /// Key.
    pub key: DatasetKey,
    /// Nest that first asked for it.
    pub nest: NestName,
    /// Bundle that first asked for it.
    pub bundle: BundleHash,
    /// Tables in the order of the manifest.
    pub tables: Vec<TableSchema>,
    /// Fingerprint of the engine that made its rows.
    pub engine: String,
    /// N of `--backfill N`, if that fixed the first block.
    pub backfill: Option<u64>,
    /// Last block whose rows are in; none before the first commit.
    pub done_to: Option<BlockRef>,
    /// Active or quarantined.
    pub status: DatasetStatus,
}

/// All a cursor needs to go on after a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorState {
    /// Chain.
    pub chain_id: ChainId,
    /// Fence of the current owner.
    pub fence: Fence,
    /// Raised by every rollback.
    pub branch: Branch,
    /// Highest block ever treated as final.
    pub final_block: Option<BlockRef>,
    /// Blocks above the final one that the cursor stands on, ascending and without gaps.
    pub blocks: Vec<BlockRef>,
    /// Why the cursor is halted, if it is: a reorg below the final block.
    pub halted: Option<String>,
    /// All datasets, dropped ones excepted.
    pub datasets: Vec<DatasetState>,
}

/// One dataset's part of a commit.
#[derive(Clone, Debug)]
pub struct DatasetCommit {
    /// Dataset.
    pub dataset: DatasetId,
    /// Where it stood when the window was fetched. Another position in the store: [`StoreError::Moved`].
    pub from: Option<BlockRef>,
    /// Where it stands afterwards. Above the final block it is one of the cursor's `blocks`.
    pub done_to: BlockRef,
    /// Rows that become hot: ranges after `from` and up to `done_to`, those of one table apart from each other and
    /// after what of it is sealed.
    pub chunks: Vec<NewChunk>,
    /// Rows that go straight into files, by table and block. Only final ones.
    pub sealed: Vec<SealedRows>,
}

/// A file of a commit's rows, and of hot ones before them.
#[derive(Clone, Debug)]
pub struct SealedRows {
    /// The file, uploaded and durable.
    pub segment: SegmentMeta,
    /// The block at which the table is cut.
    pub sealed_to: BlockNumber,
    /// Chunks that leave the hot half: all that the table has, with the first of its files; else none. If these are not
    /// all of them any more the commit is refused with [`StoreError::CutMoved`].
    pub sources: Vec<ChunkMeta>,
    /// The file's inner hashes.
    pub tree: Bytes,
    /// [`ReadTxn::now`] before the upload began. [`SEAL_WITHIN`] ago or earlier: [`StoreError::CutMoved`].
    pub began_at: StoreTime,
}

/// One window: rows and progress of a set of datasets, in one transaction.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The branch under which the logs were fetched. Needed when the commit reaches above the final block; another
    /// one in the store: [`StoreError::WrongBranch`].
    pub branch: Option<Branch>,
    /// Blocks above the final one to append to the cursor's `blocks`. The first must follow the last one there, or
    /// the final block ([`StoreError::Gap`]); blocks that are there already are passed over if they are the same
    /// ([`StoreError::Fork`] otherwise).
    pub blocks: Vec<BlockRef>,
    /// A new final block. Never lowers the one in the store. Drops `blocks` at and below it. A cursor has one (the
    /// genesis block, if nothing else) before it has `blocks`.
    pub final_block: Option<BlockRef>,
    /// The datasets that move.
    pub datasets: Vec<DatasetCommit>,
}

/// A change of branch: cut everything above `ancestor`, then apply `replacement`, in one transaction.
#[derive(Clone, Debug)]
pub struct Rollback {
    /// The last block that stays. Not below the final block, else [`StoreError::BelowFinal`].
    pub ancestor: BlockRef,
    /// The new branch's rows, fetched before anything is cut. Its `branch` is the one being left. `from` of its
    /// datasets is where they stand after the cut: `ancestor`, or their old place if that is lower, or none if they
    /// begin above it.
    pub replacement: Commit,
}

/// What one query sees: one commit of the store.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Chain.
    pub chain_id: ChainId,
    /// The endpoint row.
    pub endpoint: Endpoint,
    /// Its dataset.
    pub dataset: DatasetState,
    /// The cursor's final block.
    pub final_block: Option<BlockRef>,
    /// The last block that the cursor stands on.
    pub head: Option<BlockRef>,
    /// Why the cursor is halted, if it is.
    pub halted: Option<String>,
    /// Chunks of all tables of the dataset, by table and block.
    pub chunks: Vec<ChunkMeta>,
    /// Segments of all tables of the dataset, by table and block. Their rows come before those of the chunks.
    pub segments: Vec<SegmentMeta>,
}

/// Reads of one moment. Ends when dropped.
#[async_trait]
pub trait ReadTxn: Send {
    /// The cursor's state.
    async fn state(&mut self) -> Result<CursorState>;
    /// All endpoint rows, by name.
    async fn endpoints(&mut self) -> Result<Vec<Endpoint>>;
    /// What a query of this endpoint sees; none where no row names it.
    async fn snapshot(&mut self, endpoint: &NestName) -> Result<Option<Snapshot>>;
    /// Bytes of a chunk, current or lately retired; none when it is gone.
    async fn chunk(&mut self, id: ChunkId) -> Result<Option<Bytes>>;
    /// The current chunks of a dataset, by table and block.
    async fn chunks(&mut self, dataset: DatasetId) -> Result<Vec<ChunkMeta>>;
    /// The segments of a dataset, by table and block.
    async fn segments(&mut self, dataset: DatasetId) -> Result<Vec<SegmentMeta>>;
    /// The inner hashes of a segment's file, as its seal gave them; none when the catalogue does not name the key.
    async fn segment_tree(&mut self, key: &str) -> Result<Option<Bytes>>;
    /// Keys that the catalogue named once, and since when it does not.
    async fn dropped_keys(&mut self) -> Result<Vec<DroppedKey>>;
    /// The store's name.
    async fn store_id(&mut self) -> Result<StoreId>;
    /// The store's clock.
    async fn now(&mut self) -> Result<StoreTime>;
}

/// Read access to one cursor's store, without any claim on it.
#[async_trait]
pub trait HotReader: Send + Sync {
    /// Begins a read of one moment.
    async fn read(&self) -> Result<Box<dyn ReadTxn>>;
}

/// The store of the one process that owns the cursor.
#[async_trait]
pub trait HotStore: HotReader {
    /// The fence of this ownership.
    fn fence(&self) -> Fence;

    /// Refuses with [`StoreError::LostOwnership`] if this process is not the owner any more. Every write asks for
    /// itself; this is for an owner that has nothing to write.
    async fn check_owner(&self) -> Result<()>;

    /// Begins a dataset, or returns the one that has this key.
    async fn create_dataset(&self, new: NewDataset) -> Result<DatasetId>;

    /// Removes a dataset with all its rows. Refused while an endpoint row names it. The bytes go with a later
    /// [`HotStore::sweep`], so that a query which began before can finish.
    async fn drop_dataset(&self, dataset: DatasetId) -> Result<()>;

    /// Writes one window. Refused for a quarantined dataset and while the cursor is halted.
    async fn commit(&self, commit: Commit) -> Result<()>;

    /// Leaves a branch for another; returns the new branch. A dataset above the ancestor that has no part in the
    /// replacement stands at the ancestor afterwards; a fault whose block was cut is cleared. Sent twice, the second
    /// one finds another branch and is refused with [`StoreError::WrongBranch`].
    async fn rollback(&self, rollback: Rollback) -> Result<Branch>;

    /// Stops a dataset where it stands.
    async fn quarantine(&self, dataset: DatasetId, fault: Fault) -> Result<()>;

    /// Lets a quarantined dataset try again.
    async fn retry(&self, dataset: DatasetId) -> Result<()>;

    /// Stops the cursor with a reason, or lets it go on.
    async fn set_halted(&self, reason: Option<String>) -> Result<()>;

    /// Starts every dataset that reaches above `ancestor` again from nothing (same key, new number, endpoint rows
    /// moved to it), sets the final block to `ancestor`, and ends a halt.
    async fn rebuild(&self, ancestor: Option<BlockRef>) -> Result<()>;

    /// Writes an endpoint row, counting its epoch up if anything in it changed; returns the row as it stands.
    async fn put_endpoint(&self, endpoint: Endpoint) -> Result<Endpoint>;

    /// Removes an endpoint row. The epoch goes on counting if the name comes back.
    async fn remove_endpoint(&self, name: &NestName) -> Result<()>;

    /// Merges final chunks to at most 8,192 rows each, some at a time; returns how many chunks went away. Call again
    /// until it returns 0.
    async fn merge(&self) -> Result<usize>;

    /// Records a segment and takes its rows out of the hot half. Refused while the cursor is halted, and for rows that
    /// are not final.
    async fn seal(&self, seal: Seal) -> Result<SealOutcome>;

    /// Forgets dropped keys whose objects are deleted.
    async fn forget_keys(&self, keys: Vec<String>) -> Result<()>;

    /// Gives a store that is a copy a name of its own, and returns it. Keys that it knows by now stay readable, and are
    /// the other store's to delete: dropped ones are forgotten.
    async fn fork(&self) -> Result<StoreId>;

    /// Deletes the bytes of chunks that left the current set longer ago than queries may run; returns how many.
    async fn sweep(&self) -> Result<usize>;
}

/// How long an upload counts as under way. Far below [`KEY_GRACE`], after which what no catalogue names is garbage.
pub const SEAL_WITHIN: Duration = Duration::from_secs(3_600);

/// How long an object stays that no catalogue names (any more).
pub const KEY_GRACE: Duration = Duration::from_secs(24 * 3_600);

impl StoreTime {
    /// How long ago another moment was; nothing where it lies ahead.
    pub fn since(self, earlier: StoreTime) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl Snapshot {
    /// Rows of a table, hot and sealed.
    pub fn rows(&self, table: TableId) -> u64 {
        let hot = self.chunks.iter().filter(|chunk| chunk.table == table).map(|chunk| chunk.rows);
        let sealed = self.segments.iter().filter(|segment| segment.table == table).map(|segment| segment.rows);
        hot.chain(sealed).sum()
    }
}

impl DatasetState {
    /// The name of one of its tables in keys and messages.
    pub fn table_name(&self, table: TableId) -> &str {
        match table {
            TableId::Rejected => "_rejected",
            TableId::Ignored => "_ignored",
            TableId::Event(place) => self.tables.get(place as usize).map_or("?", |table| &table.name),
        }
    }

    /// The Arrow schema of a table's rows in chunks; none of a table that is not in the manifest.
    pub fn table_schema(&self, table: TableId) -> Option<SchemaRef> {
        match table {
            TableId::Rejected => Some(rejected_schema()),
            TableId::Ignored => Some(ignored_schema()),
            TableId::Event(place) => self.tables.get(place as usize).map(arrow_schema),
        }
    }
}

/// Merged chunks hold at most this many rows.
pub const MERGED_ROWS: u64 = 8_192;

/// The block after which `done_to` stands, or the first block of the dataset.
pub fn next_block(dataset: &DatasetState) -> BlockNumber {
    dataset.done_to.map_or(dataset.key.first_block, |done| done.number.next())
}
