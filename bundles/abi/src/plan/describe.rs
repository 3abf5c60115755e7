//! Tables and filters of a plan.

use nuthatch_sdk::{ColumnDef, Filter, ManifestPart, TableDef};

use super::{Contract, Form, Layout, Param, Plan};
use crate::types::Word;

/// One table an event, one filter a contract.
pub fn describe(plan: &Plan) -> ManifestPart {
    let tables = plan.contracts.iter().flat_map(|contract| &contract.forms).map(table).collect();
    ManifestPart { tables, filters: plan.contracts.iter().map(filter).collect() }
}

fn table(form: &Form) -> TableDef {
    TableDef {
        name: form.table.clone(),
        columns: form.params.iter().flat_map(columns).collect(),
        doc: form.declaration(),
    }
}

fn columns(param: &Param) -> Vec<ColumnDef> {
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
        Layout::Json { .. } => "the log's data, where a text in the json is not what the log holds",
        _ => "the exact bytes, where the text is not what the log holds",
    };
    let types = [(ty, false, doc), ("bytes".to_owned(), true, companion.to_owned())];
    param.columns().zip(types).map(|(name, (type_, nullable, doc))| ColumnDef { name, type_, nullable, doc }).collect()
}

fn filter(contract: &Contract) -> Filter {
    let mut topics: Vec<Vec<u8>> = Vec::new();
    if contract.narrowed {
        topics.extend(contract.forms.iter().filter_map(|form| form.topic0).map(Vec::from));
        topics.sort_unstable();
        topics.dedup();
    }
    Filter {
        addresses: contract.addresses.iter().map(|address| address.to_vec()).collect(),
        topics,
        start_block: contract.start_block,
    }
}
