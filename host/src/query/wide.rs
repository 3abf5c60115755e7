//! The seam to exact integers of more than 64 bits.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, FixedSizeBinaryArray, LargeBinaryBuilder};
use datafusion::sql::sqlparser::ast::Statement;
use num_bigint::BigInt;

use super::error::BadQuery;
use crate::model::ColumnType;

/// Stored 32-byte integers as the form that queries compute with.
pub fn from_storage(stored: &FixedSizeBinaryArray, ty: ColumnType) -> ArrayRef {
    let signed = u8::from(matches!(ty, ColumnType::Int(_)));
    let mut built = LargeBinaryBuilder::with_capacity(stored.len(), stored.len() * 33);
    for row in 0..stored.len() {
        if stored.is_null(row) {
            built.append_null();
        } else {
            let mut value = vec![signed];
            value.extend_from_slice(stored.value(row));
            built.append_value(value);
        }
    }
    Arc::new(built.finish())
}

/// An integer in the form that queries compute with, as decimal text.
pub fn to_text(value: &[u8]) -> String {
    match value.split_first() {
        Some((1, bytes)) => {
            let mut bytes = bytes.to_vec();
            bytes[0] ^= 0x80;
            BigInt::from_signed_bytes_be(&bytes).to_string()
        }
        Some((_, bytes)) => BigInt::from_bytes_be(num_bigint::Sign::Plus, bytes).to_string(),
        None => String::new(),
    }
}

/// Turns integer literals that 64 bits cannot hold into exact ones.
pub fn rewrite_statement(_: &mut Statement) -> Result<(), BadQuery> {
    Ok(())
}
