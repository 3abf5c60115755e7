//! One chunk, decoded.

use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use arrow::datatypes::UInt64Type;
use bytes::Bytes;

use super::bigint::{Signedness, from_storage};
use super::tables::Table;
use crate::store::ChunkMeta;
use crate::store::chunk::{BadChunk, decode};

/// A chunk's columns: as stored, sharing its bytes, and wide integers once a query has asked for them.
#[derive(Debug)]
pub struct Chunk {
    stored: RecordBatch,
    wide: Vec<OnceLock<ArrayRef>>,
    bytes: usize,
}

/// What a decoded chunk takes beside its bytes: itself, and each of its columns.
const CHUNK_BYTES: usize = 256;
const COLUMN_BYTES: usize = 256;
/// The most that one wide integer takes: its encoding and its offset.
const WIDE_BYTES: usize = 34 + 8;

impl Chunk {
    /// Decodes a chunk of a table.
    pub fn decode(bytes: Bytes, table: &Table, meta: &ChunkMeta) -> Result<Self, BadChunk> {
        let size = bytes.len();
        let stored = decode(&table.stored, bytes)?;
        let rows = stored.num_rows();
        if rows as u64 != meta.rows {
            return Err(BadChunk::Damaged(format!("it holds {rows} rows, and the store says {}", meta.rows)));
        }
        if table.is_ordered() && !is_ordered(&stored) {
            return Err(BadChunk::Damaged("its rows are not in (block, log) order".to_owned()));
        }
        let wide_columns = table.columns.iter().filter(|(ty, _)| ty.is_wide_integer()).count();
        let columns = stored.num_columns();
        let bytes = CHUNK_BYTES + columns * COLUMN_BYTES + size + wide_columns * rows * WIDE_BYTES;
        let wide = (0..columns).map(|_| OnceLock::new()).collect();
        Ok(Chunk { stored, wide, bytes })
    }

    /// A column as queries see it.
    pub fn column(&self, table: &Table, place: usize) -> ArrayRef {
        let stored = self.stored.column(place);
        let signedness = Signedness::of(table.columns[place].0);
        match (signedness, stored.as_fixed_size_binary_opt()) {
            (Some(signedness), Some(stored)) => {
                Arc::clone(self.wide[place].get_or_init(|| Arc::new(from_storage(stored, signedness))))
            }
            _ => Arc::clone(stored),
        }
    }

    /// The most memory that it can come to hold.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Scans promise this order to the planner, so it is looked at rather than believed.
fn is_ordered(batch: &RecordBatch) -> bool {
    let numbers = |name: &str| -> Option<&UInt64Array> { batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>() };
    let (Some(blocks), Some(logs)) = (numbers("block_number"), numbers("log_index")) else { return true };
    let (blocks, logs) = (blocks.values(), logs.values());
    (1..blocks.len()).all(|row| (blocks[row - 1], logs[row - 1]) <= (blocks[row], logs[row]))
}
