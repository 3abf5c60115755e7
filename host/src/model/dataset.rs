//! Datasets: the rows of one data identity from one first block on.

use std::fmt;

use nuthatch_registry::{BundleHash, DataIdentity, NestName};
use serde::{Deserialize, Serialize};

use super::{BlockNumber, BlockRef};

/// What makes two endpoints share one dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DatasetKey {
    /// Identity of the code, plan, contracts and schemas.
    pub identity: DataIdentity,
    /// First block indexed.
    pub first_block: BlockNumber,
}

impl fmt::Display for DatasetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", &self.identity.to_string()[..16], self.first_block)
    }
}

/// A dataset's number in one store. Never used again after a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DatasetId(pub i64);

impl fmt::Display for DatasetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A table of a dataset: by its place in the manifest, or one of the two that every dataset has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TableId {
    /// The table at this place in the manifest.
    Event(u32),
    /// Logs that matched and could not be decoded, kept whole.
    Rejected,
    /// How many logs the bundle ignored, per block, contract and first topic.
    Ignored,
}

impl TableId {
    /// As a number for a store's column: −1 rejected, −2 ignored, else the place.
    pub fn to_i64(self) -> i64 {
        match self {
            TableId::Event(place) => i64::from(place),
            TableId::Rejected => -1,
            TableId::Ignored => -2,
        }
    }

    /// The reverse of [`TableId::to_i64`].
    pub fn from_i64(number: i64) -> Option<Self> {
        match number {
            -1 => Some(TableId::Rejected),
            -2 => Some(TableId::Ignored),
            _ => u32::try_from(number).ok().map(TableId::Event),
        }
    }
}

/// Why a dataset is quarantined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Block of the log at fault: number and hash, so that a reorg which removes it is noticed.
    pub block: BlockRef,
    /// The log's index in its block.
    pub log_index: u64,
    /// Class, such as `out-of-fuel`, `trap`, `invalid-output`.
    pub class: String,
    /// What happened, for people.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at block {}, log {}: {}", self.class, self.block.number, self.log_index, self.message)
    }
}

/// The name a consumer queries, with the bundle and dataset that answer it. Lives beside the data it selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Endpoint name.
    pub name: NestName,
    /// Nest that it serves.
    pub nest: NestName,
    /// The nest's version.
    pub version: semver::Version,
    /// Address of the bundle.
    pub bundle: BundleHash,
    /// Dataset whose rows answer.
    pub dataset: DatasetId,
    /// The bundle's canonical manifest.
    pub manifest: String,
    /// SQL views: name and text, in the order of the manifest.
    pub views: Vec<(String, String)>,
    /// Counts this endpoint's switches.
    pub epoch: u64,
}

/// One contract that a nest reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Alias, the first half of its tables' names.
    pub alias: String,
    /// Address.
    pub address: super::Address,
    /// First block that counts.
    pub start_block: BlockNumber,
}
