//! Stored bytes to the columns that queries see.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use bytes::Bytes;

use super::tables::Table;
use super::wide;
use crate::store::chunk;

/// What is wrong with a chunk.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It holds other columns or another number of rows than the store says.
    #[error("the stored rows are damaged: {0}")]
    Shape(String),
}

/// These columns of a chunk.
pub fn decode(bytes: &Bytes, table: &Table, wanted: &[usize], rows: u64) -> Result<Vec<ArrayRef>, DecodeError> {
    let batch = chunk::decode(&table.stored, bytes.clone()).map_err(|bad| DecodeError::Shape(bad.to_string()))?;
    if batch.num_rows() as u64 != rows {
        return Err(DecodeError::Shape(format!("{} rows instead of {rows}", batch.num_rows())));
    }
    wanted
        .iter()
        .map(|&place| {
            let column = batch.columns().get(place);
            let column = column.ok_or_else(|| DecodeError::Shape(format!("column {place} is missing")))?;
            if column.data_type() != table.stored.field(place).data_type() {
                return Err(DecodeError::Shape(format!("column {place} is {}", column.data_type())));
            }
            Ok(as_queried(column, table, place))
        })
        .collect()
}

fn as_queried(column: &ArrayRef, table: &Table, place: usize) -> ArrayRef {
    let ty = table.columns[place].0;
    match column.as_fixed_size_binary_opt() {
        Some(stored) if ty.is_wide_integer() => wide::from_storage(stored, ty),
        _ => Arc::clone(column),
    }
}
