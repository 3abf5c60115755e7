//! Logs in, rows out, as a host would see them: read by the rules of the interface, not by the builders' code.
#![allow(dead_code, clippy::unwrap_used)]

pub mod spelled;

use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_sdk::{Column, Decoded, Decoder, Failure, LogBatch, ManifestPart, Values};
use serde_json::{Value, json};

/// An address that tests give their one contract.
pub const ADDRESS: [u8; 20] = [0xaa; 20];

/// The bytes of hex with `0x`.
pub fn unhex(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("0x").unwrap().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Hex with `0x`.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// A log to be put into a batch.
#[derive(Clone, Debug)]
pub struct TestLog {
    pub block: u64,
    pub address: [u8; 20],
    pub topics: Vec<[u8; 32]>,
    pub data: Vec<u8>,
}

impl TestLog {
    /// Of the one contract, in block 100.
    pub fn new(topics: Vec<[u8; 32]>, data: Vec<u8>) -> Self {
        TestLog { block: 100, address: ADDRESS, topics, data }
    }
}

/// The logs as a batch.
pub fn batch(logs: &[TestLog]) -> LogBatch {
    let mut batch = LogBatch {
        chain_id: 1,
        len: logs.len() as u32,
        block_number: logs.iter().map(|log| log.block).collect(),
        block_timestamp: vec![1_700_000_000; logs.len()],
        tx_index: vec![0; logs.len()],
        log_index: (0..logs.len() as u64).collect(),
        tx_hash: vec![0x11; logs.len() * 32],
        address: logs.iter().flat_map(|log| log.address).collect(),
        topics: Vec::new(),
        topic_offsets: vec![0],
        data: Vec::new(),
        data_offsets: vec![0],
    };
    for log in logs {
        batch.topics.extend(log.topics.iter().flatten());
        batch.topic_offsets.push(batch.topics.len() as u32 / 32);
        batch.data.extend(&log.data);
        batch.data_offsets.push(batch.data.len() as u32);
    }
    batch
}

/// A config of one contract `c` at [`ADDRESS`].
pub fn config(abi: Value) -> Value {
    json!({"contracts": [{"alias": "c", "addresses": [hex(&ADDRESS)], "start_block": 0, "abis": [abi],
        "events": null, "anonymous": []}]})
}

/// The plan of a config.
pub fn plan(config: &Value) -> Result<Vec<u8>, Failure> {
    StandardDecoder::plan(config.to_string().as_bytes())
}

/// One row as text by column: integers in decimal, bytes in hex, json as it is; null is `None`.
pub type Row = Vec<(String, String, Option<String>)>;

/// What became of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Table and row.
    Row(String, Row),
    /// Code and detail.
    Rejected(String, String),
    Ignored,
}

impl Outcome {
    /// The row's values by column.
    pub fn value(&self, column: &str) -> Option<&str> {
        match self {
            Outcome::Row(_, row) => {
                let found = row.iter().find(|(name, _, _)| name == column);
                found.unwrap_or_else(|| panic!("no column {column} in {row:?}")).2.as_deref()
            }
            other => panic!("not a row: {other:?}"),
        }
    }

    pub fn table(&self) -> &str {
        match self {
            Outcome::Row(table, _) => table,
            other => panic!("not a row: {other:?}"),
        }
    }

    pub fn code(&self) -> &str {
        match self {
            Outcome::Rejected(code, _) => code,
            other => panic!("not rejected: {other:?}"),
        }
    }
}

/// Decodes and accounts for every log.
pub fn decode(plan: &[u8], logs: &[TestLog]) -> Vec<Outcome> {
    let part = StandardDecoder::describe(plan).unwrap();
    let decoded = StandardDecoder::decode(plan, &batch(logs)).unwrap();
    outcomes(&part, &decoded, logs.len())
}

/// The outcome of each log. Holds the result against the rules that the host checks (I16).
pub fn outcomes(part: &ManifestPart, decoded: &Decoded, count: usize) -> Vec<Outcome> {
    let mut outcomes: Vec<Option<Outcome>> = vec![None; count];
    let mut put = |log: u32, outcome: Outcome| {
        let place = &mut outcomes[log as usize];
        assert!(place.is_none(), "log {log} has two outcomes: {place:?} and {outcome:?}");
        *place = Some(outcome);
    };
    for rows in &decoded.tables {
        let table = &part.tables[rows.table as usize];
        assert!(rows.source.is_sorted() && !rows.source.is_empty());
        assert_eq!(rows.columns.len(), table.columns.len(), "{}", table.name);
        let columns: Vec<Vec<Option<String>>> = rows
            .columns
            .iter()
            .zip(&table.columns)
            .map(|(column, def)| {
                assert!(def.nullable || column.validity.is_none(), "{} is not nullable", def.name);
                cells(column, &def.type_, rows.source.len())
            })
            .collect();
        for (row, log) in rows.source.iter().enumerate() {
            let cells = table.columns.iter().zip(&columns);
            let cells = cells.map(|(def, column)| (def.name.clone(), def.type_.clone(), column[row].clone()));
            put(*log, Outcome::Row(table.name.clone(), cells.collect()));
        }
    }
    for rejection in &decoded.rejected {
        let kebab = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        assert!(rejection.code.len() <= 32 && rejection.code.bytes().all(kebab), "{}", rejection.code);
        assert!(!rejection.detail.is_empty());
        put(rejection.log, Outcome::Rejected(rejection.code.clone(), rejection.detail.clone()));
    }
    decoded.ignored.iter().for_each(|log| put(*log, Outcome::Ignored));
    let missing = |log: usize| panic!("log {log} has no outcome");
    outcomes.into_iter().enumerate().map(|(log, outcome)| outcome.unwrap_or_else(|| missing(log))).collect()
}

fn bit(bitmap: &[u8], row: usize) -> bool {
    bitmap[row / 8] >> (row % 8) & 1 == 1
}

fn cells(column: &Column, ty: &str, rows: usize) -> Vec<Option<String>> {
    if let Some(validity) = &column.validity {
        assert_eq!(validity.len(), rows.div_ceil(8));
    }
    let valid = |row: usize| column.validity.as_ref().is_none_or(|validity| bit(validity, row));
    let cell = |row: usize| match (&column.values, ty) {
        (Values::Bits(bits), "bool") => bit(bits, row).to_string(),
        (Values::U64s(values), ty) => {
            let bits: u32 = ty.strip_prefix("uint").unwrap().parse().unwrap();
            assert!(bits <= 64 && u128::from(values[row]) < 1u128 << bits);
            values[row].to_string()
        }
        (Values::S64s(values), ty) => {
            let bits: u32 = ty.strip_prefix("int").unwrap().parse().unwrap();
            let half = 1i128 << (bits - 1);
            assert!(bits <= 64 && (-half..half).contains(&i128::from(values[row])));
            values[row].to_string()
        }
        (Values::Fixed(fixed), ty) => {
            let width = fixed.width as usize;
            assert_eq!(fixed.values.len(), rows * width);
            fixed_cell(&fixed.values[row * width..(row + 1) * width], ty)
        }
        (Values::Bytes(var), "bytes") => hex(slice(var, row, rows)),
        (Values::Text(var), "string" | "json") => {
            let text = String::from_utf8(slice(var, row, rows).to_vec()).unwrap();
            assert!(!text.contains('\0'));
            if ty == "json" && valid(row) && !text.is_empty() {
                serde_json::from_str::<Value>(&text).unwrap();
            }
            text
        }
        (values, ty) => panic!("{ty} as {values:?}"),
    };
    (0..rows).map(|row| valid(row).then(|| cell(row))).collect()
}

fn slice(var: &nuthatch_sdk::VarWidth, row: usize, rows: usize) -> &[u8] {
    assert_eq!(var.offsets.len(), rows + 1);
    assert_eq!((var.offsets[0], var.offsets[rows] as usize), (0, var.values.len()));
    &var.values[var.offsets[row] as usize..var.offsets[row + 1] as usize]
}

fn fixed_cell(bytes: &[u8], ty: &str) -> String {
    use num_bigint::BigInt;
    match ty {
        "address" => {
            assert_eq!(bytes.len(), 20);
            hex(bytes)
        }
        ty if ty.starts_with("uint") => {
            assert_eq!(bytes.len(), 32);
            BigInt::from_bytes_be(num_bigint::Sign::Plus, bytes).to_string()
        }
        ty if ty.starts_with("int") => {
            assert_eq!(bytes.len(), 32);
            // The top bit is flipped: the number is what stands there less 2^255.
            let half = BigInt::from(1) << 255u32;
            (BigInt::from_bytes_be(num_bigint::Sign::Plus, bytes) - half).to_string()
        }
        ty => {
            assert_eq!(bytes.len(), ty.strip_prefix("bytes").unwrap().parse::<usize>().unwrap());
            hex(bytes)
        }
    }
}
