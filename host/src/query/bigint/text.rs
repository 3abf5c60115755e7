//! Exact integers as text: decimal out, decimal or hexadecimal in.

use std::fmt::{self, Write};

use arrow::array::{Array, LargeBinaryArray, StringArray, StringBuilder};
use num_bigint::BigInt;

use super::codec::{Parts, parts};
use super::error::IntegerError;
use super::value::Wide;

/// The largest power of ten in a limb.
const CHUNK: u64 = 10_000_000_000_000_000_000;
const CHUNK_DIGITS: usize = 19;

/// The decimal text of an encoded integer. Bytes that are no encoding come out as `invalid:0x…`.
pub fn to_decimal(bytes: &[u8]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_decimal(bytes, &mut out);
    out
}

/// Writes the decimal text of an encoded integer, as [`to_decimal`] does, without an allocation for what fits 128 bits.
pub fn write_decimal(bytes: &[u8], out: &mut impl Write) -> fmt::Result {
    let (negative, body) = match parts(bytes) {
        Some(Parts::Positive(body)) => (false, body),
        Some(Parts::Negative(body)) => (true, body),
        None => return write!(out, "invalid:0x{}", hex::encode(bytes)),
    };
    if negative {
        out.write_char('-')?;
    }
    let flip = if negative { 0xff } else { 0 };
    if body.len() <= 16 {
        let magnitude = body.iter().fold(0u128, |value, byte| value << 8 | u128::from(byte ^ flip));
        return match u64::try_from(magnitude) {
            Ok(magnitude) => write!(out, "{magnitude}"),
            Err(_) => write!(out, "{magnitude}"),
        };
    }
    write_limbs(body, flip, out)
}

/// Divides the magnitude down by powers of ten, limb by limb.
fn write_limbs(body: &[u8], flip: u8, out: &mut impl Write) -> fmt::Result {
    // Sixteen limbs hold the longest magnitude; a limb holds less than 20 digits.
    let mut limbs = [0u64; 16];
    let mut used = 0;
    for chunk in body.rchunks(8) {
        limbs[used] = chunk.iter().fold(0, |limb, byte| limb << 8 | u64::from(byte ^ flip));
        used += 1;
    }
    let mut chunks = [0u64; 18];
    let mut count = 0;
    while used > 0 {
        let mut rest = 0u128;
        for limb in limbs[..used].iter_mut().rev() {
            let dividend = rest << 64 | u128::from(*limb);
            *limb = (dividend / u128::from(CHUNK)) as u64;
            rest = dividend % u128::from(CHUNK);
        }
        chunks[count] = rest as u64;
        count += 1;
        while used > 0 && limbs[used - 1] == 0 {
            used -= 1;
        }
    }
    if count > 0 {
        write!(out, "{}", chunks[count - 1])?;
        for chunk in chunks[..count - 1].iter().rev() {
            write!(out, "{chunk:0CHUNK_DIGITS$}")?;
        }
    }
    Ok(())
}

/// The decimal text of a column of encoded integers.
pub fn to_decimal_array(array: &LargeBinaryArray) -> StringArray {
    let mut builder = StringBuilder::with_capacity(array.len(), array.value_data().len() * 5 / 2);
    for value in array {
        match value {
            Some(bytes) => {
                let _ = write_decimal(bytes, &mut builder);
                builder.append_value("");
            }
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// Reads an integer: decimal digits, or `0x` and hexadecimal digits, with an optional sign.
pub fn parse(text: &str) -> Result<Wide, IntegerError> {
    let trimmed = text.trim();
    let fail = || IntegerError::NotAnInteger(shorten(text));
    let (negative, digits) = match trimmed.as_bytes().first() {
        Some(b'-') => (true, &trimmed[1..]),
        Some(b'+') => (false, &trimmed[1..]),
        _ => (false, trimmed),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return Err(fail());
    }
    let digits = digits.trim_start_matches('0');
    // 305 decimal digits are wider than 1,008 bits.
    if digits.len() > 304 {
        return Err(IntegerError::TooWide);
    }
    let magnitude = if digits.is_empty() {
        Wide::ZERO
    } else {
        match i128::from_str_radix(digits, radix) {
            Ok(small) => Wide::Small(small),
            Err(_) => Wide::from(BigInt::parse_bytes(digits.as_bytes(), radix).ok_or_else(fail)?),
        }
    };
    Ok(if negative { -&magnitude } else { magnitude })
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The exact decimal text of `value / 10^decimals`: 1500000000000000000 with 18 decimals is `1.5`.
///
/// Trailing zeros of the fraction are cut off, and the point with them.
pub fn format_units(value: &Wide, decimals: u32) -> String {
    let digits = value.abs().to_string();
    let decimals = decimals as usize;
    let padded = format!("{digits:0>width$}", width = decimals + 1);
    let (whole, fraction) = padded.split_at(padded.len() - decimals);
    let fraction = fraction.trim_end_matches('0');
    let sign = if value.is_negative() { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// The integer that `format_units` writes as this text: `1.5` with 18 decimals is 1500000000000000000.
///
/// More digits after the point than there are decimals are an error unless they are zeros.
pub fn parse_units(text: &str, decimals: u32) -> Result<Wide, IntegerError> {
    let fail = || IntegerError::NotAnInteger(shorten(text));
    let trimmed = text.trim();
    let (whole, fraction) = trimmed.split_once('.').unwrap_or((trimmed, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if fraction.len() > decimals as usize || !digits(fraction) || !digits(unsigned) || unsigned.is_empty() {
        return Err(fail());
    }
    parse(&format!("{whole}{fraction:0<width$}", width = decimals as usize))
}

impl fmt::Display for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wide::Small(value) => value.fmt(f),
            Wide::Big(value) => value.fmt(f),
        }
    }
}
