//! Scalar functions on integers.

pub mod adapted;
pub mod arithmetic;
pub mod conversion;
pub mod nested;
pub mod operation;
pub mod unary;
pub mod units;
pub mod unscaled;

use datafusion::logical_expr::ScalarUDF;

/// Names of the functions here that take integers as they are, beyond arithmetic and conversions.
const OWN: [&str; 9] = [
    "abs",
    "sign",
    "integer_negate",
    "integer_to",
    "decimal_unscaled",
    "integers_as_text",
    "format_units",
    "parse_units",
    "to_hex",
];

/// Whether a function is one of these.
pub fn is_own(function: &ScalarUDF) -> bool {
    OWN.contains(&function.name())
}
