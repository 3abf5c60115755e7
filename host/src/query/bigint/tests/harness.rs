//! A session over in-memory tables whose wide columns come from their stored form.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, FixedSizeBinaryBuilder, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt8Array, UInt32Array, UInt64Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::catalog::MemTable;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use num_bigint::BigInt;

use crate::query::bigint::functions::nested::array_as_text;
use crate::query::bigint::{Signedness, from_storage, install, rewrite_statement};

/// One column: its name, its type's name, and its cells as text.
pub struct Column {
    pub name: String,
    pub ty: String,
    pub cells: Vec<Option<String>>,
}

pub fn column(name: &str, ty: &str, cells: &[Option<&str>]) -> Column {
    Column { name: name.into(), ty: ty.into(), cells: cells.iter().map(|cell| cell.map(str::to_owned)).collect() }
}

/// A stored integer made without the code under test.
fn stored(text: &str, signedness: Signedness) -> [u8; 32] {
    let value: BigInt = text.parse().unwrap();
    let shifted = match signedness {
        Signedness::Unsigned => value,
        Signedness::Signed => value + (BigInt::from(1) << 255),
    };
    let (sign, bytes) = shifted.to_bytes_be();
    assert_ne!(sign, num_bigint::Sign::Minus, "{text} is below the column's range");
    let mut out = [0; 32];
    out[32 - bytes.len()..].copy_from_slice(&bytes);
    out
}

fn wide(cells: &[Option<String>], signedness: Signedness) -> ArrayRef {
    let mut builder = FixedSizeBinaryBuilder::new(32);
    for cell in cells {
        match cell {
            Some(text) => builder.append_value(stored(text, signedness)).unwrap(),
            None => builder.append_null(),
        }
    }
    Arc::new(from_storage(&builder.finish(), signedness))
}

fn array(column: &Column) -> ArrayRef {
    let cells = &column.cells;
    fn parsed<T: std::str::FromStr<Err: std::fmt::Debug>>(cells: &[Option<String>]) -> Vec<Option<T>> {
        cells.iter().map(|cell| cell.as_ref().map(|text| text.parse().unwrap())).collect()
    }
    match column.ty.as_str() {
        "uint256" => wide(cells, Signedness::Unsigned),
        "int256" => wide(cells, Signedness::Signed),
        "int64" => Arc::new(Int64Array::from(parsed(cells))),
        "uint64" => Arc::new(UInt64Array::from(parsed(cells))),
        "int8" => Arc::new(Int8Array::from(parsed(cells))),
        "uint8" => Arc::new(UInt8Array::from(parsed(cells))),
        "int32" => Arc::new(Int32Array::from(parsed(cells))),
        "uint32" => Arc::new(UInt32Array::from(parsed(cells))),
        "decimal(20,2)" | "decimal(38,0)" => {
            let strings: ArrayRef = Arc::new(StringArray::from(cells.clone()));
            let (precision, scale) = if column.ty == "decimal(20,2)" { (20, 2) } else { (38, 0) };
            cast(&strings, &DataType::Decimal128(precision, scale)).unwrap()
        }
        "double" => Arc::new(Float64Array::from(parsed(cells))),
        "string" => Arc::new(StringArray::from(cells.clone())),
        "bytes32" => {
            let mut builder = FixedSizeBinaryBuilder::new(32);
            for cell in cells {
                match cell {
                    Some(text) => builder.append_value(hex::decode(text).unwrap()).unwrap(),
                    None => builder.append_null(),
                }
            }
            Arc::new(builder.finish())
        }
        other => panic!("no such column type: {other}"),
    }
}

/// A session with exact integers.
pub fn context() -> SessionContext {
    context_with(SessionConfig::new().with_target_partitions(3).with_batch_size(64))
}

pub fn context_with(config: SessionConfig) -> SessionContext {
    let builder = SessionStateBuilder::new_with_default_features().with_config(config);
    SessionContext::new_with_state(install(builder).build())
}

pub fn add_table(context: &SessionContext, name: &str, columns: &[Column]) {
    let arrays: Vec<ArrayRef> = columns.iter().map(array).collect();
    let fields: Vec<Field> = columns
        .iter()
        .zip(&arrays)
        .map(|(column, array)| {
            let metadata = [("nuthatch.type".to_owned(), column.ty.clone())].into();
            Field::new(&column.name, array.data_type().clone(), true).with_metadata(metadata)
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    // Two partitions, so that aggregates merge.
    let half = batch.num_rows() / 2;
    let parts = vec![vec![batch.slice(0, half)], vec![batch.slice(half, batch.num_rows() - half)]];
    context.register_table(name, Arc::new(MemTable::try_new(schema, parts).unwrap())).unwrap();
}

fn render(array: &ArrayRef, row: usize) -> Option<String> {
    if array.is_null(row) {
        return None;
    }
    Some(match ArrayFormatter::try_new(array, &FormatOptions::default().with_null("null")) {
        Ok(formatter) => formatter.value(row).to_string(),
        Err(error) => error.to_string(),
    })
}

/// Runs a statement; the rows as text, or the error's message.
pub async fn run(context: &SessionContext, sql: &str) -> Result<Vec<Vec<Option<String>>>, String> {
    let state = context.state();
    let dialect = state.config_options().sql_parser.dialect;
    let mut statement = state.sql_to_statement(sql, &dialect).map_err(|error| error.to_string())?;
    rewrite_statement(&mut statement);
    let plan = state.statement_to_plan(statement).await.map_err(|error| error.to_string())?;
    let frame = context.execute_logical_plan(plan).await.map_err(|error| error.to_string())?;
    let batches = frame.collect().await.map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<ArrayRef> = batch.columns().iter().map(|column| array_as_text(column).unwrap()).collect();
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|column| render(column, row)).collect());
        }
    }
    Ok(rows)
}
