//! An answer in the JSON form of `/nests/{name}/sql`.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Columns and rows; the rest of the answer is not needed for a terminal.
#[derive(Debug, Deserialize)]
pub struct JsonAnswer {
    /// Columns in order.
    pub columns: Vec<JsonColumn>,
    /// One object a row, keys as in `columns`.
    pub rows: Vec<Map<String, Value>>,
}

/// A column of an answer.
#[derive(Debug, Deserialize)]
pub struct JsonColumn {
    /// Name.
    pub name: String,
    /// Nest type.
    #[serde(rename = "type")]
    pub ty: String,
}
