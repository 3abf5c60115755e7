//! The tables of an endpoint as queries see them.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde_json::Value;

use crate::model::{
    ColumnType, Endpoint, PROVENANCE, TableId, TableSchema, arrow_schema, data_type, ignored_schema, nest_type,
    rejected_schema,
};
use crate::store::Snapshot;

/// One table whose rows lie in chunks.
#[derive(Debug)]
pub struct Table {
    /// SQL name.
    pub name: String,
    /// Whose chunks.
    pub id: TableId,
    /// One line for people.
    pub doc: String,
    /// Columns as they lie in chunks.
    pub stored: SchemaRef,
    /// Columns as queries see them: wide integers in the form that queries compute with.
    pub schema: SchemaRef,
    /// Type and one line for people, by column.
    pub columns: Vec<(ColumnType, String)>,
}

impl Table {
    fn new(name: &str, id: TableId, doc: &str, stored: SchemaRef, docs: impl Fn(&str) -> String) -> Self {
        let columns: Vec<_> = stored
            .fields()
            .iter()
            .map(|field| (nest_type(field).unwrap_or(ColumnType::Bytes), docs(field.name())))
            .collect();
        let fields: Vec<Field> = stored
            .fields()
            .iter()
            .zip(&columns)
            .map(|(field, (ty, _))| field.as_ref().clone().with_data_type(query_type(*ty)))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Table { name: name.to_owned(), id, doc: doc.to_owned(), stored, schema, columns }
    }

    /// Whether rows stand in (block number, log index) order within a chunk.
    pub fn is_ordered(&self) -> bool {
        self.id != TableId::Ignored
    }
}

/// The Arrow type that a column type has in queries.
pub fn query_type(ty: ColumnType) -> DataType {
    if ty.is_wide_integer() { DataType::LargeBinary } else { data_type(ty) }
}

/// A SQL view of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// SQL name.
    pub name: String,
    /// Its SELECT.
    pub sql: String,
    /// One line for people.
    pub doc: String,
}

/// What an endpoint offers, apart from its rows.
#[derive(Debug)]
pub struct Catalog {
    /// Event tables in the order of the manifest, then `_rejected` and `_ignored`.
    pub tables: Vec<Arc<Table>>,
    /// Views in the order of the manifest; each may use those before it.
    pub views: Vec<View>,
}

/// The one-row table that tells how far the rows reach.
pub const STATUS: &str = "_status";
/// Logs that could not be decoded.
pub const REJECTED: &str = "_rejected";
/// Counts of logs that the bundle ignored.
pub const IGNORED: &str = "_ignored";

impl Catalog {
    /// What this snapshot's endpoint offers.
    pub fn of(snapshot: &Snapshot) -> Self {
        let events = snapshot.dataset.tables.iter().zip(0..).map(|(schema, place)| event_table(schema, place));
        let rejected = Table::new(
            REJECTED,
            TableId::Rejected,
            "logs that match an event and could not be decoded, kept whole",
            rejected_schema(),
            |name| match name {
                "topics" => "the log's topics, a JSON array of hex strings".to_owned(),
                "data" => "the log's data".to_owned(),
                "code" => "why, for programs".to_owned(),
                "detail" => "why, for people".to_owned(),
                other => provenance_doc(other),
            },
        );
        let ignored = Table::new(
            IGNORED,
            TableId::Ignored,
            "how many logs the bundle ignored, per block, contract and first topic",
            ignored_schema(),
            |name| match name {
                "topic0" => "first topic, null where a log has none".to_owned(),
                "logs" => "how many logs".to_owned(),
                other => provenance_doc(other),
            },
        );
        Catalog { tables: events.chain([rejected, ignored]).map(Arc::new).collect(), views: views(&snapshot.endpoint) }
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Arc<Table>> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// The column that a reserved word stands for: the word with `_` behind.
    pub fn reserved_column(&self, word: &str) -> Option<String> {
        let column = format!("{}_", word.to_lowercase());
        self.tables.iter().any(|table| table.schema.index_of(&column).is_ok()).then_some(column)
    }

    /// Names of all tables and views, `_status` included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let views = self.views.iter().map(|view| view.name.as_str());
        self.tables.iter().map(|table| table.name.as_str()).chain(views).chain([STATUS])
    }
}

fn views(endpoint: &Endpoint) -> Vec<View> {
    // Only the authors' words are taken from it: a manifest that cannot be read costs no view.
    let manifest: Value = serde_json::from_str(&endpoint.manifest).unwrap_or_default();
    let described = manifest["views"].as_array().map(Vec::as_slice).unwrap_or_default();
    let doc = |name: &str| {
        let entry = described.iter().find(|entry| entry["name"] == name);
        entry.and_then(|entry| entry["doc"].as_str()).unwrap_or_default().to_owned()
    };
    let views = endpoint.views.iter();
    views.map(|(name, sql)| View { name: name.clone(), sql: sql.clone(), doc: doc(name) }).collect()
}

fn event_table(schema: &TableSchema, place: u32) -> Table {
    Table::new(&schema.name, TableId::Event(place), &schema.doc, arrow_schema(schema), |name| {
        match schema.columns.iter().find(|column| column.name == name) {
            Some(column) => column.doc.clone(),
            None => provenance_doc(name),
        }
    })
}

fn provenance_doc(name: &str) -> String {
    debug_assert!(PROVENANCE.iter().any(|&(known, _)| known == name), "{name} is no provenance column");
    match name {
        "block_number" => "block of the log",
        "block_hash" => "hash of that block",
        "block_timestamp" => "time of that block, UTC",
        "tx_hash" => "transaction of the log",
        "tx_index" => "place of the transaction in its block",
        "log_index" => "place of the log in its block",
        "address" => "contract that emitted the log",
        _ => "",
    }
    .to_owned()
}
