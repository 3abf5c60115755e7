//! Between stored integer columns and integers in queries.
//!
//! Stored: 32 bytes big-endian, the top bit flipped for signed columns.

use arrow::array::{Array, FixedSizeBinaryArray, FixedSizeBinaryBuilder, LargeBinaryArray};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use nuthatch_registry::ColumnType;

use super::codec::{self, ZERO_TAG};
use super::error::IntegerError;
use super::value::Wide;

/// Bytes of a stored integer.
pub const STORED_WIDTH: usize = 32;

/// Whether a stored column has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signedness {
    /// `uint72` to `uint256`.
    Unsigned,
    /// `int72` to `int256`: the top bit is flipped.
    Signed,
}

impl Signedness {
    /// How a column type is stored, if it is an integer of more than 64 bits.
    pub fn of(ty: ColumnType) -> Option<Self> {
        match ty {
            ColumnType::Uint(65..) => Some(Signedness::Unsigned),
            ColumnType::Int(65..) => Some(Signedness::Signed),
            _ => None,
        }
    }

    fn target(self) -> &'static str {
        match self {
            Signedness::Unsigned => "uint256",
            Signedness::Signed => "int256",
        }
    }
}

/// Appends the encoding of one stored integer.
fn encode_stored(stored: &[u8], signedness: Signedness, out: &mut Vec<u8>) {
    if signedness == Signedness::Unsigned {
        return push_positive(stored, out);
    }
    let mut value = [0; STORED_WIDTH];
    value.copy_from_slice(stored);
    value[0] ^= 0x80;
    if value[0] & 0x80 == 0 {
        return push_positive(&value, out);
    }
    // Two's complement less one is the complement of the magnitude: what the encoding wants.
    for byte in value.iter_mut().rev() {
        let (less, borrow) = byte.overflowing_sub(1);
        *byte = less;
        if !borrow {
            break;
        }
    }
    let start = value.iter().position(|byte| *byte != 0xff).unwrap_or(value.len());
    let body = &value[start..];
    out.push(0x7f - body.len() as u8);
    out.extend_from_slice(body);
}

fn push_positive(bytes: &[u8], out: &mut Vec<u8>) {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let body = &bytes[start..];
    out.push(ZERO_TAG + body.len() as u8);
    out.extend_from_slice(body);
}

/// A stored column as integers. Rows keep their place and their nulls.
///
/// # Panics
/// If the array is not 32 bytes wide: no other width is ever stored for these columns.
pub fn from_storage(array: &FixedSizeBinaryArray, signedness: Signedness) -> LargeBinaryArray {
    assert_eq!(array.value_length(), STORED_WIDTH as i32, "stored integers are 32 bytes wide");
    let mut data = Vec::with_capacity(array.len() * 12);
    let mut offsets = Vec::with_capacity(array.len() + 1);
    offsets.push(0i64);
    for row in 0..array.len() {
        if array.is_valid(row) {
            encode_stored(array.value(row), signedness, &mut data);
        }
        offsets.push(data.len() as i64);
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    LargeBinaryArray::new(offsets, Buffer::from_vec(data), array.nulls().cloned())
}

/// Where a value lies, seen from a stored column: what a comparison can be pushed down as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// Below all stored values.
    Below,
    /// The bytes that stand for it.
    At([u8; STORED_WIDTH]),
    /// Above all stored values.
    Above,
}

/// The stored form of an encoded integer.
pub fn to_storage_value(bytes: &[u8], signedness: Signedness) -> Result<Stored, IntegerError> {
    Ok(store(&codec::decode(bytes)?, signedness))
}

fn store(value: &Wide, signedness: Signedness) -> Stored {
    let fits = match signedness {
        Signedness::Unsigned => value.fits_unsigned(256),
        Signedness::Signed => value.fits_signed(256),
    };
    if !fits {
        return if value.is_negative() { Stored::Below } else { Stored::Above };
    }
    let mut stored = match value {
        Wide::Small(small) => {
            let mut bytes = [if *small < 0 { 0xff } else { 0 }; STORED_WIDTH];
            bytes[16..].copy_from_slice(&small.to_be_bytes());
            bytes
        }
        Wide::Big(big) => {
            let magnitude = big.to_signed_bytes_be();
            let mut bytes = [if value.is_negative() { 0xff } else { 0 }; STORED_WIDTH];
            // An unsigned value of 256 bits has a 33rd byte, which is zero.
            let kept = magnitude.len().min(STORED_WIDTH);
            bytes[STORED_WIDTH - kept..].copy_from_slice(&magnitude[magnitude.len() - kept..]);
            bytes
        }
    };
    if signedness == Signedness::Signed {
        stored[0] ^= 0x80;
    }
    Stored::At(stored)
}

/// Integers as a stored column; fails on the first that does not fit 256 bits.
pub fn to_storage(array: &LargeBinaryArray, signedness: Signedness) -> Result<FixedSizeBinaryArray, IntegerError> {
    let mut builder = FixedSizeBinaryBuilder::with_capacity(array.len(), STORED_WIDTH as i32);
    for value in array {
        let Some(bytes) = value else {
            builder.append_null();
            continue;
        };
        let Stored::At(stored) = to_storage_value(bytes, signedness)? else {
            let value = super::text::to_decimal(bytes);
            return Err(IntegerError::OutOfRange { value, target: signedness.target().into() });
        };
        builder.append_value(stored).map_err(|error| IntegerError::Malformed(error.to_string()))?;
    }
    Ok(builder.finish())
}
