//! What can go wrong in a store, and what to do about it.

use crate::model::{BlockRef, Branch, DatasetId, Fence, NestName};

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
    /// A rollback to below the final block.
    #[error("a rollback to block {ancestor} would undo final block {final_block}")]
    BelowFinal {
        /// Common ancestor of the rollback.
        ancestor: BlockRef,
        /// Final block in the store.
        final_block: BlockRef,
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
