//! `_status`: one row that tells how far an endpoint's rows reach.

use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeBinaryArray, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Field, Schema};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::Result;

use super::tables::query_type;
use crate::model::{BlockRef, ColumnType, TYPE_KEY, TableId};
use crate::store::{DatasetStatus, Snapshot};

/// Columns of `_status`: name, type, one line for people.
pub const COLUMNS: [(&str, ColumnType, &str); 16] = [
    ("nest", ColumnType::String, "nest that answers"),
    ("version", ColumnType::String, "version of the nest"),
    ("bundle", ColumnType::String, "address of the bundle"),
    ("chain_id", ColumnType::Uint(64), "chain"),
    ("dataset", ColumnType::String, "key of the dataset: data identity and first block"),
    ("first_block", ColumnType::Uint(64), "first block indexed"),
    ("block_number", ColumnType::Uint(64), "last block whose rows are in"),
    ("block_hash", ColumnType::FixedBytes(32), "its hash"),
    ("head_number", ColumnType::Uint(64), "last block that the cursor stands on"),
    ("head_hash", ColumnType::FixedBytes(32), "its hash"),
    ("final_number", ColumnType::Uint(64), "highest block ever treated as final"),
    ("lag", ColumnType::Uint(64), "blocks between the rows and the head"),
    ("status", ColumnType::String, "head, behind, empty, quarantined or halted"),
    ("reason", ColumnType::String, "why the rows do not reach the head"),
    ("fault", ColumnType::String, "what stopped a quarantined dataset"),
    ("rows", ColumnType::Uint(64), "rows of all event tables"),
];

/// How far rows reach, and why not further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Up to the head.
    Head,
    /// Nothing is indexed yet.
    Empty,
    /// Not up to the head yet; blocks behind, where the head is known.
    Behind(Option<u64>),
    /// Up to the log that stopped the dataset.
    Quarantined(String),
    /// Up to where the cursor was halted.
    Halted(String),
}

impl Reach {
    /// How far this snapshot's rows reach.
    pub fn of(snapshot: &Snapshot) -> Self {
        if let Some(reason) = &snapshot.halted {
            return Reach::Halted(reason.clone());
        }
        if let DatasetStatus::Quarantined(fault) = &snapshot.dataset.status {
            return Reach::Quarantined(fault.to_string());
        }
        match (snapshot.dataset.done_to, snapshot.head) {
            (None, _) => Reach::Empty,
            (Some(done), Some(head)) if done == head => Reach::Head,
            (Some(done), head) => Reach::Behind(head.map(|head| head.number.0.saturating_sub(done.number.0))),
        }
    }

    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Reach::Head => "head",
            Reach::Empty => "empty",
            Reach::Behind(_) => "behind",
            Reach::Quarantined(_) => "quarantined",
            Reach::Halted(_) => "halted",
        }
    }

    /// Why rows may be missing; none at the head.
    pub fn reason(&self) -> Option<String> {
        match self {
            Reach::Head => None,
            Reach::Empty => Some("nothing is indexed yet".to_owned()),
            Reach::Behind(Some(blocks)) => Some(format!("{blocks} blocks behind the head")),
            Reach::Behind(None) => Some("behind the head".to_owned()),
            Reach::Quarantined(fault) => Some(format!("quarantined: {fault}")),
            Reach::Halted(reason) => Some(format!("halted: {reason}")),
        }
    }
}

/// The table.
pub fn table(snapshot: &Snapshot) -> Result<Arc<dyn TableProvider>> {
    let fields: Vec<Field> = COLUMNS
        .iter()
        .map(|&(name, ty, _)| {
            let metadata = [(TYPE_KEY.to_owned(), ty.to_string())].into();
            Field::new(name, query_type(ty), true).with_metadata(metadata)
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), row(snapshot)?)?;
    Ok(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?))
}

fn row(snapshot: &Snapshot) -> Result<Vec<ArrayRef>> {
    let reach = Reach::of(snapshot);
    let endpoint = &snapshot.endpoint;
    let dataset = &snapshot.dataset;
    let text = |value: Option<String>| Arc::new(StringArray::from(vec![value])) as ArrayRef;
    let number = |value: Option<u64>| Arc::new(UInt64Array::from(vec![value])) as ArrayRef;
    let height = |block: Option<BlockRef>| number(block.map(|block| block.number.0));
    let hash = |block: Option<BlockRef>| -> Result<ArrayRef> {
        let values = [block.map(|block| block.hash.0)].into_iter();
        Ok(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, 32)?))
    };
    let lag = match (dataset.done_to, snapshot.head) {
        (Some(done), Some(head)) => Some(head.number.0.saturating_sub(done.number.0)),
        _ => None,
    };
    let fault = match &dataset.status {
        DatasetStatus::Active => None,
        DatasetStatus::Quarantined(fault) => Some(fault.to_string()),
    };
    let rows = (0..snapshot.dataset.tables.len()).map(|place| snapshot.rows(TableId::Event(place as u32))).sum();
    Ok(vec![
        text(Some(endpoint.nest.to_string())),
        text(Some(endpoint.version.to_string())),
        text(Some(endpoint.bundle.to_string())),
        number(Some(snapshot.chain_id.0)),
        text(Some(dataset.key.to_string())),
        number(Some(dataset.key.first_block.0)),
        height(dataset.done_to),
        hash(dataset.done_to)?,
        height(snapshot.head),
        hash(snapshot.head)?,
        height(snapshot.final_block),
        number(lag),
        text(Some(reach.word().to_owned())),
        text(reach.reason()),
        text(fault),
        number(Some(rows)),
    ])
}
