//! The rows of one event.

use nuthatch_sdk::{Column, Logs, Rejection};

use super::columns::{self, Place, Rows, Source};
use crate::plan::{Form, Param};

/// Fills the columns of an event from the logs at `source`, whose topics and heads fit. A log with a value that cannot
/// be decoded becomes a rejection instead of a row, by the first such parameter. None where no row is left.
pub fn fill(
    form: &Form<'_>,
    logs: &Logs<'_>,
    source: &[Source],
    rejected: &mut Vec<Rejection>,
) -> Option<(Vec<u32>, Vec<Column>)> {
    let mut rows = Rows::new(logs, source);
    // The signature's hash comes before the indexed parameters.
    let mut topic = usize::from(form.topic0.is_some());
    let mut head = 0;
    let mut filled = Vec::new();
    for (number, param) in form.params.iter().enumerate() {
        let place = if param.indexed { Place::Topic(topic) } else { Place::Data(head) };
        match param.indexed {
            true => topic += 1,
            false => head += param.ty.slot() as usize,
        }
        columns::fill(param, place, number, &mut rows, &mut filled);
    }
    let faults = rows.faults();
    if faults.is_empty() {
        let source = source.iter().map(|source| source.log).collect();
        return Some((source, filled.into_iter().map(columns::Builder::finish).collect()));
    }
    let mut keep = vec![true; source.len()];
    let declarations: Vec<String> = form.params.iter().map(Param::declaration).collect();
    for (row, number, wrong) in faults {
        keep[row] = false;
        rejected.push(wrong.in_param(&declarations[number]).rejection(source[row].log));
    }
    let kept: Vec<u32> = source.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(source, _)| source.log).collect();
    let columns = filled.into_iter().map(|mut column| {
        column.retain(&keep);
        column.finish()
    });
    (!kept.is_empty()).then(|| (kept, columns.collect()))
}
