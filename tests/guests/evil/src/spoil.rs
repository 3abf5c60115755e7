//! Honest output with one thing wrong in it.

use crate::bindings::nuthatch::nest::types::{Decoded, Rejection, Values, VarWidth};

const NUMBER: usize = 0;
const VALUE: usize = 1;
const SMALL: usize = 2;
const SIGNED: usize = 3;
const FLAG: usize = 4;
const WHO: usize = 5;
const NOTE: usize = 7;
const PRICE: usize = 8;
const LARGE_PRICE: usize = 9;
const AT: usize = 10;
const STEP: usize = 11;

fn text(values: &mut Values) -> Option<&mut VarWidth> {
    if let Values::Text(text) = values { Some(text) } else { None }
}

fn fixed(values: &mut Values) -> Option<&mut Vec<u8>> {
    if let Values::Fixed(fixed) = values { Some(&mut fixed.values) } else { None }
}

/// Puts in what `name` says; false when there is no such mode.
pub fn spoil(name: &str, argument: &str, decoded: &mut Decoded, logs: u32) -> bool {
    if name == "accounts" {
        return accounts(argument, decoded, logs);
    }
    if name != "spoil" {
        return true;
    }
    let rows = &mut decoded.tables[0];
    let columns = &mut rows.columns;
    match argument {
        "column-missing" => drop(columns.pop()),
        "column-extra" => columns.push(columns[0].clone()),
        "column-short" => columns[NUMBER].values = Values::U64s(vec![1]),
        "bits-short" => columns[FLAG].values = Values::Bits(Vec::new()),
        "bits-tail" => columns[FLAG].values = Values::Bits(vec![0xff; (logs as usize).div_ceil(8)]),
        "wrong-case" => columns[NUMBER].values = Values::S64s(vec![1; logs as usize]),
        "wrong-width" => {
            if let Values::Fixed(fixed) = &mut columns[WHO].values {
                fixed.width = 32;
            }
        }
        "width-zero" => {
            if let Values::Fixed(fixed) = &mut columns[WHO].values {
                fixed.width = 0;
            }
        }
        "fixed-short" => drop(fixed(&mut columns[VALUE].values).map(Vec::pop)),
        "offsets-missing" => drop(text(&mut columns[NOTE].values).map(|text| text.offsets.pop())),
        "offsets-none" => drop(text(&mut columns[NOTE].values).map(|text| text.offsets.clear())),
        "offsets-start" => drop(text(&mut columns[NOTE].values).map(|text| text.offsets[0] = 1)),
        "offsets-fall" => drop(text(&mut columns[NOTE].values).map(|text| text.offsets[1] = u32::MAX)),
        "offsets-end" => drop(text(&mut columns[NOTE].values).map(|text| text.values.push(b'x'))),
        "not-utf8" => drop(text(&mut columns[NOTE].values).map(|text| text.values[0] = 0xff)),
        // The whole is UTF-8, and the boundary between two rows lies inside of a character.
        "split-utf8" if logs > 1 => drop(text(&mut columns[NOTE].values).map(|text| {
            let end = text.offsets[1] as usize;
            text.values[end - 1..=end].copy_from_slice("ü".as_bytes());
        })),
        "nul" => drop(text(&mut columns[NOTE].values).map(|text| text.values[0] = 0)),
        "validity-short" => columns[NOTE].validity = Some(Vec::new()),
        "validity-long" => columns[NOTE].validity = Some(vec![0; logs as usize]),
        "validity-tail" => columns[NOTE].validity = Some(vec![0xff; (logs as usize).div_ceil(8)]),
        "null" => columns[NUMBER].validity = Some(vec![0; (logs as usize).div_ceil(8)]),
        "uint-range" => columns[SMALL].values = Values::U64s(vec![256; logs as usize]),
        "int-range" => {
            columns[STEP].values = Values::S64s(vec![1 << 23; logs as usize]);
            columns[STEP].validity = None;
        }
        "decimal-range" => drop(fixed(&mut columns[PRICE].values).map(|values| values.fill(0x70))),
        "large-decimal-range" => drop(fixed(&mut columns[LARGE_PRICE].values).map(|values| values.fill(0x7f))),
        "time-range" => columns[AT].values = Values::S64s(vec![i64::MAX; logs as usize]),
        "signed-short" => drop(fixed(&mut columns[SIGNED].values).map(Vec::clear)),
        "source-range" => rows.source[logs as usize - 1] = logs,
        "source-falls" if logs > 1 => rows.source.swap(0, 1),
        // Nothing is wrong with one log alone.
        "split-utf8" | "source-falls" => {}
        "table-unknown" => rows.table = 2,
        "table-twice" => decoded.tables.push(decoded.tables[0].clone()),
        _ => return false,
    }
    true
}

/// Logs in no place, in two, or in one that is not there; reasons that are none.
fn accounts(argument: &str, decoded: &mut Decoded, logs: u32) -> bool {
    let reject = |log, code: &str| Rejection { log, code: code.into(), detail: String::new() };
    match argument {
        "none" => decoded.tables.clear(),
        "source-and-ignored" => decoded.ignored.push(0),
        "source-and-rejected" => decoded.rejected.push(reject(0, "twice")),
        "rejected-twice" => {
            decoded.tables.clear();
            decoded.rejected = vec![reject(0, "twice"), reject(0, "twice")];
        }
        "ignored-twice" => {
            decoded.tables.clear();
            decoded.ignored = vec![0, 0];
        }
        "rejected-range" => decoded.rejected.push(reject(logs, "range")),
        "ignored-range" => decoded.ignored.push(u32::MAX),
        _ => {
            decoded.tables.clear();
            let mut rejected: Vec<_> = (0..logs).map(|log| reject(log, "fine")).collect();
            let first = &mut rejected[0];
            match argument {
                "code-upper" => first.code = "Bad-Code".into(),
                "code-empty" => first.code.clear(),
                "code-long" => first.code = "a".repeat(33),
                "code-hyphens" => first.code = "a--b".into(),
                "code-control" => first.code = "a\u{1b}[31m".into(),
                "detail-long" => first.detail = "d".repeat(2_000),
                // The bytes cross as they are: the host has to notice.
                "detail-utf8" => first.detail = unsafe { String::from_utf8_unchecked(vec![b'a', 0xff]) },
                _ => return false,
            }
            decoded.rejected = rejected;
        }
    }
    true
}
