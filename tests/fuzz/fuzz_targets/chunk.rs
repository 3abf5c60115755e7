//! Foreign bytes as a chunk of a table with a column of each layout: no panic, and what is accepted has the rows that
//! it claims and is written and read again as the same rows.
#![no_main]

use std::sync::LazyLock;

use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use rooms::model::{BlockNumber, BlockRange, ColumnSchema, ColumnType, TableSchema, arrow_schema};
use rooms::store::chunk;

static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let types = [
        ColumnType::Bool,
        ColumnType::Uint(8),
        ColumnType::Int(64),
        ColumnType::Uint(256),
        ColumnType::Decimal(38, 4),
        ColumnType::Timestamp,
        ColumnType::FixedBytes(3),
        ColumnType::Bytes,
        ColumnType::String,
    ];
    let column = |(place, ty): (usize, &ColumnType)| ColumnSchema {
        name: format!("c{place}"),
        ty: *ty,
        nullable: true,
        doc: String::new(),
    };
    let columns = types.iter().enumerate().map(column).collect();
    arrow_schema(&TableSchema { name: "t".into(), columns, doc: String::new() })
});

fn check(bytes: Bytes) {
    let claimed = chunk::rows(&bytes);
    let Ok(batch) = chunk::decode(&SCHEMA, bytes) else { return };
    assert_eq!(claimed, Ok(batch.num_rows() as u64));
    let again = chunk::decode(&SCHEMA, chunk::encode(&batch).expect("rows of a chunk fit a chunk"));
    assert_eq!(again.as_ref(), Ok(&batch));
    let whole = BlockRange { first: BlockNumber(0), last: BlockNumber(u64::MAX) };
    assert_eq!(chunk::within(&batch, whole), Ok(true));
    assert_eq!(chunk::cut(&batch, whole.last).map(|cut| cut.num_rows()), Ok(batch.num_rows()));
}

fuzz_target!(|data: &[u8]| {
    check(Bytes::copy_from_slice(data));
    // Behind a good header, so that more of the bytes are looked at.
    if let Some((rows, body)) = data.split_first() {
        let columns = SCHEMA.fields().len() as u32;
        let header = [&b"nch1"[..], &u32::from(*rows).to_le_bytes(), &columns.to_le_bytes()].concat();
        check(Bytes::from([&header, body].concat()));
    }
});
