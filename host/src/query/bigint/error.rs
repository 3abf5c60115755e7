//! What can go wrong with exact integers.

use arrow::datatypes::DataType;
use datafusion::error::DataFusionError;
use thiserror::Error;

/// Why an exact integer could not be made, read or converted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IntegerError {
    /// A result needs more than 1,008 bits.
    #[error("result exceeds 1,008 bits: the widest integer a query can hold; divide earlier or cast to double")]
    TooWide,
    /// `/` or `%` by zero.
    #[error("division by zero: guard the divisor, as in x / nullif(y, 0)")]
    DivisionByZero,
    /// Text that is no integer.
    #[error("'{0}' is not an integer: write decimal digits or 0x and hexadecimal digits, with a sign if negative")]
    NotAnInteger(String),
    /// A value outside the range of the type it was cast to.
    #[error("{value} does not fit {target}: cast to a wider type or filter such rows out")]
    OutOfRange {
        /// The value in decimal.
        value: String,
        /// The type's SQL name.
        target: String,
    },
    /// Arithmetic on 64-bit integers left their range.
    #[error("{left} {operator} {right} does not fit {target}: widen one side, as in int256(x) {operator} y")]
    Overflow {
        /// Left operand in decimal.
        left: String,
        /// The operator.
        operator: &'static str,
        /// Right operand in decimal.
        right: String,
        /// The result type's SQL name.
        target: String,
    },
    /// A shift or a power whose right side makes no sense.
    #[error("{operation} by {amount}: the right side must be from 0 to {limit}")]
    BadAmount {
        /// The operation's name.
        operation: &'static str,
        /// What was given.
        amount: String,
        /// The largest accepted.
        limit: u32,
    },
    /// Bytes that are no encoded integer.
    #[error("{0} is no encoded integer: only integer columns and functions make values of this type")]
    Malformed(String),
    /// A type that has no exact integer reading.
    #[error("cannot use {found} as an integer: convert it first, as in uint256(x)")]
    NoConversion {
        /// The type's SQL name.
        found: String,
    },
}

impl From<IntegerError> for DataFusionError {
    fn from(error: IntegerError) -> Self {
        DataFusionError::Execution(error.to_string())
    }
}

/// What users call a type.
pub fn type_name(ty: &DataType) -> String {
    match ty {
        DataType::LargeBinary => "a 256-bit integer".into(),
        DataType::Int8 => "tinyint".into(),
        DataType::Int16 => "smallint".into(),
        DataType::Int32 => "int".into(),
        DataType::Int64 => "bigint".into(),
        DataType::UInt8 => "tinyint unsigned".into(),
        DataType::UInt16 => "smallint unsigned".into(),
        DataType::UInt32 => "int unsigned".into(),
        DataType::UInt64 => "bigint unsigned".into(),
        DataType::Float16 | DataType::Float32 => "real".into(),
        DataType::Float64 => "double".into(),
        DataType::Boolean => "boolean".into(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Binary | DataType::BinaryView => "bytes".into(),
        DataType::FixedSizeBinary(width) => format!("{width} bytes"),
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            format!("decimal({p},{s})")
        }
        DataType::Decimal256(p, s) => format!("decimal({p},{s})"),
        DataType::Timestamp(..) => "timestamp".into(),
        other => other.to_string().to_lowercase(),
    }
}
