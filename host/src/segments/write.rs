//! Rows into the bytes of a segment: the same rows give the same bytes, whoever writes them and however they came.

use arrow::array::RecordBatch;
use arrow::datatypes::Field;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::schema::{file_schema, to_file};
use super::tree::HashTree;
use crate::model::{ColumnType, ContentHash, nest_type};

/// The version of rule and writer. Whatever changes a cut or a byte makes another format.
pub const SEGMENT_FORMAT: u32 = 1;

/// Rows of a page: what a lookup reads at least.
const PAGE_ROWS: usize = 8_192;
/// Rows handed to the writer at a time. It looks at page and dictionary sizes between two of these.
const SLICE_ROWS: usize = 1_024;
const ZSTD_LEVEL: i32 = 3;
/// False positives of a bloom filter, of one.
const BLOOM_FALSE: f64 = 0.01;

/// A segment's bytes with their address.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// BLAKE3 of the bytes.
    pub hash: ContentHash,
    /// Their inner hashes.
    pub tree: HashTree,
    /// A whole Parquet file.
    pub bytes: Bytes,
}

/// Rows that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("rows cannot be written as Parquet: {0}")]
pub struct WriteError(String);

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        WriteError(error.to_string())
    }
}

impl From<arrow::error::ArrowError> for WriteError {
    fn from(error: arrow::error::ArrowError) -> Self {
        WriteError(error.to_string())
    }
}

/// Writes rows of a table, which are in order and of the schema of its chunks.
pub fn encode(rows: &RecordBatch) -> Result<Encoded, WriteError> {
    let options = ArrowWriterOptions::new()
        // An Arrow schema in the metadata would bring that library's details into the bytes.
        .with_skip_arrow_metadata(true)
        .with_properties(properties(rows)?);
    let schema = file_schema(&rows.schema());
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), schema, options)?;
    let mut start = 0;
    while start < rows.num_rows() {
        let slice = rows.slice(start, SLICE_ROWS.min(rows.num_rows() - start));
        writer.write(&to_file(&slice)?)?;
        start += SLICE_ROWS;
    }
    let bytes = Bytes::from(writer.into_inner()?);
    let (hash, tree) = HashTree::of(&bytes);
    Ok(Encoded { hash, tree, bytes })
}

fn properties(rows: &RecordBatch) -> Result<WriterProperties, WriteError> {
    let schema = rows.schema();
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("nuthatch segment format {SEGMENT_FORMAT}"))
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        // One row group, so that a file is read with one footer and one filter a column.
        .set_max_row_group_row_count(None)
        .set_max_row_group_bytes(None)
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(SLICE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Page);
    let order = ["block_number", "log_index"].iter().filter_map(|name| schema.index_of(name).ok());
    let sorted = order.map(|place| SortingColumn { column_idx: place as i32, descending: false, nulls_first: false });
    properties = properties.set_sorting_columns(Some(sorted.collect()));
    for field in schema.fields() {
        if has_bloom(field) {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_bloom_filter_fpp(column.clone(), BLOOM_FALSE)
                .set_column_bloom_filter_max_ndv(column, rows.num_rows() as u64);
        }
    }
    Ok(properties.build())
}

/// Columns that people look single values up in: addresses, transactions, ids. A block's hash goes with its number.
fn has_bloom(field: &Field) -> bool {
    let looked_up = matches!(nest_type(field), Some(ColumnType::Address | ColumnType::FixedBytes(32)));
    looked_up && field.name() != "block_hash"
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, FixedSizeBinaryArray, StringArray, TimestampSecondArray, UInt32Array, UInt64Array};
    use arrow::compute::concat_batches;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;
    use crate::model::{ColumnSchema, TableSchema, arrow_schema};

    /// Rows that any machine makes alike.
    fn rows(first: u64, count: usize) -> RecordBatch {
        let column = |name: &str, ty| ColumnSchema { name: name.to_owned(), ty, nullable: false, doc: String::new() };
        let columns = vec![
            column("who", ColumnType::Address),
            column("value", ColumnType::Uint(256)),
            column("memo", ColumnType::String),
        ];
        let table = TableSchema { name: "a__moved".to_owned(), columns, doc: String::new() };
        let mixed = |row: u64, salt: u64| (row ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let numbers = || first..first + count as u64;
        let bytes = |width: usize, salt: u64, of: u64| -> ArrayRef {
            let value = move |row: u64| {
                let mut bytes = vec![0; width];
                bytes[..8].copy_from_slice(&mixed(row / of, salt).to_be_bytes());
                bytes
            };
            Arc::new(FixedSizeBinaryArray::try_from_iter(numbers().map(value)).unwrap())
        };
        let times = TimestampSecondArray::from_iter_values(numbers().map(|row| 1_700_000_000 + row as i64 / 4));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(numbers().map(|row| row / 4))),
            bytes(32, 1, 4),
            Arc::new(times.with_timezone("+00:00")),
            bytes(32, 2, 1),
            Arc::new(UInt32Array::from_iter_values(numbers().map(|row| (row % 4) as u32))),
            Arc::new(UInt64Array::from_iter_values(numbers().map(|row| row % 4))),
            bytes(20, 3, 4_096),
            bytes(20, 4, 7),
            bytes(32, 5, 1),
            Arc::new(StringArray::from_iter_values(numbers().map(|row| format!("memo {}", mixed(row, 6) % 1_000)))),
        ];
        RecordBatch::try_new(arrow_schema(&table), columns).unwrap()
    }

    /// I8: the bytes of format 1. Another hash here is another format, and every operator's files with it.
    #[test]
    fn the_bytes_are_the_formats() {
        assert_eq!(SEGMENT_FORMAT, 1);
        assert_eq!(
            encode(&rows(7, 20_000)).unwrap().hash.to_string(),
            "099d1c2502a6422c567879bf57ec4be200b57b983f6e309d62eaab07add2981d"
        );
    }

    #[test]
    fn the_bytes_do_not_tell_how_the_rows_came() {
        let whole = rows(0, 10_000);
        let parts: Vec<RecordBatch> =
            (0..10_000).step_by(700).map(|at| rows(at, 700.min(10_000 - at as usize))).collect();
        let joined = concat_batches(&whole.schema(), &parts).unwrap();
        let sliced = rows(0, 12_000).slice(0, 10_000);
        let hash = encode(&whole).unwrap().hash;
        assert_eq!(encode(&joined).unwrap().hash, hash);
        assert_eq!(encode(&sliced).unwrap().hash, hash);
        assert_ne!(encode(&rows(1, 10_000)).unwrap().hash, hash);
    }

    #[test]
    fn rows_come_back_with_one_row_group_pages_and_blooms() {
        let rows = rows(0, 20_000);
        let bytes = encode(&rows).unwrap().bytes;
        let file = SerializedFileReader::new(bytes.clone()).unwrap();
        let metadata = file.metadata();
        assert_eq!((metadata.num_row_groups(), metadata.file_metadata().num_rows()), (1, 20_000));
        assert_eq!(metadata.file_metadata().created_by(), Some("nuthatch segment format 1"));
        assert!(metadata.file_metadata().key_value_metadata().is_none());
        let group = metadata.row_group(0);
        let with_bloom: Vec<&str> = group
            .columns()
            .iter()
            .filter(|column| column.bloom_filter_offset().is_some())
            .map(|column| column.column_descr().name())
            .collect();
        assert_eq!(with_bloom, ["tx_hash", "address", "who"]);
        assert!(group.columns().iter().all(|column| column.offset_index_offset().is_some()));
        let read = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().with_batch_size(20_000).build().unwrap();
        let read: Vec<RecordBatch> = read.collect::<Result<_, _>>().unwrap();
        let read = concat_batches(&read[0].schema(), &read).unwrap();
        for (place, column) in rows.columns().iter().enumerate() {
            let back = arrow::compute::cast(read.column(place), column.data_type()).unwrap();
            assert_eq!(&back, column, "{}", rows.schema().field(place).name());
        }
    }
}
