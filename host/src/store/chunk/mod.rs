//! Columnar chunks: one table's rows of one window, without their schema.
//!
//! A chunk is Arrow's own buffers one after the other, so decoding slices the bytes and copies nothing:
//!
//! ```text
//! "nch1"  rows: u32  columns: u32  one bit a column: has nulls     little-endian, padded to 8
//! per column, each part padded to 8:
//!   validity bits                  only where the column has nulls
//!   values                         bits, or rows × width
//!   or rows + 1 offsets (i32), then the bytes they cut
//! ```
//!
//! The bytes depend on the rows alone, not on how a batch was sliced, so the same rows have the same address.

mod id;
#[cfg(test)]
mod tests;

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, make_array};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::datatypes::{DataType, SchemaRef, UInt64Type};
use bytes::Bytes;

use crate::model::{BlockNumber, BlockRange, TableId};

pub(crate) use id::ChunkOwner;

/// Rows to write: one table's rows of one window, encoded by [`encode`].
#[derive(Clone, Debug)]
pub struct NewChunk {
    /// Table.
    pub table: TableId,
    /// The window.
    pub range: BlockRange,
    /// Rows, never 0: a table without rows in the window has no chunk.
    pub rows: u64,
    /// Encoded rows.
    pub bytes: Bytes,
}

const MAGIC: &[u8; 4] = b"nch1";
const HEADER: usize = 12;
/// Arrow asks for the alignment of the widest value; 8 serves all types but decimals, which are copied if need be.
const ALIGN: usize = 8;
/// Databases take values of 1 GB at most.
const MAX_BYTES: usize = 512 << 20;

/// Bytes that are no chunk of the schema, or rows that do not fit one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadChunk {
    /// The column type has no layout in a chunk.
    #[error("column '{column}' has type {ty}, which chunks do not hold")]
    Type {
        /// Column.
        column: String,
        /// Its Arrow type.
        ty: DataType,
    },
    /// More rows or bytes than the format counts.
    #[error("{0}; write smaller windows")]
    TooLarge(String),
    /// The bytes do not add up.
    #[error("the chunk is damaged: {0}")]
    Damaged(String),
}

fn damaged(what: impl Into<String>) -> BadChunk {
    BadChunk::Damaged(what.into())
}

/// How a column's values lie.
#[derive(Clone, Copy)]
enum Layout {
    Bits,
    Fixed(usize),
    Variable,
}

fn layout(column: &str, ty: &DataType) -> Result<Layout, BadChunk> {
    match ty {
        DataType::Boolean => Ok(Layout::Bits),
        DataType::Binary | DataType::Utf8 => Ok(Layout::Variable),
        DataType::FixedSizeBinary(width) if *width > 0 => Ok(Layout::Fixed(*width as usize)),
        other => other
            .primitive_width()
            .map(Layout::Fixed)
            .ok_or_else(|| BadChunk::Type { column: column.to_owned(), ty: other.clone() }),
    }
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(ALIGN), 0);
}

/// The rows as a chunk's bytes.
pub fn encode(batch: &RecordBatch) -> Result<Bytes, BadChunk> {
    let rows = u32::try_from(batch.num_rows())
        .map_err(|_| BadChunk::TooLarge(format!("{} rows are too many for one chunk", batch.num_rows())))?;
    let columns = batch.num_columns();
    let data: Vec<ArrayData> = batch.columns().iter().map(|column| column.to_data()).collect();
    let size: usize = data.iter().map(|data| data.get_slice_memory_size().unwrap_or(0)).sum();
    if size > MAX_BYTES {
        return Err(BadChunk::TooLarge(format!("{size} bytes are too many for one chunk")));
    }
    let mut out = Vec::with_capacity(HEADER + columns * 4 * ALIGN + size);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&rows.to_le_bytes());
    out.extend_from_slice(&(columns as u32).to_le_bytes());
    let mut flags = vec![0u8; columns.div_ceil(8)];
    for (place, _) in data.iter().enumerate().filter(|(_, data)| data.null_count() > 0) {
        flags[place / 8] |= 1 << (place % 8);
    }
    out.extend_from_slice(&flags);
    pad(&mut out);
    for (field, data) in batch.schema_ref().fields().iter().zip(&data) {
        if let Some(nulls) = data.nulls().filter(|nulls| nulls.null_count() > 0) {
            push_bits(&mut out, nulls.inner());
        }
        push_values(&mut out, layout(field.name(), data.data_type())?, data);
    }
    Ok(Bytes::from(out))
}

fn push_bits(out: &mut Vec<u8>, bits: &BooleanBuffer) {
    let from = out.len();
    out.extend_from_slice(&bits.sliced()[..bits.len().div_ceil(8)]);
    // Bits past the end are whatever the slice was cut from; they must not reach the address.
    let rest = bits.len() % 8;
    if rest != 0 && out.len() > from {
        let last = out.len() - 1;
        out[last] &= (1 << rest) - 1;
    }
    pad(out);
}

fn push_values(out: &mut Vec<u8>, layout: Layout, data: &ArrayData) {
    let (offset, len) = (data.offset(), data.len());
    let values = &data.buffers()[0];
    match layout {
        Layout::Bits => push_bits(out, &BooleanBuffer::new(values.clone(), offset, len)),
        Layout::Fixed(width) => out.extend_from_slice(&values[offset * width..(offset + len) * width]),
        Layout::Variable => {
            let offsets: &[i32] = if len == 0 { &[0] } else { &values.typed_data::<i32>()[offset..=offset + len] };
            let (first, last) = (offsets[0], offsets[len]);
            for offset in offsets {
                out.extend_from_slice(&(offset - first).to_le_bytes());
            }
            pad(out);
            out.extend_from_slice(&data.buffers()[1][first as usize..last as usize]);
        }
    }
    pad(out);
}

/// How many rows the chunk says it has, without decoding it.
pub fn rows(bytes: &[u8]) -> Result<u64, BadChunk> {
    header(bytes).map(|(rows, _)| rows as u64)
}

fn header(bytes: &[u8]) -> Result<(usize, usize), BadChunk> {
    let header = bytes.get(..HEADER).ok_or_else(|| damaged("it ends within its header"))?;
    if &header[..4] != MAGIC {
        return Err(damaged("it does not begin like a chunk"));
    }
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
    Ok((number(4), number(8)))
}

/// Cuts parts off the front of a chunk, each checked to be there.
struct Parts {
    bytes: Buffer,
    at: usize,
}

impl Parts {
    fn take(&mut self, len: usize, what: &str) -> Result<Buffer, BadChunk> {
        let end = self.at.checked_add(len).map(|end| end.next_multiple_of(ALIGN));
        let end = end.filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| damaged(format!("it ends within {what}")))?;
        let part = self.bytes.slice_with_length(self.at, len);
        self.at = end;
        Ok(part)
    }
}

/// The rows of a chunk. The columns share the bytes given; nothing is copied unless these are not aligned.
pub fn decode(schema: &SchemaRef, bytes: Bytes) -> Result<RecordBatch, BadChunk> {
    let (rows, columns) = header(&bytes)?;
    if columns != schema.fields().len() {
        return Err(damaged(format!("it has {columns} columns and its table has {}", schema.fields().len())));
    }
    let mut parts = Parts { bytes: Buffer::from(bytes), at: HEADER };
    let flags = parts.take(columns.div_ceil(8), "its header")?;
    let mut arrays = Vec::with_capacity(columns);
    for (place, field) in schema.fields().iter().enumerate() {
        let has_nulls = flags[place / 8] & (1 << (place % 8)) != 0;
        arrays.push(column(&mut parts, field.name(), field.data_type(), rows, has_nulls)?);
    }
    if parts.at != parts.bytes.len() {
        return Err(damaged("bytes follow its last column"));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map_err(|e| damaged(e.to_string()))
}

fn column(parts: &mut Parts, name: &str, ty: &DataType, rows: usize, has_nulls: bool) -> Result<ArrayRef, BadChunk> {
    let too_many = || damaged(format!("column '{name}' claims more rows than can be"));
    let validity = has_nulls.then(|| parts.take(rows.div_ceil(8), name)).transpose()?;
    let mut data = ArrayData::builder(ty.clone()).len(rows).null_bit_buffer(validity).align_buffers(true);
    match layout(name, ty)? {
        Layout::Bits => data = data.add_buffer(parts.take(rows.div_ceil(8), name)?),
        Layout::Fixed(width) => {
            data = data.add_buffer(parts.take(rows.checked_mul(width).ok_or_else(too_many)?, name)?);
        }
        Layout::Variable => {
            let len = rows.checked_add(1).and_then(|count| count.checked_mul(4)).ok_or_else(too_many)?;
            let offsets = parts.take(len, name)?;
            let last = &offsets[len - 4..];
            let end = i32::from_le_bytes([last[0], last[1], last[2], last[3]]);
            let end = usize::try_from(end).map_err(|_| damaged(format!("column '{name}' has a negative offset")))?;
            data = data.add_buffer(offsets).add_buffer(parts.take(end, name)?);
        }
    }
    // `build` checks lengths, that offsets rise, and UTF-8.
    data.build().map(make_array).map_err(|e| damaged(format!("column '{name}': {e}")))
}

fn block_numbers(batch: &RecordBatch) -> Result<&arrow::array::UInt64Array, BadChunk> {
    batch
        .column_by_name("block_number")
        .and_then(|column| column.as_primitive_opt::<UInt64Type>())
        .ok_or_else(|| damaged("it has no block_number column"))
}

/// The blocks of the rows, which are in block order; one number a row.
pub fn blocks(batch: &RecordBatch) -> Result<&[u64], BadChunk> {
    Ok(block_numbers(batch)?.values())
}

/// From the first row's block to the last one's; none without rows.
pub fn range(batch: &RecordBatch) -> Result<Option<BlockRange>, BadChunk> {
    let blocks = blocks(batch)?;
    Ok(blocks.first().zip(blocks.last()).and_then(|(&a, &b)| BlockRange::new(BlockNumber(a), BlockNumber(b))))
}

/// A chunk of these rows, from the block of the first one to that of the last; none without rows.
pub fn of(table: TableId, batch: &RecordBatch) -> Result<Option<NewChunk>, BadChunk> {
    let Some(range) = range(batch)? else { return Ok(None) };
    Ok(Some(NewChunk { table, range, rows: batch.num_rows() as u64, bytes: encode(batch)? }))
}

/// The rows up to and including block `last`.
pub fn cut(batch: &RecordBatch, last: BlockNumber) -> Result<RecordBatch, BadChunk> {
    let stays: BooleanArray = block_numbers(batch)?.values().iter().map(|&number| Some(number <= last.0)).collect();
    arrow::compute::filter_record_batch(batch, &stays).map_err(|e| damaged(e.to_string()))
}

/// The rows of all batches in their order.
pub fn concat(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<RecordBatch, BadChunk> {
    arrow::compute::concat_batches(schema, batches).map_err(|e| damaged(e.to_string()))
}

/// Whether every row's block lies in the range.
pub fn within(batch: &RecordBatch, range: BlockRange) -> Result<bool, BadChunk> {
    Ok(block_numbers(batch)?.values().iter().all(|&number| range.contains(BlockNumber(number))))
}
