//! One table's rows a page at a time, in (block number, log index) order.

use arrow::array::{Array, AsArray, RecordBatch, UInt64Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Schema, UInt64Type};

use super::answer::Answer;
use super::error::{BadQuery, Flaw};
use super::names::nearest;

/// Rows asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Table or view.
    pub table: String,
    /// All must hold.
    pub filters: Vec<Filter>,
    /// Which end comes first.
    pub order: PageOrder,
    /// Rows of a page, at least 1. One log's rows are never cut apart, so a page can hold fewer or, where one log made
    /// more rows than that, more.
    pub limit: usize,
    /// Where the page before ended.
    pub after: Option<PageKey>,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOrder {
    /// Oldest first.
    Ascending,
    /// Newest first.
    Descending,
}

/// One condition on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Column, with a suffix for anything but equality: `_ne`, `_gt`, `_gte`, `_lt`, `_lte`, `_in` (values between
    /// commas).
    pub key: String,
    /// Value as written.
    pub value: String,
}

/// The log whose rows ended a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// Block number.
    pub block: u64,
    /// Log index.
    pub log: u64,
}

/// What follows a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing.
    End,
    /// More rows after this log.
    After(PageKey),
    /// More rows, and no order in which to page through them.
    Unordered,
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its rows.
    pub answer: Answer,
    /// What follows.
    pub next: Next,
}

const KEY: [&str; 2] = ["block_number", "log_index"];

/// Whether a table's rows have an order to page in.
fn has_key(schema: &Schema) -> bool {
    KEY.iter().all(|name| schema.field_with_name(name).is_ok_and(|field| *field.data_type() == DataType::UInt64))
}

/// The statement that reads one row more than a page.
pub fn statement(request: &PageRequest, schema: &Schema) -> Result<String, BadQuery> {
    let mut conditions =
        request.filters.iter().map(|filter| condition(filter, schema)).collect::<Result<Vec<_>, _>>()?;
    let mut order = "";
    if has_key(schema) {
        let (direction, beyond) = match request.order {
            PageOrder::Ascending => ("ASC", '>'),
            PageOrder::Descending => ("DESC", '<'),
        };
        if let Some(PageKey { block, log }) = request.after {
            // The first part alone already leaves out chunks.
            conditions.push(format!(
                "block_number {beyond}= {block} AND (block_number {beyond} {block} OR log_index {beyond} {log})"
            ));
        }
        order = match direction {
            "ASC" => " ORDER BY block_number ASC, log_index ASC",
            _ => " ORDER BY block_number DESC, log_index DESC",
        };
    } else if request.after.is_some() {
        return Err(BadQuery::new(
            Flaw::Meaning,
            format!("'{}' has no block_number and log_index to page by", request.table),
        )
        .hint("query it over /sql with ORDER BY and LIMIT"));
    }
    let conditions: String = conditions.iter().enumerate().fold(String::new(), |mut all, (place, condition)| {
        all.push_str(if place == 0 { " WHERE " } else { " AND " });
        all.push_str(condition);
        all
    });
    let limit = request.limit.saturating_add(1);
    Ok(format!("SELECT * FROM {}{conditions}{order} LIMIT {limit}", name(&request.table)))
}

/// The statement that reads all rows of one log.
pub fn whole_log(request: &PageRequest, schema: &Schema, key: PageKey) -> Result<String, BadQuery> {
    let conditions = request.filters.iter().map(|filter| condition(filter, schema)).collect::<Result<Vec<_>, _>>()?;
    let more: String = conditions.iter().map(|condition| format!(" AND {condition}")).collect();
    let PageKey { block, log } = key;
    Ok(format!("SELECT * FROM {} WHERE block_number = {block} AND log_index = {log}{more}", name(&request.table)))
}

/// What to do with the rows that [`statement`] read.
pub enum Cut {
    /// They are the page.
    Page(Box<Page>),
    /// All are of one log, and there may be more of it.
    OneLog(PageKey),
}

/// Cuts one row more than a page back to a page.
pub fn cut(mut answer: Answer, schema: &Schema, limit: usize) -> Result<Cut, arrow::error::ArrowError> {
    if answer.rows() <= limit {
        return Ok(Cut::Page(Box::new(Page { answer, next: Next::End })));
    }
    let Some(first) = answer.batches.first() else { return Ok(Cut::Page(Box::new(Page { answer, next: Next::End }))) };
    let all = concat_batches(&first.schema(), &answer.batches)?;
    let (keep, next) = match keys(schema, &all) {
        None => (limit, Next::Unordered),
        Some((blocks, logs)) => {
            let key = |row: usize| PageKey { block: blocks.value(row), log: logs.value(row) };
            let following = key(limit);
            let keep = (0..limit).rev().find(|&row| key(row) != following).map_or(0, |row| row + 1);
            if keep == 0 {
                return Ok(Cut::OneLog(following));
            }
            (keep, Next::After(key(keep - 1)))
        }
    };
    answer.batches = vec![all.slice(0, keep)];
    Ok(Cut::Page(Box::new(Page { answer, next })))
}

fn keys<'a>(schema: &Schema, rows: &'a RecordBatch) -> Option<(&'a UInt64Array, &'a UInt64Array)> {
    let column = |name: &str| rows.column(schema.index_of(name).ok()?).as_primitive_opt::<UInt64Type>();
    let (blocks, logs) = (column(KEY[0])?, column(KEY[1])?);
    (blocks.null_count() == 0 && logs.null_count() == 0).then_some((blocks, logs))
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

const SUFFIXES: [(&str, &str); 6] =
    [("_gte", ">="), ("_gt", ">"), ("_lte", "<="), ("_lt", "<"), ("_ne", "<>"), ("_in", "IN")];

fn condition(filter: &Filter, schema: &Schema) -> Result<String, BadQuery> {
    let key = filter.key.as_str();
    let (column, op) = match schema.field_with_name(key) {
        Ok(_) => (key, "="),
        Err(_) => SUFFIXES
            .iter()
            .filter_map(|&(suffix, op)| Some((key.strip_suffix(suffix)?, op)))
            .find(|(column, _)| schema.field_with_name(column).is_ok())
            .ok_or_else(|| unknown(key, schema))?,
    };
    let field = schema.field_with_name(column).map_err(|_| unknown(key, schema))?;
    let value = |text: &str| value(column, text, field.data_type());
    Ok(match op {
        "IN" => {
            let values = filter.value.split(',').map(|text| value(text.trim())).collect::<Result<Vec<_>, _>>()?;
            format!("{} IN ({})", name(column), values.join(", "))
        }
        op => format!("{} {op} {}", name(column), value(&filter.value)?),
    })
}

fn unknown(key: &str, schema: &Schema) -> BadQuery {
    let bad = BadQuery::new(Flaw::UnknownName, format!("there is no column '{key}' to filter by"));
    let bare = SUFFIXES.iter().find_map(|(suffix, _)| key.strip_suffix(suffix)).unwrap_or(key);
    match nearest(bare, schema.fields().iter().map(|field| field.name().as_str())) {
        Some(near) => bad.hint(format!("did you mean {near}?")),
        None => bad.hint(
            "a filter is a column's name, with _ne, _gt, _gte, _lt, _lte or _in behind it for anything but equality; \
             order, limit, cursor and format are the other parameters",
        ),
    }
}

/// A value as a literal of its column's type.
fn value(column: &str, text: &str, ty: &DataType) -> Result<String, BadQuery> {
    let bad = |what: &str| BadQuery::new(Flaw::Literal, format!("'{text}' is no {what}, and column '{column}' is one"));
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match ty {
        DataType::Boolean => match text {
            "true" | "false" => Ok(text.to_owned()),
            _ => Err(bad("boolean (true or false)")),
        },
        ty if ty.is_integer() || *ty == DataType::LargeBinary => {
            if is_integer {
                Ok(text.to_owned())
            } else {
                Err(bad("integer"))
            }
        }
        ty if ty.is_floating() || ty.is_decimal() => {
            let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
            if plain && text.parse::<f64>().is_ok() { Ok(text.to_owned()) } else { Err(bad("number")) }
        }
        DataType::Timestamp(..) if is_integer => Ok(format!("to_timestamp_seconds({text})")),
        _ => Ok(format!("'{}'", text.replace('\'', "''"))),
    }
}
