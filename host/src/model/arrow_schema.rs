//! How a table's columns lie in Arrow: provenance first, then the table's own.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use nuthatch_registry::{ColumnType, PROVENANCE, TableSchema};

/// Metadata key under which a field carries its nest type, such as `uint256`.
pub const TYPE_KEY: &str = "nuthatch.type";

/// The Arrow type that holds a column type in chunks and segments. Wide integers are 32 bytes, big-endian, the top
/// bit flipped for signed ones, so that byte order is numeric order.
pub fn data_type(ty: ColumnType) -> DataType {
    match ty {
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Uint(..=8) => DataType::UInt8,
        ColumnType::Uint(..=16) => DataType::UInt16,
        ColumnType::Uint(..=32) => DataType::UInt32,
        ColumnType::Uint(..=64) => DataType::UInt64,
        ColumnType::Int(..=8) => DataType::Int8,
        ColumnType::Int(..=16) => DataType::Int16,
        ColumnType::Int(..=32) => DataType::Int32,
        ColumnType::Int(..=64) => DataType::Int64,
        ColumnType::Uint(_) | ColumnType::Int(_) => DataType::FixedSizeBinary(32),
        ColumnType::Decimal(precision @ ..=38, scale) => DataType::Decimal128(precision, scale as i8),
        ColumnType::Decimal(precision, scale) => DataType::Decimal256(precision, scale as i8),
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Second, Some("+00:00".into())),
        ColumnType::Address => DataType::FixedSizeBinary(20),
        ColumnType::FixedBytes(width) => DataType::FixedSizeBinary(i32::from(width)),
        ColumnType::Bytes => DataType::Binary,
        ColumnType::String | ColumnType::Json => DataType::Utf8,
    }
}

/// The nest type that a field carries.
pub fn nest_type(field: &Field) -> Option<ColumnType> {
    field.metadata().get(TYPE_KEY)?.parse().ok()
}

fn field(name: &str, ty: ColumnType, nullable: bool) -> Field {
    let metadata = HashMap::from([(TYPE_KEY.to_owned(), ty.to_string())]);
    Field::new(name, data_type(ty), nullable).with_metadata(metadata)
}

fn with_provenance(own: impl IntoIterator<Item = Field>) -> SchemaRef {
    let provenance = PROVENANCE.iter().map(|&(name, ty)| field(name, ty, false));
    Arc::new(Schema::new(provenance.chain(own).collect::<Vec<_>>()))
}

/// The Arrow schema of a table's chunks.
pub fn arrow_schema(table: &TableSchema) -> SchemaRef {
    with_provenance(table.columns.iter().map(|column| field(&column.name, column.ty, column.nullable)))
}

/// The schema of `_rejected`: the log kept whole, with the reason.
pub fn rejected_schema() -> SchemaRef {
    with_provenance([
        field("topics", ColumnType::Json, false),
        field("data", ColumnType::Bytes, false),
        field("code", ColumnType::String, false),
        field("detail", ColumnType::String, false),
    ])
}

/// The schema of the ignored counts: one row per block, contract and first topic.
pub fn ignored_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        field("block_number", ColumnType::Uint(64), false),
        field("address", ColumnType::Address, false),
        field("topic0", ColumnType::FixedBytes(32), true),
        field("logs", ColumnType::Uint(64), false),
    ]))
}
