//! Answers as CSV (RFC 4180): a header line, CRLF line ends, quotes where they are needed. NULL is an empty field, an
//! empty text a quoted one. Values are written as in JSON, without JSON's quotes.

use super::cell::{Cell, cell, push_text};
use super::{Answer, AnswerColumn};

impl Answer {
    /// The whole answer.
    pub fn to_csv(&self) -> String {
        let mut out = self.csv_head();
        for place in 0..self.batches.len() {
            out.push_str(&self.csv_rows(place));
        }
        out
    }

    /// The header line.
    pub fn csv_head(&self) -> String {
        let names = self.columns.iter().map(|column| field(&column.name));
        names.collect::<Vec<_>>().join(",") + "\r\n"
    }

    /// The lines of one batch.
    pub fn csv_rows(&self, batch: usize) -> String {
        let mut out = String::new();
        let Some(batch) = self.batches.get(batch) else { return out };
        let mut text = String::new();
        for row in 0..batch.num_rows() {
            for (place, array) in batch.columns().iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                let value = cell(array, row, is_json(&self.columns[place]));
                text.clear();
                push_text(&mut text, &value);
                match value {
                    Cell::Null => {}
                    _ if text.is_empty() => out.push_str("\"\""),
                    _ => out.push_str(&field(&text)),
                }
            }
            out.push_str("\r\n");
        }
        out
    }
}

fn is_json(column: &AnswerColumn) -> bool {
    column.ty == "json"
}

fn field(text: &str) -> String {
    let plain = !text.contains(['"', ',', '\r', '\n']) && text.trim() == text;
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
