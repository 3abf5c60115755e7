//! From a batch of logs to the rows of its tables: each log is sent to its event first, then each event's columns are
//! filled one after the other.

mod body;
mod check;
mod columns;
mod fault;
mod json;
mod route;
mod table;
mod text;

use nuthatch_sdk::{Decoded, Logs, Rejection};

use crate::plan::Plan;
use columns::Source;
use route::{Route, Router};

/// Decodes a checked batch.
pub fn decode(plan: &Plan<'_>, logs: &Logs<'_>) -> Decoded {
    let mut router = Router::new(plan);
    let mut sources: Vec<Vec<Source>> = vec![Vec::new(); router.forms().len()];
    let mut rejected: Vec<Rejection> = Vec::new();
    let mut ignored = Vec::new();
    for index in 0..logs.len() {
        let log = index as u32;
        match router.route(logs, index) {
            Route::Row(form) => sources[form as usize].push(Source::new(logs, index)),
            Route::Ignored => ignored.push(log),
            Route::Mismatch(forms) => rejected.push(router.mismatch(forms, logs.topics(index).len()).rejection(log)),
            Route::TooShort(form) => rejected.push(router.too_short(form, logs.data(index).len()).rejection(log)),
        }
    }
    let mut tables = Vec::new();
    for (place, source) in sources.iter().enumerate().filter(|(_, source)| !source.is_empty()) {
        let rows = table::fill(router.forms()[place], logs, source, &mut rejected);
        tables.extend(rows.map(|(source, columns)| nuthatch_sdk::TableRows { table: place as u32, source, columns }));
    }
    rejected.sort_by_key(|rejection| rejection.log);
    Decoded { tables, rejected, ignored }
}
