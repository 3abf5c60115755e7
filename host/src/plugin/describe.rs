//! What a guest says its tables and filters are, checked.

use std::collections::HashSet;

use nuthatch_registry::UnknownType;

use super::log::escape;
use super::raw::{RawColumnDef, RawDescription, RawFilter, RawTableDef};
use super::validate::OutputError;
use crate::model::{ColumnSchema, LogFilter, PROVENANCE, TableSchema};

/// Tables and filters of a plan: the part of a manifest that only the guest's code knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// Tables, by their number.
    pub tables: Vec<TableSchema>,
    /// Logs wanted.
    pub filters: Vec<LogFilter>,
}

const MAX_TABLES: usize = 4_096;
const MAX_COLUMNS: usize = 512;
const MAX_FILTERS: usize = 4_096;
const MAX_FILTER_ITEMS: usize = 65_536;
const MAX_NAME: usize = 128;
const MAX_DOC: usize = 4_096;

/// Checks a description and puts it into the registry's types.
pub(super) fn check(raw: RawDescription) -> Result<Description, OutputError> {
    at_most(raw.tables.len(), MAX_TABLES, "tables")?;
    at_most(raw.filters.len(), MAX_FILTERS, "filters")?;
    let mut names = HashSet::new();
    for table in &raw.tables {
        name("table", &table.name, |b| b.is_ascii_lowercase())?;
        if !names.insert(table.name.clone()) {
            return Err(OutputError::Description(format!("two tables are named '{}'", table.name)));
        }
    }
    Ok(Description {
        tables: raw.tables.into_iter().map(table).collect::<Result<_, _>>()?,
        filters: raw.filters.into_iter().map(filter).collect::<Result<_, _>>()?,
    })
}

fn at_most(found: usize, cap: usize, what: &str) -> Result<(), OutputError> {
    if found <= cap {
        return Ok(());
    }
    Err(OutputError::Description(format!("{found} {what}, and at most {cap} are allowed")))
}

/// A name as SQL has it without quotes. A table's may not begin with an underscore: those are the host's own.
fn name(what: &str, name: &str, first: fn(u8) -> bool) -> Result<(), OutputError> {
    let mut bytes = name.bytes();
    let head = bytes.next().is_some_and(first);
    let tail = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if head && tail && name.len() <= MAX_NAME {
        return Ok(());
    }
    let shown = escape(name, 80);
    Err(OutputError::Description(format!(
        "'{shown}' is not a {what} name: lower-case letters, digits and underscores, no digit first, no underscore \
         first in a table's, {MAX_NAME} at most"
    )))
}

fn doc(what: &str, text: &str) -> Result<(), OutputError> {
    if text.len() <= MAX_DOC && !text.chars().any(|c| c.is_control() && c != '\n') {
        return Ok(());
    }
    Err(OutputError::Description(format!(
        "the doc of {what} is longer than {MAX_DOC} bytes or holds control characters"
    )))
}

fn table(raw: RawTableDef) -> Result<TableSchema, OutputError> {
    at_most(raw.columns.len(), MAX_COLUMNS, &format!("columns in table '{}'", raw.name))?;
    doc(&format!("table '{}'", raw.name), &raw.doc)?;
    let mut names = HashSet::new();
    let mut columns = Vec::with_capacity(raw.columns.len());
    for column in raw.columns {
        let column = check_column(&raw.name, column)?;
        if PROVENANCE.iter().any(|(taken, _)| *taken == column.name) {
            return Err(OutputError::Description(format!(
                "column '{}' of table '{}' has the name of a column that the host adds",
                column.name, raw.name
            )));
        }
        if !names.insert(column.name.clone()) {
            return Err(OutputError::Description(format!(
                "two columns of table '{}' are named '{}'",
                raw.name, column.name
            )));
        }
        columns.push(column);
    }
    Ok(TableSchema { name: raw.name, columns, doc: raw.doc })
}

fn check_column(table: &str, raw: RawColumnDef) -> Result<ColumnSchema, OutputError> {
    name("column", &raw.name, |b| b.is_ascii_lowercase() || b == b'_')?;
    let what = format!("column '{}' of table '{table}'", raw.name);
    doc(&what, &raw.doc)?;
    let ty = raw.ty.parse().map_err(|unknown: UnknownType| {
        OutputError::Description(format!("{what}: {}", escape(&unknown.to_string(), usize::MAX)))
    })?;
    Ok(ColumnSchema { name: raw.name, ty, nullable: raw.nullable, doc: raw.doc })
}

fn filter(raw: RawFilter) -> Result<LogFilter, OutputError> {
    at_most(raw.addresses.len(), MAX_FILTER_ITEMS, "addresses in one filter")?;
    at_most(raw.topics.len(), MAX_FILTER_ITEMS, "topics in one filter")?;
    Ok(LogFilter {
        addresses: hex_items(&raw.addresses, 20, "address")?,
        topics: hex_items(&raw.topics, 32, "topic")?,
        start_block: raw.start_block,
    })
}

fn hex_items(items: &[Vec<u8>], width: usize, what: &str) -> Result<Vec<String>, OutputError> {
    let item = |bytes: &Vec<u8>| {
        if bytes.len() == width {
            return Ok(format!("0x{}", hex::encode(bytes)));
        }
        Err(OutputError::Description(format!("a filter's {what} has {} bytes, and {width} are expected", bytes.len())))
    };
    items.iter().map(item).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::ColumnType;

    fn column(name: &str, ty: &str) -> RawColumnDef {
        RawColumnDef { name: name.into(), ty: ty.into(), nullable: false, doc: String::new() }
    }

    fn described(columns: Vec<RawColumnDef>) -> RawDescription {
        let table = RawTableDef { name: "a__b".into(), columns, doc: "one\ntwo".into() };
        let filter = RawFilter { addresses: vec![vec![0xab; 20]], topics: vec![vec![1; 32]], start_block: 7 };
        RawDescription { tables: vec![table], filters: vec![filter] }
    }

    fn refused(raw: RawDescription) -> String {
        check(raw).unwrap_err().to_string()
    }

    #[test]
    fn a_good_description_becomes_registry_types() {
        let good = check(described(vec![column("value", "uint256"), column("at", "timestamp")])).unwrap();
        assert_eq!(good.tables[0].columns[0].ty, ColumnType::Uint(256));
        assert_eq!(good.filters[0].addresses, [format!("0x{}", "ab".repeat(20))]);
        assert_eq!(good.filters[0].start_block, 7);
    }

    #[test]
    fn what_sql_or_the_store_could_not_hold_is_refused_by_name() {
        assert_eq!(
            refused(described(vec![column("v", "uint7")])),
            "the description does not hold together: column 'v' of table 'a__b': 'uint7' is not a column type; known \
             are bool, uint8…uint256, int8…int256, decimal(p,s), timestamp, address, bytes1…bytes32, bytes, string \
             and json"
        );
        assert!(refused(described(vec![column("log_index", "bool")])).contains("name of a column that the host adds"));
        assert!(refused(described(vec![column("v", "bool"), column("v", "bool")])).contains("two columns"));
        assert!(refused(described(vec![column("Va", "bool")])).contains("'Va' is not a column name"));
        assert!(refused(described(vec![column("a\u{1b}", "bool")])).contains("'a\\u{1b}' is not a column name"));
        assert!(check(described(vec![column("_from", "bool")])).is_ok());
        let mut own = described(vec![]);
        own.tables[0].name = "_rejected".into();
        assert!(refused(own).contains("'_rejected' is not a table name"));
        let mut twice = described(vec![]);
        twice.tables.push(twice.tables[0].clone());
        assert!(refused(twice).contains("two tables are named 'a__b'"));
        let mut short = described(vec![]);
        short.filters[0].topics[0].pop();
        assert!(refused(short).contains("a filter's topic has 31 bytes, and 32 are expected"));
        let mut bell = described(vec![]);
        bell.tables[0].doc = "\u{7}".into();
        assert!(refused(bell).contains("control characters"));
    }
}
