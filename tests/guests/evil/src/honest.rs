//! What the guest does when it does not attack: one row per log, a column of every kind.

use crate::bindings::nuthatch::nest::types::{
    Column, ColumnDef, Decoded, Filter, FixedWidth, LogBatch, ManifestPart, TableDef, TableRows, Values, VarWidth,
};

/// Columns of `evil__logs`: name, type, nullable. The modes of `spoil` know them by place.
const COLUMNS: [(&str, &str, bool); 13] = [
    ("number", "uint64", false),
    ("value", "uint256", false),
    ("small", "uint8", false),
    ("signed", "int256", false),
    ("flag", "bool", false),
    ("who", "address", false),
    ("payload", "bytes", false),
    ("note", "string", true),
    ("price", "decimal(38,4)", false),
    ("large_price", "decimal(76,10)", false),
    ("at", "timestamp", false),
    ("step", "int24", true),
    ("tree", "json", false),
];

pub fn describe() -> ManifestPart {
    let columns = COLUMNS.map(|(name, ty, nullable)| ColumnDef {
        name: name.into(),
        type_: ty.into(),
        nullable,
        doc: String::new(),
    });
    let logs = TableDef { name: "evil__logs".into(), columns: columns.into(), doc: "One row a log.".into() };
    let count = ColumnDef { name: "count".into(), type_: "uint64".into(), nullable: false, doc: String::new() };
    let counter = TableDef { name: "evil__counter".into(), columns: vec![count], doc: String::new() };
    let filters = vec![Filter { addresses: vec![vec![0xee; 20]], topics: Vec::new(), start_block: 0 }];
    ManifestPart { tables: vec![logs, counter], filters }
}

fn wide(top: u8, number: u64) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[0] = top;
    bytes[24..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn fixed<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Values {
    Values::Fixed(FixedWidth { width: N as u32, values: values.flatten().collect() })
}

fn var(values: impl Iterator<Item = Vec<u8>>) -> VarWidth {
    let mut out = VarWidth { offsets: vec![0], values: Vec::new() };
    for value in values {
        out.values.extend(value);
        out.offsets.push(out.values.len() as u32);
    }
    out
}

/// A bitmap of the rows for which `set` holds.
pub fn bitmap(rows: usize, set: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut bits = vec![0; rows.div_ceil(8)];
    for row in (0..rows).filter(|row| set(*row)) {
        bits[row / 8] |= 1 << (row % 8);
    }
    bits
}

pub fn data(batch: &LogBatch, log: usize) -> &[u8] {
    &batch.data[batch.data_offsets[log] as usize..batch.data_offsets[log + 1] as usize]
}

/// A row per log. What a row holds comes from its log alone.
pub fn decode(batch: &LogBatch) -> Decoded {
    let rows = batch.len as usize;
    let numbers = || batch.block_number.iter().copied();
    let even = |log: usize| batch.block_number[log] % 2 == 0;
    let required = |values| Column { values, validity: None };
    let columns = vec![
        required(Values::U64s(numbers().collect())),
        required(fixed(numbers().map(|number| wide(0, number)))),
        required(Values::U64s(numbers().map(|number| number % 256).collect())),
        required(fixed(numbers().map(|number| wide(0x80, number)))),
        required(Values::Bits(bitmap(rows, even))),
        required(fixed(batch.address.chunks(20).map(|bytes| <[u8; 20]>::try_from(bytes).unwrap_or_default()))),
        required(Values::Bytes(var((0..rows).map(|log| data(batch, log).to_vec())))),
        Column {
            values: Values::Text(var(numbers().map(|number| format!("block {number}, grüße").into_bytes()))),
            validity: Some(bitmap(rows, even)),
        },
        required(fixed(numbers().map(|number| wide(0, number)))),
        required(fixed(numbers().map(|number| wide(0, number)))),
        required(Values::S64s(batch.block_timestamp.iter().map(|time| *time as i64).collect())),
        Column {
            values: Values::S64s(numbers().map(|number| -((number % 1_000) as i64)).collect()),
            validity: Some(bitmap(rows, |log| !even(log))),
        },
        required(Values::Text(var(numbers().map(|number| format!("[\"{number}\"]").into_bytes())))),
    ];
    let source = (0..batch.len).collect();
    Decoded { tables: vec![TableRows { table: 0, source, columns }], rejected: Vec::new(), ignored: Vec::new() }
}
