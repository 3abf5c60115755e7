//! Strict JSON: one spelling, no unknown field, a size limit, and what a record says of itself is where it stands.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::canonical::canonical_json;
use crate::names::shown;

/// Most bytes of a version record or a notice.
pub const MAX_RECORD_BYTES: usize = 8 << 10;

/// Why bytes are not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRecord {
    /// Larger than [`MAX_RECORD_BYTES`].
    #[error("it has more than the {MAX_RECORD_BYTES} bytes allowed")]
    TooLarge,
    /// Not JSON, or not of a record's shape.
    #[error("it cannot be read: {0}")]
    Json(String),
    /// JSON of the right shape in another spelling.
    #[error("it is not canonical JSON (first difference at byte {at})")]
    NotCanonical {
        /// Offset of the first byte that differs.
        at: usize,
    },
    /// A record that says it is another.
    #[error("its {field} is '{found}', and it stands where that of '{expected}' belongs")]
    Misplaced {
        /// `name`, `version` or `seq`.
        field: &'static str,
        /// What the record says.
        found: String,
        /// What its place says.
        expected: String,
    },
    /// A value that no record can have.
    #[error("its {field} is out of range")]
    Value {
        /// Which.
        field: &'static str,
    },
}

pub(super) fn parse<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> Result<T, BadRecord> {
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(BadRecord::TooLarge);
    }
    let record: T = serde_json::from_slice(bytes).map_err(|error| {
        // A message of the JSON library may quote what it read.
        BadRecord::Json(error.to_string().escape_debug().take(200).collect())
    })?;
    let canonical = to_json(&record);
    if canonical.as_bytes() != bytes {
        let at = canonical.bytes().zip(bytes).take_while(|(a, b)| a == *b).count();
        return Err(BadRecord::NotCanonical { at });
    }
    Ok(record)
}

/// Records are structs of texts and numbers: there is no value of one that JSON cannot hold.
pub(super) fn to_json<T: Serialize>(record: &T) -> String {
    serde_json::to_value(record).map(|value| canonical_json(&value)).unwrap_or_default()
}

pub(super) fn same<T: PartialEq + fmt::Display>(field: &'static str, found: &T, expected: &T) -> Result<(), BadRecord> {
    if found == expected {
        return Ok(());
    }
    Err(BadRecord::Misplaced { field, found: shown(&found.to_string()), expected: shown(&expected.to_string()) })
}
