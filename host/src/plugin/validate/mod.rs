//! Everything that a guest hands back is checked here before an Arrow array is made of it.

mod column;
mod error;
#[cfg(test)]
mod tests;

pub use error::{ColumnProblem, OutputError};

use super::fault::GuestFault;
use super::limits::PluginLimits;
use super::raw::{RawDecoded, RawRejection, RawTable};
use crate::model::TableSchema;

/// Bytes of a rejection's code.
pub(super) const CODE_BYTES: usize = 32;

/// A result that holds together for a batch of `logs` logs. Only [`validate`] makes one.
#[derive(Debug)]
pub(super) struct Checked {
    /// Tables that have rows, by number.
    pub tables: Vec<RawTable>,
    pub rejected: Vec<RawRejection>,
    pub ignored: Vec<u32>,
    /// Logs that are the source of at least one row.
    pub sources: usize,
}

/// Checks a result against the tables of the nest and the number of logs that went in.
pub(super) fn validate(
    raw: RawDecoded,
    tables: &[TableSchema],
    logs: usize,
    limits: &PluginLimits,
) -> Result<Checked, GuestFault> {
    let rows = raw.tables.iter().map(|table| table.source.len()).fold(0, usize::saturating_add);
    if rows > limits.output_rows {
        return Err(GuestFault::OutputTooLarge { cap: limits.output_rows, unit: "rows" });
    }
    let checked = structure(raw, tables, logs, limits.detail_bytes);
    checked.map_err(GuestFault::InvalidOutput)
}

fn structure(
    mut raw: RawDecoded,
    tables: &[TableSchema],
    logs: usize,
    detail_bytes: usize,
) -> Result<Checked, OutputError> {
    raw.tables.sort_by_key(|table| table.table);
    let mut accounts = Accounts::new(logs);
    let mut before = None;
    for rows in &raw.tables {
        let Some(schema) = tables.get(rows.table as usize) else {
            return Err(OutputError::UnknownTable { table: rows.table, tables: tables.len() });
        };
        if before == Some(rows.table) {
            return Err(OutputError::TableTwice { table: schema.name.clone() });
        }
        before = Some(rows.table);
        table(rows, schema, logs)?;
        for &log in &rows.source {
            accounts.enter(log, Account::Source)?;
        }
    }
    for rejection in &raw.rejected {
        accounts.enter(rejection.log, Account::Rejected)?;
        reason(rejection, detail_bytes)?;
    }
    for &log in &raw.ignored {
        accounts.enter(log, Account::Ignored)?;
    }
    let sources = accounts.close()?;
    raw.tables.retain(|rows| !rows.source.is_empty());
    Ok(Checked { tables: raw.tables, rejected: raw.rejected, ignored: raw.ignored, sources })
}

fn table(rows: &RawTable, schema: &TableSchema, logs: usize) -> Result<(), OutputError> {
    let name = || schema.name.clone();
    let mut before = 0;
    for (row, &log) in rows.source.iter().enumerate() {
        if log as usize >= logs {
            return Err(OutputError::SourceRange { table: name(), row, log, logs });
        }
        if log < before {
            return Err(OutputError::SourceOrder { table: name(), row, log, before });
        }
        before = log;
    }
    if rows.columns.len() != schema.columns.len() {
        return Err(OutputError::ColumnCount {
            table: name(),
            found: rows.columns.len(),
            expected: schema.columns.len(),
        });
    }
    for (raw, column) in rows.columns.iter().zip(&schema.columns) {
        column::check(raw, column, rows.source.len()).map_err(|problem| OutputError::Column {
            table: name(),
            column: column.name.clone(),
            problem,
        })?;
    }
    Ok(())
}

fn reason(rejection: &RawRejection, detail_bytes: usize) -> Result<(), OutputError> {
    let RawRejection { log, code, detail } = rejection;
    let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let letter = code.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    if code.len() > CODE_BYTES || !letter || !code.split('-').all(word) {
        let code = super::log::escape(code, 2 * CODE_BYTES);
        return Err(OutputError::RejectionCode { log: *log, code });
    }
    if detail.len() > detail_bytes {
        return Err(OutputError::RejectionDetail { log: *log, found: detail.len(), cap: detail_bytes });
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Account {
    None,
    Source,
    Rejected,
    Ignored,
}

impl Account {
    fn name(self) -> &'static str {
        match self {
            Account::None => "nothing",
            Account::Source => "a source of rows",
            Account::Rejected => "rejected",
            Account::Ignored => "ignored",
        }
    }
}

/// Where each log of the batch went: to exactly one place.
struct Accounts(Vec<Account>);

impl Accounts {
    fn new(logs: usize) -> Self {
        Accounts(vec![Account::None; logs])
    }

    fn enter(&mut self, log: u32, account: Account) -> Result<(), OutputError> {
        let logs = self.0.len();
        let Some(entry) = self.0.get_mut(log as usize) else {
            return Err(OutputError::LogRange { log, what: account.name(), logs });
        };
        match (*entry, account) {
            (Account::None, _) => *entry = account,
            (Account::Source, Account::Source) => {}
            (first, second) => {
                return Err(OutputError::AccountedTwice { log, first: first.name(), second: second.name() });
            }
        }
        Ok(())
    }

    fn close(self) -> Result<usize, OutputError> {
        if let Some(log) = self.0.iter().position(|account| *account == Account::None) {
            return Err(OutputError::Unaccounted { log });
        }
        Ok(self.0.iter().filter(|account| **account == Account::Source).count())
    }
}
