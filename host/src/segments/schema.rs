//! The schema of a segment's file, which differs from that of chunks where Parquet has no such type.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;

/// The schema of the file: Parquet counts no seconds, so timestamps are milliseconds; metadata stays out.
pub fn file_schema(stored: &Schema) -> SchemaRef {
    let fields = stored.fields().iter().map(|field| {
        let ty = match field.data_type() {
            DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
            other => other.clone(),
        };
        Field::new(field.name(), ty, field.is_nullable())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Rows as they lie in the file.
pub(super) fn to_file(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = file_schema(&batch.schema());
    let columns = batch.columns().iter().zip(schema.fields()).map(|(column, field)| cast(column, field.data_type()));
    RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, _>>()?)
}
