//! The encoding of exact integers in queries: byte order is numeric order, and each value has one encoding.
//!
//! `[0x80 + n, magnitude]` for values from zero up, `[0x7f − n, !magnitude]` below zero, where the magnitude is n
//! big-endian bytes without leading zeros. Zero is `[0x80]`.

use num_bigint::{BigInt, Sign};

use super::error::IntegerError;
use super::value::Wide;

/// The longest magnitude in bytes.
pub const MAX_BYTES: usize = 126;

/// The sign byte of zero; those of positive values lie above, those of negative ones below.
pub const ZERO_TAG: u8 = 0x80;

/// The sign and magnitude of an encoded integer.
pub(super) enum Parts<'a> {
    /// From zero up: the magnitude.
    Positive(&'a [u8]),
    /// Below zero: the complement of the magnitude.
    Negative(&'a [u8]),
}

/// Splits an encoded integer, if its length matches its first byte.
pub(super) fn parts(bytes: &[u8]) -> Option<Parts<'_>> {
    let (tag, body) = bytes.split_first()?;
    let negative = *tag < ZERO_TAG;
    let len = usize::from(if negative { 0x7f - tag } else { tag - ZERO_TAG });
    let canonical = match body.first() {
        None => !negative,
        Some(first) => *first != if negative { 0xff } else { 0 },
    };
    if len != body.len() || len > MAX_BYTES || !canonical {
        return None;
    }
    Some(if negative { Parts::Negative(body) } else { Parts::Positive(body) })
}

/// Reads an encoded integer.
pub fn decode(bytes: &[u8]) -> Result<Wide, IntegerError> {
    let malformed = || IntegerError::Malformed(format!("0x{}", hex::encode(bytes)));
    match parts(bytes).ok_or_else(malformed)? {
        Parts::Positive(body) => Ok(Wide::from_be_unsigned(body)),
        Parts::Negative(body) if body.len() <= 16 => {
            let mut complement = [0xff; 16];
            complement[16 - body.len()..].copy_from_slice(body);
            let magnitude = !u128::from_be_bytes(complement);
            Ok(match i128::try_from(magnitude) {
                Ok(small) => Wide::Small(-small),
                Err(_) => Wide::from(-BigInt::from(magnitude)),
            })
        }
        Parts::Negative(body) => {
            let magnitude: Vec<u8> = body.iter().map(|byte| !byte).collect();
            Ok(Wide::Big(BigInt::from_bytes_be(Sign::Minus, &magnitude)))
        }
    }
}

/// Appends the encoding of a small integer.
pub fn encode_i128(value: i128, out: &mut Vec<u8>) {
    let magnitude = value.unsigned_abs();
    let len = 16 - magnitude.leading_zeros() as usize / 8;
    if value >= 0 {
        out.push(ZERO_TAG + len as u8);
        out.extend_from_slice(&magnitude.to_be_bytes()[16 - len..]);
    } else {
        out.push(0x7f - len as u8);
        out.extend_from_slice(&(!magnitude).to_be_bytes()[16 - len..]);
    }
}

/// Appends the encoding of an integer.
pub fn encode(value: &Wide, out: &mut Vec<u8>) -> Result<(), IntegerError> {
    match value {
        Wide::Small(value) => encode_i128(*value, out),
        Wide::Big(value) => {
            let (sign, magnitude) = value.to_bytes_be();
            if magnitude.len() > MAX_BYTES {
                return Err(IntegerError::TooWide);
            }
            if sign == Sign::Minus {
                out.push(0x7f - magnitude.len() as u8);
                out.extend(magnitude.iter().map(|byte| !byte));
            } else {
                out.push(ZERO_TAG + magnitude.len() as u8);
                out.extend_from_slice(&magnitude);
            }
        }
    }
    Ok(())
}

/// The encoding of one integer.
pub fn to_bytes(value: &Wide) -> Result<Vec<u8>, IntegerError> {
    let mut out = Vec::with_capacity(34);
    encode(value, &mut out)?;
    Ok(out)
}
