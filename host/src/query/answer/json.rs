//! Answers as JSON.
//!
//! `{"columns":[{"name","type"}],"rows":[{…}],"meta":{…}}`, with these rules for values: integers of at most 64 bits
//! are numbers up to 2^53 − 1 and strings beyond; wider integers and decimals are always decimal strings; timestamps
//! are ISO 8601 (`2024-01-05T00:00:00Z`); bytes are lower-case hex with `0x`; json columns stand as the JSON they are;
//! floats that are not numbers are null.

use std::fmt::Write;

use serde_json::value::RawValue;

use super::cell::{Cell, cell, push_hex};
use super::{Answer, AnswerColumn, Meta};
use arrow::array::RecordBatch;

/// The largest integer that every JSON reader keeps.
const SAFE: i128 = (1 << 53) - 1;

impl Answer {
    /// The whole answer.
    pub fn to_json(&self) -> String {
        let mut out = self.json_head();
        for place in 0..self.batches.len() {
            out.push_str(&self.json_rows(place));
        }
        out.push_str(&self.json_tail());
        out
    }

    /// What comes before the rows.
    pub fn json_head(&self) -> String {
        let mut out = String::from("{\"columns\":[");
        for (place, column) in self.columns.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str("{\"name\":");
            push_string(&mut out, &column.name);
            out.push_str(",\"type\":");
            push_string(&mut out, &column.ty);
            out.push('}');
        }
        out.push_str("],\"rows\":[");
        out
    }

    /// The rows of one batch, with the comma that they need after those of the batch before.
    pub fn json_rows(&self, batch: usize) -> String {
        let first = self.batches.iter().take(batch).all(|batch| batch.num_rows() == 0);
        self.batches.get(batch).map_or_else(String::new, |batch| rows(&self.columns, batch, first))
    }

    /// What comes after the rows.
    pub fn json_tail(&self) -> String {
        format!("],\"meta\":{}}}", self.meta.to_json())
    }
}

impl Meta {
    /// As a JSON object.
    pub fn to_json(&self) -> String {
        let value = serde_json::json!({
            "endpoint": self.endpoint.as_str(),
            "nest": self.nest.as_str(),
            "version": self.version,
            "bundle": self.bundle.to_string(),
            "chain_id": self.chain_id.0,
            "first_block": self.first_block.0,
            "as_of_block": self.as_of_block.map(|block| block.0),
            "as_of_hash": self.as_of_hash.map(|hash| hash.to_string()),
            "complete": self.complete,
            "reason": self.reason,
        });
        value.to_string()
    }
}

fn rows(columns: &[AnswerColumn], batch: &RecordBatch, first: bool) -> String {
    let keys: Vec<String> = columns
        .iter()
        .map(|column| {
            let mut key = String::new();
            push_string(&mut key, &column.name);
            key.push(':');
            key
        })
        .collect();
    let mut out = String::new();
    for row in 0..batch.num_rows() {
        if row > 0 || !first {
            out.push(',');
        }
        out.push('{');
        for (place, array) in batch.columns().iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            out.push_str(&keys[place]);
            push_cell(&mut out, &cell(array, row, columns[place].ty == "json"));
        }
        out.push('}');
    }
    out
}

/// Appends a value.
pub fn push_cell(out: &mut String, value: &Cell<'_>) {
    // Writing to a string cannot fail.
    let _ = match value {
        Cell::Null => out.write_str("null"),
        Cell::Bool(value) => write!(out, "{value}"),
        Cell::Integer(value) if (-SAFE..=SAFE).contains(value) => write!(out, "{value}"),
        Cell::Integer(value) => write!(out, "\"{value}\""),
        Cell::Exact(text) => write!(out, "\"{text}\""),
        Cell::Float(value) => write!(out, "{}", serde_json::Value::from(*value)),
        Cell::Text(text) => {
            push_string(out, text);
            Ok(())
        }
        Cell::Bytes(bytes) => {
            out.push('"');
            push_hex(out, bytes);
            out.push('"');
            Ok(())
        }
        Cell::Json(text) => {
            match serde_json::from_str::<&RawValue>(text) {
                Ok(json) => out.push_str(json.get()),
                // Text that is not JSON still has to come out whole.
                Err(_) => push_string(out, text),
            }
            Ok(())
        }
        Cell::List(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                push_cell(out, item);
            }
            out.push(']');
            Ok(())
        }
        Cell::Struct(fields) => {
            out.push('{');
            for (place, (name, item)) in fields.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                push_string(out, name);
                out.push(':');
                push_cell(out, item);
            }
            out.push('}');
            Ok(())
        }
    };
}

fn push_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
