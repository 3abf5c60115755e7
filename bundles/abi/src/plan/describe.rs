//! Tables and filters of a plan.

use nuthatch_sdk::{ColumnDef, Filter, ManifestPart, TableDef};

use super::{COMPANION, Contract, Form, Layout, Param, Plan};
use crate::plan::BadPlan;
use crate::types::Word;

/// One table an event, one filter a contract. Checks what a batch takes on trust.
pub fn describe(plan: &Plan<'_>) -> Result<ManifestPart, BadPlan> {
    let addresses = plan.check()?;
    let tables = plan.contracts.iter().flat_map(|contract| &contract.forms).map(table).collect();
    let filters = plan.contracts.iter().zip(addresses).map(|(contract, addresses)| filter(contract, addresses));
    Ok(ManifestPart { tables, filters: filters.collect() })
}

fn table(form: &Form<'_>) -> TableDef {
    TableDef {
        name: form.table.clone().into_owned(),
        columns: form.params.iter().flat_map(columns).collect(),
        doc: form.declaration(),
    }
}

fn columns(param: &Param<'_>) -> Vec<ColumnDef> {
    let layout = param.layout();
    let ty = match layout {
        Layout::Word(Word::Function) => "bytes24".to_owned(),
        Layout::Word(word) => word.to_string(),
        Layout::Hash => "bytes32".to_owned(),
        Layout::Bytes => "bytes".to_owned(),
        Layout::Text => "string".to_owned(),
        Layout::Json { .. } => "json".to_owned(),
    };
    let mut doc = param.declaration();
    if layout == Layout::Hash {
        doc.push_str(": the hash that its topic holds");
    }
    let companion = match layout {
        Layout::Text => Some("the exact bytes, where the text is not what the log holds"),
        Layout::Json { raw: true } => Some("the log's data, where a text in the json is not what the log holds"),
        _ => None,
    };
    let value = ColumnDef { name: param.column.clone().into_owned(), type_: ty, nullable: false, doc };
    let companion = companion.map(|doc| ColumnDef {
        name: format!("{}{COMPANION}", param.column),
        type_: "bytes".to_owned(),
        nullable: true,
        doc: doc.to_owned(),
    });
    std::iter::once(value).chain(companion).collect()
}

fn filter(contract: &Contract<'_>, addresses: Vec<[u8; 20]>) -> Filter {
    let mut topics: Vec<Vec<u8>> = Vec::new();
    if contract.narrowed {
        topics.extend(contract.forms.iter().filter_map(|form| form.topic0).map(Vec::from));
        topics.sort_unstable();
        topics.dedup();
    }
    Filter { addresses: addresses.into_iter().map(Vec::from).collect(), topics, start_block: contract.start_block }
}
