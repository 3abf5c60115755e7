//! The manifest: what a bundle says about itself. One canonical JSON spelling, checked on the way in and out.

mod check;
#[cfg(test)]
pub(crate) mod tests;

use semver::Version;
use serde::{Deserialize, Serialize};

pub use check::{
    MAX_ADDRESSES, MAX_COLUMNS, MAX_CONTRACTS, MAX_DOC, MAX_FILES, MAX_FILTERS, MAX_SECRETS, MAX_TABLES, MAX_TOPICS,
    MAX_VERSION, MAX_VIEWS, ManifestProblem, Thing,
};

use crate::canonical::canonical_json;
use crate::{ContentHash, ContractAddress, FilePath, LogFilter, NestName, TableSchema};

/// The format of bundle and manifest that this crate writes and reads.
pub const BUNDLE_FORMAT: u32 = 1;
/// The version of the guest interface that nests are built against.
pub const WORLD: Version = Version::new(1, 0, 0);
/// Most bytes in a manifest's JSON.
pub const MAX_MANIFEST_BYTES: usize = 4 << 20;

/// What a bundle says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`BUNDLE_FORMAT`].
    pub format: u32,
    /// The nest's name.
    pub name: NestName,
    /// The nest's version, without build metadata.
    pub version: Version,
    /// EIP-155 id of the one chain that the nest reads.
    pub chain_id: u64,
    /// Version of the guest interface that the code was built against.
    pub world: Version,
    /// Whose code decodes.
    pub code: CodeKind,
    /// Contracts, sorted by alias. A nest with code of its own may have none and name its logs by filter alone.
    pub contracts: Vec<ManifestContract>,
    /// Logs that the host fetches, as the code's `describe` gives them.
    pub filters: Vec<LogFilter>,
    /// Tables, as the code's `describe` gives them. A table's place here is its number.
    pub tables: Vec<TableSchema>,
    /// SQL views in the order in which they are made: a view may read those before it.
    pub views: Vec<ManifestView>,
    /// Secrets that the nest can use, sorted by name. Names only: a bundle holds no value.
    pub secrets: Vec<Secret>,
    /// Every file in the bundle, sorted by path.
    pub files: Vec<ManifestFile>,
    /// What one decode call may burn; absent: the host's own rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// Whose code decodes the logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeKind {
    /// The standard decoder, the same component for every such nest.
    Standard,
    /// The nest's own.
    Own,
}

/// Contracts of one kind under one alias.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestContract {
    /// First half of its tables' names.
    pub alias: String,
    /// At least one, sorted. An address belongs to one alias only.
    pub addresses: Vec<ContractAddress>,
    /// First block whose logs count.
    pub start_block: u64,
}

/// One SQL view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestView {
    /// SQL name; neither a table's nor another view's.
    pub name: String,
    /// The file that holds its SELECT.
    pub file: FilePath,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
}

/// A secret that a nest can use. The value comes from the operator, never from the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Name under which the operator sets it.
    pub name: String,
    /// What it is for, in one line.
    pub purpose: String,
}

/// One file of the bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    /// Its path; the custom section that holds it is `nuthatch:file/<path>`.
    pub path: FilePath,
    /// Bytes.
    pub size: u64,
    /// BLAKE3 of its bytes.
    pub blake3: ContentHash,
}

/// Fuel that decoding one log may burn: `base + per_log + per_byte × bytes of its topics and data`. The host caps each
/// part, and gives a call with many logs the least budget among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Fuel of every call.
    pub base: u64,
    /// Fuel for the log itself.
    pub per_log: u64,
    /// Fuel for each byte of the log's topics and data.
    pub per_byte: u64,
}

/// A manifest that is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Larger than [`MAX_MANIFEST_BYTES`].
    #[error(
        "the manifest has {bytes} bytes, more than the {MAX_MANIFEST_BYTES} allowed; bundle fewer contracts or tables"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A format of another time.
    #[error(
        "the manifest has format {found}, this nuthatch reads format {BUNDLE_FORMAT}; use a nuthatch that fits the bundle"
    )]
    Format {
        /// Its format number.
        found: u32,
    },
    /// Not JSON, or not of a manifest's shape.
    #[error("the manifest cannot be read: {0}; build the bundle again with 'nuthatch bundle build'")]
    Json(#[from] serde_json::Error),
    /// JSON of the right shape in another spelling.
    #[error(
        "the manifest is not canonical JSON (first difference at byte {at}); build the bundle again with \
         'nuthatch bundle build'"
    )]
    NotCanonical {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// A rule of the content is broken.
    #[error("the manifest is refused: {0}")]
    Refused(#[from] ManifestProblem),
}

impl Manifest {
    /// Reads and checks canonical JSON. What this accepts, [`Manifest::to_canonical_json`] gives back byte for byte.
    pub fn from_canonical_json(bytes: &[u8]) -> Result<Self, ManifestError> {
        if bytes.len() > MAX_MANIFEST_BYTES {
            return Err(ManifestError::TooLarge { bytes: bytes.len() });
        }
        // The format is read first: a newer one may have fields that this version would call unknown.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let Format { format } = serde_json::from_slice(bytes)?;
        if format != BUNDLE_FORMAT {
            return Err(ManifestError::Format { found: format });
        }
        let manifest: Manifest = serde_json::from_slice(bytes)?;
        let canonical = manifest.to_canonical_json()?;
        if canonical.as_bytes() != bytes {
            let same = canonical.bytes().zip(bytes).take_while(|(a, b)| a == *b).count();
            return Err(ManifestError::NotCanonical { at: same });
        }
        Ok(manifest)
    }

    /// The one JSON spelling of this manifest, after [`Manifest::check`].
    pub fn to_canonical_json(&self) -> Result<String, ManifestError> {
        self.check()?;
        let json = canonical_json(&serde_json::to_value(self)?);
        if json.len() > MAX_MANIFEST_BYTES {
            return Err(ManifestError::TooLarge { bytes: json.len() });
        }
        Ok(json)
    }

    /// Holds the content against every rule: counts, names, clashes, order, address forms, listed files.
    pub fn check(&self) -> Result<(), ManifestProblem> {
        check::check(self)
    }

    /// Puts what has no order of its own (contracts, addresses, secrets, files) into the canonical order. Tables,
    /// filters and views keep theirs: it means something.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        for contract in &mut self.contracts {
            contract.addresses.sort_unstable();
        }
        self.contracts.sort_by(|a, b| a.alias.cmp(&b.alias));
        self.secrets.sort_by(|a, b| a.name.cmp(&b.name));
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }

    /// The first block that the nest reads: the smallest start block of its contracts and filters.
    pub fn first_block(&self) -> u64 {
        let contracts = self.contracts.iter().map(|contract| contract.start_block);
        let filters = self.filters.iter().map(|filter| filter.start_block);
        contracts.chain(filters).min().unwrap_or(0)
    }
}
