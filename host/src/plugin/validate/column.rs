//! Checks of one column against its type.

use super::ColumnProblem;
use crate::model::{ColumnSchema, ColumnType};
use crate::plugin::raw::{RawColumn, RawValues};
use arrow::datatypes::i256;

/// Seconds of the years 1 to 9999: what calendars and other systems can show.
const TIMESTAMPS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Width of wide integers and decimals.
const WIDE: u32 = 32;

pub(super) fn check(raw: &RawColumn, schema: &ColumnSchema, rows: usize) -> Result<(), ColumnProblem> {
    let present = validity(raw.validity.as_deref(), schema.nullable, rows)?;
    let ty = schema.ty;
    let range = |row| ColumnProblem::Range { row, ty: ty.to_string() };
    match (ty, &raw.values) {
        (ColumnType::Bool, RawValues::Bits(bits)) => {
            let expected = rows.div_ceil(8);
            if bits.len() != expected {
                return Err(length(bits.len(), expected, "bytes", rows));
            }
            tail(bits, rows, "values")
        }
        (ColumnType::Uint(width @ ..=64), RawValues::U64s(values)) => {
            count(values.len(), rows)?;
            let max = u64::MAX >> (64 - u32::from(width));
            first_bad(values, &present, |value| *value <= max).map_or(Ok(()), |row| Err(range(row)))
        }
        (ColumnType::Int(width @ ..=64), RawValues::S64s(values)) => {
            count(values.len(), rows)?;
            let unused = 64 - u32::from(width);
            let (min, max) = (i64::MIN >> unused, i64::MAX >> unused);
            let fits = |value: &i64| (min..=max).contains(value);
            first_bad(values, &present, fits).map_or(Ok(()), |row| Err(range(row)))
        }
        (ColumnType::Timestamp, RawValues::S64s(values)) => {
            count(values.len(), rows)?;
            first_bad(values, &present, |value| TIMESTAMPS.contains(value)).map_or(Ok(()), |row| Err(range(row)))
        }
        (_, RawValues::Fixed { width, values }) if fixed_width(ty).is_some() => {
            let expected = fixed_width(ty).unwrap_or(WIDE);
            if *width != expected {
                return Err(ColumnProblem::Width { found: *width, expected, ty: ty.to_string() });
            }
            let bytes = rows.saturating_mul(expected as usize);
            if values.len() != bytes {
                return Err(length(values.len(), bytes, "bytes", rows));
            }
            let (values, _) = values.as_chunks::<{ WIDE as usize }>();
            match ty {
                ColumnType::Uint(bits) => first_bad(values, &present, |value| uint_fits(value, bits)),
                ColumnType::Int(bits) => first_bad(values, &present, |value| int_fits(value, bits)),
                ColumnType::Decimal(precision, _) => {
                    let bound = power_of_ten(precision);
                    first_bad(values, &present, |value| decimal_fits(value, bound))
                }
                _ => None,
            }
            .map_or(Ok(()), |row| Err(range(row)))
        }
        (ColumnType::Bytes, RawValues::Bytes { offsets, values }) => offsets_fit(offsets, values.len(), rows),
        (ColumnType::String | ColumnType::Json, RawValues::Text { offsets, values }) => {
            offsets_fit(offsets, values.len(), rows)?;
            text(offsets, values)
        }
        (_, found) => Err(ColumnProblem::Case { found: found.case(), expected: expected_case(ty), ty: ty.to_string() }),
    }
}

/// Bytes of one value of a type that crosses as `fixed`.
fn fixed_width(ty: ColumnType) -> Option<u32> {
    match ty {
        ColumnType::Uint(65..) | ColumnType::Int(65..) | ColumnType::Decimal(..) => Some(WIDE),
        ColumnType::Address => Some(20),
        ColumnType::FixedBytes(width) => Some(u32::from(width)),
        _ => None,
    }
}

fn expected_case(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Bool => "bits",
        ColumnType::Uint(..=64) => "u64s",
        ColumnType::Int(..=64) | ColumnType::Timestamp => "s64s",
        ColumnType::Uint(_)
        | ColumnType::Int(_)
        | ColumnType::Decimal(..)
        | ColumnType::Address
        | ColumnType::FixedBytes(_) => "fixed",
        ColumnType::Bytes => "bytes",
        ColumnType::String | ColumnType::Json => "text",
    }
}

fn length(found: usize, expected: usize, unit: &'static str, rows: usize) -> ColumnProblem {
    ColumnProblem::Length { found, expected, unit, rows }
}

fn count(found: usize, rows: usize) -> Result<(), ColumnProblem> {
    if found == rows { Ok(()) } else { Err(length(found, rows, "items", rows)) }
}

/// Which rows are present.
struct Present<'a>(Option<&'a [u8]>);

impl Present<'_> {
    fn is(&self, row: usize) -> bool {
        self.0.is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1)
    }
}

fn validity(bits: Option<&[u8]>, nullable: bool, rows: usize) -> Result<Present<'_>, ColumnProblem> {
    let Some(bits) = bits else { return Ok(Present(None)) };
    let expected = rows.div_ceil(8);
    if bits.len() != expected {
        return Err(ColumnProblem::ValidityLength { found: bits.len(), expected, rows });
    }
    tail(bits, rows, "validity")?;
    let present = Present(Some(bits));
    if !nullable && let Some(row) = (0..rows).find(|&row| !present.is(row)) {
        return Err(ColumnProblem::Null { row });
    }
    Ok(present)
}

/// Whether the bits behind the last row are 0. The length has been checked.
fn tail(bits: &[u8], rows: usize, bitmap: &'static str) -> Result<(), ColumnProblem> {
    let used = rows % 8;
    match bits.last() {
        Some(last) if used != 0 && last >> used != 0 => Err(ColumnProblem::TailBits { bitmap }),
        _ => Ok(()),
    }
}

/// The first row that is present and does not fit.
fn first_bad<T>(values: &[T], present: &Present<'_>, fits: impl Fn(&T) -> bool) -> Option<usize> {
    if values.iter().all(&fits) {
        return None;
    }
    (0..values.len()).find(|&row| present.is(row) && !fits(&values[row]))
}

/// Big-endian bytes above the value of a type of this many bits.
fn above(value: &[u8; 32], bits: u16) -> (&[u8], u8) {
    let unused = 32 - usize::from(bits / 8).min(32);
    let top = value.get(unused).copied().unwrap_or(0);
    (&value[..unused], top)
}

fn uint_fits(value: &[u8; 32], bits: u16) -> bool {
    above(value, bits).0.iter().all(|byte| *byte == 0)
}

/// The top bit of the whole is flipped; below it lie copies of the sign.
fn int_fits(value: &[u8; 32], bits: u16) -> bool {
    let mut plain = *value;
    plain[0] ^= 0x80;
    let (unused, top) = above(&plain, bits);
    let sign = if top & 0x80 == 0 { 0 } else { 0xff };
    unused.iter().all(|byte| *byte == sign)
}

fn power_of_ten(exponent: u8) -> i256 {
    // 10^76 is the largest that i256 holds, and the largest precision.
    i256::from(10).checked_pow(u32::from(exponent)).unwrap_or(i256::MAX)
}

fn decimal_fits(value: &[u8; 32], bound: i256) -> bool {
    let value = i256::from_be_bytes(*value);
    value < bound && value > bound.wrapping_neg()
}

fn offsets_fit(offsets: &[u32], bytes: usize, rows: usize) -> Result<(), ColumnProblem> {
    let expected = rows.saturating_add(1);
    let (Some(&first), Some(&last), true) = (offsets.first(), offsets.last(), offsets.len() == expected) else {
        return Err(ColumnProblem::OffsetCount { found: offsets.len(), expected, rows });
    };
    if first != 0 {
        return Err(ColumnProblem::OffsetStart(first));
    }
    if let Some(row) = offsets.windows(2).position(|pair| pair[1] < pair[0]) {
        return Err(ColumnProblem::OffsetOrder { row });
    }
    if last as usize != bytes {
        return Err(ColumnProblem::OffsetEnd { found: last, expected: bytes });
    }
    Ok(())
}

/// Whether each row's text is UTF-8 without NUL. The offsets have been checked.
fn text(offsets: &[u32], values: &[u8]) -> Result<(), ColumnProblem> {
    let whole = std::str::from_utf8(values).ok();
    let split = whole.is_some_and(|whole| offsets.iter().all(|offset| whole.is_char_boundary(*offset as usize)));
    if split && !values.contains(&0) {
        return Ok(());
    }
    for (row, pair) in offsets.windows(2).enumerate() {
        let value = &values[pair[0] as usize..pair[1] as usize];
        if std::str::from_utf8(value).is_err() {
            return Err(ColumnProblem::Utf8 { row });
        }
        if value.contains(&0) {
            return Err(ColumnProblem::Nul { row });
        }
    }
    Ok(())
}
