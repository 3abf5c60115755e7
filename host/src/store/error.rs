//! What can go wrong in a store, and what to do about it.

use crate::model::{BlockNumber, BlockRef, Branch, DatasetId, Fence, NestName};

/// Errors of a hot store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process claimed the cursor.
    #[error(
        "this process held the store with fence {held}, and {holder} owns it now with fence {current}; stop one of the two"
    )]
    LostOwnership {
        /// Fence of this process.
        held: Fence,
        /// Fence in the store.
        current: Fence,
        /// The owner in the store.
        holder: String,
    },
    /// A second process on one data folder.
    #[error("{path} is in use by process {pid}; stop it first, or give this one another --data folder")]
    InUse {
        /// The data folder.
        path: String,
        /// The holder, as it wrote itself down; 0 when it has not yet.
        pid: u32,
    },
    /// The commit was fetched under another branch.
    #[error(
        "the window was fetched on branch {fetched} and the chain is on branch {current} by now; it is fetched again"
    )]
    WrongBranch {
        /// Branch of the commit.
        fetched: Branch,
        /// Branch in the store.
        current: Branch,
    },
    /// The dataset does not stand where the commit says.
    #[error("dataset {dataset} stands at {at:?}, and the commit continues from {from:?}")]
    Moved {
        /// Dataset.
        dataset: DatasetId,
        /// Position in the store.
        at: Option<BlockRef>,
        /// Position that the commit expects.
        from: Option<BlockRef>,
    },
    /// Rows to seal are not as they were when their file was made.
    #[error("dataset {dataset} was not sealed up to block {sealed_to}: {reason}; it is cut again")]
    CutMoved {
        /// Dataset.
        dataset: DatasetId,
        /// The block at which it was cut.
        sealed_to: BlockNumber,
        /// What is different.
        reason: &'static str,
    },
    /// A rollback to below the final block.
    #[error("a rollback to block {ancestor} would undo final block {final_block}")]
    BelowFinal {
        /// Common ancestor of the rollback.
        ancestor: BlockRef,
        /// Final block in the store.
        final_block: BlockRef,
    },
    /// Blocks that do not follow the ones that the cursor stands on.
    #[error("the cursor's blocks end at {last:?}, and the commit goes on with {next}; fetch what lies between first")]
    Gap {
        /// The last block in the store, the final one counted in.
        last: Option<BlockRef>,
        /// The first block of the commit.
        next: BlockRef,
    },
    /// A commit or a rollback that stands on another chain of blocks than the store.
    #[error("the cursor stands on block {stored}, and {given} was given; roll back to the common ancestor first")]
    Fork {
        /// Block in the store.
        stored: BlockRef,
        /// Block of the commit or rollback.
        given: BlockRef,
    },
    /// A call that cannot be right whatever the store holds: a defect of the caller.
    #[error("refused, nothing was written: {0}; this is a defect of nuthatch, please report it")]
    Refused(String),
    /// A write to a dataset that stands still.
    #[error("dataset {dataset} is quarantined ({fault}); `nuthatch nest retry` lets it go on")]
    Quarantined {
        /// Dataset.
        dataset: DatasetId,
        /// Its fault.
        fault: String,
    },
    /// A write to a halted cursor.
    #[error(
        "the cursor is halted: {reason}; remove the RPC endpoint that lies, or run `nuthatch cursor rebuild` for this chain"
    )]
    Halted {
        /// Why.
        reason: String,
    },
    /// The store was written by a newer nuthatch.
    #[error("{path} has schema version {found}, and this nuthatch knows up to {known}; use a newer nuthatch")]
    NewerSchema {
        /// The database.
        path: String,
        /// Version in the database.
        found: i64,
        /// Newest version that this binary knows.
        known: i64,
    },
    /// The store was written by a nuthatch too old for a reader, which must not change it.
    #[error(
        "{path} has schema version {found}, and this nuthatch reads from version {oldest} on; `nuthatch dev` brings it up to date"
    )]
    OlderSchema {
        /// The database.
        path: String,
        /// Version in the database.
        found: i64,
        /// Oldest version that this binary reads.
        oldest: i64,
    },
    /// There is no database.
    #[error("{path} does not exist; `nuthatch dev` makes it, or give the --data folder that holds chain {chain}")]
    NoStore {
        /// The database.
        path: String,
        /// Chain asked for.
        chain: u64,
    },
    /// The data folder lies on a network file system.
    #[error(
        "{path} lies on a network file system ({kind}), where locks do not keep a second process out; give a --data folder on a local disk"
    )]
    NetworkFolder {
        /// The data folder.
        path: String,
        /// Kind of file system.
        kind: &'static str,
    },
    /// Another process holds the database's own lock.
    #[error("{path} was locked by another process for {seconds} s; see what else has it open")]
    Busy {
        /// The database.
        path: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The store belongs to another chain.
    #[error("{path} holds chain {found}, not chain {wanted}; give this chain another --data folder")]
    OtherChain {
        /// The database.
        path: String,
        /// Chain in the database.
        found: u64,
        /// Chain asked for.
        wanted: u64,
    },
    /// The dataset is named by an endpoint.
    #[error("dataset {dataset} answers endpoint '{endpoint}'; take that endpoint away first")]
    DatasetInUse {
        /// Dataset.
        dataset: DatasetId,
        /// The endpoint that names it.
        endpoint: NestName,
    },
    /// No such dataset.
    #[error("there is no dataset {0} in this store; `nuthatch dataset list` shows what is there")]
    NoDataset(DatasetId),
    /// No space left on the device, or a quota.
    #[error("{path}: the disk is full; make room, and indexing goes on from where it stopped")]
    DiskFull {
        /// The database.
        path: String,
    },
    /// The folder or file cannot be written.
    #[error("{path} cannot be written: {reason}; check its owner and mode, or give another --data folder")]
    NotWritable {
        /// What was to be written.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The folder or file cannot be read.
    #[error("{path} cannot be read: {reason}")]
    NotReadable {
        /// What was to be read.
        path: String,
        /// What the system said, and the way out.
        reason: String,
    },
    /// What is stored does not add up: a broken file, or a defect.
    #[error("{path} is damaged: {reason}")]
    Corrupt {
        /// The database.
        path: String,
        /// What does not add up.
        reason: String,
    },
    /// Anything else that the database said.
    #[error("{path}: {reason}")]
    Database {
        /// The database.
        path: String,
        /// What it said.
        reason: String,
    },
}
