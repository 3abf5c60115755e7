//! What can be wrong with a guest's output, named to the table, column and row.

/// A guest's output does not hold together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// Not even the component model's own rules hold.
    #[error("the result breaks the component model's rules: {0}")]
    Abi(String),
    /// Tables or filters that could not be used.
    #[error("the description does not hold together: {0}")]
    Description(String),
    /// A table number past the end.
    #[error("rows for table number {table}, and the nest has {tables} tables")]
    UnknownTable {
        /// Number given.
        table: u32,
        /// Tables of the nest.
        tables: usize,
    },
    /// A table's rows in two pieces.
    #[error("table '{table}' comes twice in one result")]
    TableTwice {
        /// Table.
        table: String,
    },
    /// Too few or too many columns.
    #[error("table '{table}' has {found} columns, and {expected} are declared")]
    ColumnCount {
        /// Table.
        table: String,
        /// Columns given.
        found: usize,
        /// Columns declared.
        expected: usize,
    },
    /// A source that is no log of the batch.
    #[error("table '{table}', row {row}: source {log} is not one of the batch's {logs} logs")]
    SourceRange {
        /// Table.
        table: String,
        /// Row.
        row: usize,
        /// Source given.
        log: u32,
        /// Logs of the batch.
        logs: usize,
    },
    /// Rows out of order.
    #[error("table '{table}', row {row}: source {log} comes after source {before}, and sources may not fall")]
    SourceOrder {
        /// Table.
        table: String,
        /// Row.
        row: usize,
        /// Source given.
        log: u32,
        /// Source of the row before.
        before: u32,
    },
    /// A column that cannot be used.
    #[error("table '{table}', column '{column}'{problem}")]
    Column {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// What is wrong.
        problem: ColumnProblem,
    },
    /// A rejected or ignored log that is no log of the batch.
    #[error("log {log} is named as {what}, and the batch has {logs} logs")]
    LogRange {
        /// Log given.
        log: u32,
        /// As what.
        what: &'static str,
        /// Logs of the batch.
        logs: usize,
    },
    /// A log in two places.
    #[error("log {log} is {first} and {second}; each log has one place")]
    AccountedTwice {
        /// Log.
        log: u32,
        /// First place.
        first: &'static str,
        /// Second place.
        second: &'static str,
    },
    /// A log in no place.
    #[error("log {log} is neither a source of rows nor rejected nor ignored")]
    Unaccounted {
        /// Log.
        log: usize,
    },
    /// A reason code that is not kebab-case or too long.
    #[error("log {log} is rejected with code '{code}'; a code is kebab-case, 32 bytes at most")]
    RejectionCode {
        /// Log.
        log: u32,
        /// Code given, cut.
        code: String,
    },
    /// A detail that is too long.
    #[error("log {log} is rejected with a detail of {found} bytes, and at most {cap} are allowed")]
    RejectionDetail {
        /// Log.
        log: u32,
        /// Bytes given.
        found: usize,
        /// The cap.
        cap: usize,
    },
}

/// What is wrong with a column. Written after its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnProblem {
    /// Values of another case than the type has.
    #[error(": values are '{found}', and {ty} takes '{expected}'")]
    Case {
        /// Case given.
        found: &'static str,
        /// Case expected.
        expected: &'static str,
        /// The column's type.
        ty: String,
    },
    /// Too few or too many values.
    #[error(": {found} {unit} of values, and {rows} rows take {expected}")]
    Length {
        /// Found.
        found: usize,
        /// Expected.
        expected: usize,
        /// What is counted.
        unit: &'static str,
        /// Rows of the table.
        rows: usize,
    },
    /// Values of another width.
    #[error(": values are {found} bytes wide, and {ty} takes {expected}")]
    Width {
        /// Width given.
        found: u32,
        /// Width expected.
        expected: u32,
        /// The column's type.
        ty: String,
    },
    /// Bits behind the last row.
    #[error(": bits behind the last row are set in the {bitmap}")]
    TailBits {
        /// `values` or `validity`.
        bitmap: &'static str,
    },
    /// A validity bitmap of the wrong size.
    #[error(": validity has {found} bytes, and {rows} rows take {expected}")]
    ValidityLength {
        /// Bytes given.
        found: usize,
        /// Bytes expected.
        expected: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// Too few or too many offsets.
    #[error(": {found} offsets, and {rows} rows take {expected}")]
    OffsetCount {
        /// Offsets given.
        found: usize,
        /// Offsets expected.
        expected: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// The first offset is not 0.
    #[error(": the first offset is {0}, and 0 is expected")]
    OffsetStart(u32),
    /// An offset is below the one before.
    #[error(", row {row}: the offsets fall")]
    OffsetOrder {
        /// Row.
        row: usize,
    },
    /// The last offset is not the end of the values.
    #[error(": the last offset is {found}, and there are {expected} bytes of values")]
    OffsetEnd {
        /// Offset given.
        found: u32,
        /// Bytes of values.
        expected: usize,
    },
    /// Text that is not UTF-8.
    #[error(", row {row}: the text is not UTF-8")]
    Utf8 {
        /// Row.
        row: usize,
    },
    /// Text with a NUL in it.
    #[error(", row {row}: the text holds NUL")]
    Nul {
        /// Row.
        row: usize,
    },
    /// A value that its type does not have.
    #[error(", row {row}: the value is not one of {ty}")]
    Range {
        /// Row.
        row: usize,
        /// The column's type.
        ty: String,
    },
    /// NULL where the schema says that there is none.
    #[error(", row {row}: NULL, and the column is not nullable")]
    Null {
        /// Row.
        row: usize,
    },
}
