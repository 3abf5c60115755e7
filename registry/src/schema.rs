//! Table schemas: the column types a nest may declare, and how they are spelled.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of one column, as spelled in manifests, `DESCRIBE` and API answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ColumnType {
    /// `bool`
    Bool,
    /// `uint8` to `uint256`; the number is the width in bits, a multiple of 8.
    Uint(u16),
    /// `int8` to `int256`; the number is the width in bits, a multiple of 8.
    Int(u16),
    /// `decimal(precision,scale)`, precision 1 to 76, scale 0 to precision.
    Decimal(u8, u8),
    /// `timestamp`: seconds since 1970, UTC.
    Timestamp,
    /// `address`: 20 bytes.
    Address,
    /// `bytes1` to `bytes32`.
    FixedBytes(u8),
    /// `bytes`: any length.
    Bytes,
    /// `string`: UTF-8 without NUL.
    String,
    /// `json`: an array or tuple, integers as decimal strings.
    Json,
}

impl ColumnType {
    /// Whether values are kept as 32 bytes, big-endian, because they do not fit 64 bits.
    pub fn is_wide_integer(self) -> bool {
        matches!(self, ColumnType::Uint(bits) | ColumnType::Int(bits) if bits > 64)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Bool => f.write_str("bool"),
            ColumnType::Uint(bits) => write!(f, "uint{bits}"),
            ColumnType::Int(bits) => write!(f, "int{bits}"),
            ColumnType::Decimal(precision, scale) => write!(f, "decimal({precision},{scale})"),
            ColumnType::Timestamp => f.write_str("timestamp"),
            ColumnType::Address => f.write_str("address"),
            ColumnType::FixedBytes(width) => write!(f, "bytes{width}"),
            ColumnType::Bytes => f.write_str("bytes"),
            ColumnType::String => f.write_str("string"),
            ColumnType::Json => f.write_str("json"),
        }
    }
}

/// A column type that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a column type; known are bool, uint8…uint256, int8…int256, decimal(p,s), timestamp, address, \
     bytes1…bytes32, bytes, string and json"
)]
pub struct UnknownType(pub String);

impl FromStr for ColumnType {
    type Err = UnknownType;

    fn from_str(text: &str) -> Result<Self, UnknownType> {
        let unknown = || UnknownType(text.chars().take(64).collect());
        // A leading zero or sign would give one type two spellings.
        let number = |digits: &str| -> Option<u16> {
            let plain = !digits.is_empty() && digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit());
            (plain && !(digits.len() > 1 && digits.starts_with('0'))).then(|| digits.parse().ok())?
        };
        let bits = |digits: &str| number(digits).filter(|n| (8..=256).contains(n) && n % 8 == 0);
        let found = match text {
            "bool" => Some(ColumnType::Bool),
            "timestamp" => Some(ColumnType::Timestamp),
            "address" => Some(ColumnType::Address),
            "bytes" => Some(ColumnType::Bytes),
            "string" => Some(ColumnType::String),
            "json" => Some(ColumnType::Json),
            _ => {
                if let Some(rest) = text.strip_prefix("uint") {
                    bits(rest).map(ColumnType::Uint)
                } else if let Some(rest) = text.strip_prefix("int") {
                    bits(rest).map(ColumnType::Int)
                } else if let Some(rest) = text.strip_prefix("bytes") {
                    number(rest).filter(|n| (1..=32).contains(n)).map(|n| ColumnType::FixedBytes(n as u8))
                } else if let Some(rest) = text.strip_prefix("decimal(").and_then(|r| r.strip_suffix(')')) {
                    let (precision, scale) = rest.split_once(',').ok_or_else(unknown)?;
                    match (number(precision), number(scale)) {
                        (Some(p), Some(s)) if (1..=76).contains(&p) && s <= p => {
                            Some(ColumnType::Decimal(p as u8, s as u8))
                        }
                        _ => None,
                    }
                } else {
                    None
                }
            }
        };
        found.ok_or_else(unknown)
    }
}

impl Serialize for ColumnType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ColumnType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// One column of a table, without the provenance columns that the host adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSchema {
    /// Lower-case SQL name.
    pub name: String,
    /// Type of every value.
    #[serde(rename = "type")]
    pub ty: ColumnType,
    /// Whether a value may be NULL.
    pub nullable: bool,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
}

/// One table of a nest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// SQL name, `{alias}__{event}`.
    pub name: String,
    /// Columns in order, provenance not included.
    pub columns: Vec<ColumnSchema>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
}

/// Logs that a nest wants the host to fetch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogFilter {
    /// Contracts, lower-case hex with `0x`; empty means any.
    pub addresses: Vec<String>,
    /// First topics, lower-case hex with `0x`; empty means any first topic, none included.
    pub topics: Vec<String>,
    /// First block whose logs count.
    pub start_block: u64,
}

/// The columns that the host adds before a table's own: from the log that made the row, never from the guest.
pub const PROVENANCE: [(&str, ColumnType); 7] = [
    ("block_number", ColumnType::Uint(64)),
    ("block_hash", ColumnType::FixedBytes(32)),
    ("block_timestamp", ColumnType::Timestamp),
    ("tx_hash", ColumnType::FixedBytes(32)),
    ("tx_index", ColumnType::Uint(32)),
    ("log_index", ColumnType::Uint(64)),
    ("address", ColumnType::Address),
];

#[cfg(test)]
mod tests;
