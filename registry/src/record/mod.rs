//! What a registry says about bundles: one record a version, and notices beside them. Canonical JSON, read strictly.

mod codec;
mod notice;
#[cfg(test)]
mod tests;
mod time;

use semver::Version;
use serde::{Deserialize, Serialize};

pub use codec::{BadRecord, MAX_RECORD_BYTES};
pub(crate) use notice::is_reason;
pub use notice::{MAX_REASON, Notice, NoticeKind};
pub use time::{BadTimestamp, Timestamp};

use crate::pin::parse_version;
use crate::{Bundle, BundleHash, DataIdentity, MAX_BUNDLE_BYTES, NestName};

/// One published version of a nest. Written once and never changed.
///
/// ```
/// use nuthatch_registry::VersionRecord;
///
/// let json = br#"{"data_identity":"0000000000000000000000000000000000000000000000000000000000000000","hash":"6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85","name":"usdc","published_at":"2026-01-02T03:04:05Z","size":3,"version":"1.3.0"}"#;
/// let record = VersionRecord::parse(json, &"usdc".parse()?, &"1.3.0".parse()?)?;
/// assert_eq!(record.size, 3);
/// assert_eq!(record.to_json().as_bytes(), json);
/// assert!(VersionRecord::parse(json, &"weth".parse()?, &"1.3.0".parse()?).is_err(), "it stands under another name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionRecord {
    /// The nest.
    pub name: NestName,
    /// The version, without build metadata.
    pub version: Version,
    /// The bundle's address.
    pub hash: BundleHash,
    /// The bundle's bytes.
    pub size: u64,
    /// The identity of the rows that the bundle makes.
    pub data_identity: DataIdentity,
    /// When it was published, by the publisher's clock. Shown to people; nothing is decided by it.
    pub published_at: Timestamp,
}

impl VersionRecord {
    /// The record of a bundle.
    pub fn of(bundle: &Bundle, published_at: Timestamp) -> Self {
        VersionRecord {
            name: bundle.manifest().name.clone(),
            version: bundle.manifest().version.clone(),
            hash: bundle.hash(),
            size: bundle.bytes().len() as u64,
            data_identity: bundle.data_identity(),
            published_at,
        }
    }

    /// Whether both say the same of the same bundle, whenever each was published.
    pub fn same_bundle(&self, other: &Self) -> bool {
        let VersionRecord { name, version, hash, size, data_identity, published_at: _ } = self;
        (name, version, hash, size, data_identity)
            == (&other.name, &other.version, &other.hash, &other.size, &other.data_identity)
    }

    /// Reads the record that stands under this name and version. What is accepted, [`VersionRecord::to_json`] gives
    /// back byte for byte.
    pub fn parse(bytes: &[u8], name: &NestName, version: &Version) -> Result<Self, BadRecord> {
        let record: VersionRecord = codec::parse(bytes)?;
        codec::same("name", &record.name, name)?;
        codec::same("version", &record.version, version)?;
        if parse_version(&record.version.to_string()).is_none() {
            return Err(BadRecord::Value { field: "version" });
        }
        if record.size == 0 || record.size > MAX_BUNDLE_BYTES as u64 {
            return Err(BadRecord::Value { field: "size" });
        }
        Ok(record)
    }

    /// The one JSON spelling.
    pub fn to_json(&self) -> String {
        codec::to_json(self)
    }
}
