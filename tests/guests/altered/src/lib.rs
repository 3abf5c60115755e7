//! The standard decoder with one change, so that a test sees whose work the rows are. The plan is one byte, the change,
//! and then a plan of the standard decoder.

use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_sdk::{Decoded, Decoder, Failure, LogBatch, ManifestPart, Values, failure};

struct Altered;

/// What is changed.
enum Change {
    Nothing,
    /// One is added to each `value` of 256 bits.
    AddOne,
    /// `decode` traps.
    Trap,
    /// `decode` traps where a `value` of 256 bits is the largest there is.
    TrapOnMark,
}

fn split(plan: &[u8]) -> Result<(Change, &[u8]), Failure> {
    match plan.split_first() {
        Some((b'=', rest)) => Ok((Change::Nothing, rest)),
        Some((b'+', rest)) => Ok((Change::AddOne, rest)),
        Some((b'!', rest)) => Ok((Change::Trap, rest)),
        Some((b'?', rest)) => Ok((Change::TrapOnMark, rest)),
        _ => Err(failure("bad-plan", "it begins with none of the changes")),
    }
}

impl Decoder for Altered {
    fn plan(_config: &[u8]) -> Result<Vec<u8>, Failure> {
        Err(failure("no-plan", "the test makes the plan itself"))
    }

    fn describe(plan: &[u8]) -> Result<ManifestPart, Failure> {
        StandardDecoder::describe(split(plan)?.1)
    }

    fn decode(plan: &[u8], batch: &LogBatch) -> Result<Decoded, Failure> {
        let (change, plan) = split(plan)?;
        let mut decoded = StandardDecoder::decode(plan, batch)?;
        match change {
            Change::Nothing => {}
            Change::AddOne => for_each_value(&mut decoded, plan, increment)?,
            Change::Trap => core::hint::black_box(trap()),
            Change::TrapOnMark => for_each_value(&mut decoded, plan, |value| {
                if value.iter().all(|byte| *byte == 0xff) {
                    trap();
                }
            })?,
        }
        Ok(decoded)
    }
}

fn trap() {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable()
}

fn for_each_value(decoded: &mut Decoded, plan: &[u8], change: impl Fn(&mut [u8])) -> Result<(), Failure> {
    let described = StandardDecoder::describe(plan)?;
    for rows in &mut decoded.tables {
        let columns = &described.tables[rows.table as usize].columns;
        for (column, def) in rows.columns.iter_mut().zip(columns) {
            if def.name == "value"
                && def.type_ == "uint256"
                && let Values::Fixed(fixed) = &mut column.values
            {
                fixed.values.chunks_exact_mut(32).for_each(&change);
            }
        }
    }
    Ok(())
}

/// A big-endian number and one.
fn increment(number: &mut [u8]) {
    for byte in number.iter_mut().rev() {
        let (sum, carry) = byte.overflowing_add(1);
        *byte = sum;
        if !carry {
            return;
        }
    }
}

nuthatch_sdk::export_decoder!(Altered);
