//! What a guest hands back, in one form whatever the version of its world. Nothing in it has been checked.

/// Values of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RawValues {
    /// Least significant bit first.
    Bits(Vec<u8>),
    /// Signed integers, seconds.
    S64s(Vec<i64>),
    /// Unsigned integers.
    U64s(Vec<u64>),
    /// Values of `width` bytes.
    Fixed { width: u32, values: Vec<u8> },
    /// Byte strings.
    Bytes { offsets: Vec<u32>, values: Vec<u8> },
    /// UTF-8.
    Text { offsets: Vec<u32>, values: Vec<u8> },
}

impl RawValues {
    /// The case's name in WIT.
    pub(super) fn case(&self) -> &'static str {
        match self {
            RawValues::Bits(_) => "bits",
            RawValues::S64s(_) => "s64s",
            RawValues::U64s(_) => "u64s",
            RawValues::Fixed { .. } => "fixed",
            RawValues::Bytes { .. } => "bytes",
            RawValues::Text { .. } => "text",
        }
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawColumn {
    pub values: RawValues,
    /// Arrow bitmap, 1 for present.
    pub validity: Option<Vec<u8>>,
}

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawTable {
    pub table: u32,
    /// The log that made each row.
    pub source: Vec<u32>,
    pub columns: Vec<RawColumn>,
}

/// A log that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawRejection {
    pub log: u32,
    pub code: String,
    pub detail: String,
}

/// The result of one `decode`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawDecoded {
    pub tables: Vec<RawTable>,
    pub rejected: Vec<RawRejection>,
    pub ignored: Vec<u32>,
}

/// One column of a described table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawColumnDef {
    pub name: String,
    pub ty: String,
    pub nullable: bool,
    pub doc: String,
}

/// One described table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawTableDef {
    pub name: String,
    pub columns: Vec<RawColumnDef>,
    pub doc: String,
}

/// One described filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawFilter {
    pub addresses: Vec<Vec<u8>>,
    pub topics: Vec<Vec<u8>>,
    pub start_block: u64,
}

/// The result of one `describe`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawDescription {
    pub tables: Vec<RawTableDef>,
    pub filters: Vec<RawFilter>,
}

/// A guest's `failure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawFailure {
    pub code: String,
    pub message: String,
}
