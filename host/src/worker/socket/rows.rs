//! What is shown of nests and datasets: the same by a running process and of a folder at rest.

use serde_json::{Map, Value, json};

use crate::cursor::DatasetProgress;
use crate::model::{BlockNumber, ChainId};
use crate::store::{DatasetState, DatasetStatus};

/// What is known of a chain beside its datasets.
#[derive(Clone, Debug)]
pub struct ChainRow {
    /// Chain.
    pub chain: ChainId,
    /// The head: the chain's as last seen, or of a store at rest the block that its cursor stands on.
    pub head: Option<BlockNumber>,
    /// Why it is halted, or what is wrong just now.
    pub trouble: Option<String>,
}

/// Nests as `nest status` shows them.
pub fn nest_rows(chain: &ChainRow, datasets: &[DatasetProgress]) -> Vec<Map<String, Value>> {
    let rows = datasets.iter().flat_map(|dataset| {
        dataset.nests.iter().map(|nest| {
            object(json!({
                "nest": nest,
                "chain": chain.chain,
                "dataset": dataset.dataset,
                "state": if dataset.fault.is_some() { "quarantined" } else { "active" },
                "first_block": dataset.first_block,
                "done_to": dataset.done_to,
                "head": chain.head,
                "fault": dataset.fault.as_ref().map(ToString::to_string),
                "trouble": chain.trouble,
            }))
        })
    });
    rows.collect()
}

/// A dataset as `dataset list` shows it.
pub fn dataset_row(chain: ChainId, dataset: &DatasetState) -> Map<String, Value> {
    object(json!({
        "chain": chain,
        "dataset": dataset.id,
        "nest": dataset.nest,
        "identity": dataset.key.identity,
        "first_block": dataset.key.first_block,
        "done_to": dataset.done_to.map(|done| done.number),
        "state": match &dataset.status {
            DatasetStatus::Active => "active".to_owned(),
            DatasetStatus::Quarantined(fault) => format!("quarantined: {fault}"),
        },
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
