//! `0x…` strings, decoded straight to where they belong.

use std::fmt;

use alloy_primitives::hex as digits;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Visitor};

use crate::model::B256;

/// Why a string is not the hex that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHex {
    /// No `0x`.
    #[error("hex without 0x in front")]
    NoPrefix,
    /// Another number of digits.
    #[error("hex of another length than expected")]
    Length,
    /// Half a byte.
    #[error("hex with an odd number of digits")]
    Odd,
    /// Something else than a digit.
    #[error("hex with a character that is no digit")]
    Digit,
    /// More than 64 bits.
    #[error("a number above 64 bits")]
    TooWide,
    /// Nothing behind `0x`.
    #[error("a number without digits")]
    NoDigits,
}

fn body(text: &str) -> Result<&[u8], BadHex> {
    text.as_bytes().strip_prefix(b"0x").ok_or(BadHex::NoPrefix)
}

/// Exactly `N` bytes.
pub(in crate::chain) fn fixed<const N: usize>(text: &str) -> Result<[u8; N], BadHex> {
    let mut out = [0; N];
    fixed_into(text, &mut out)?;
    Ok(out)
}

pub(super) fn fixed_into(text: &str, out: &mut [u8]) -> Result<(), BadHex> {
    let body = body(text)?;
    if body.len() != out.len() * 2 {
        return Err(BadHex::Length);
    }
    decode(body, out)
}

/// Appends the bytes of a string of any length.
pub(super) fn append(text: &str, out: &mut Vec<u8>) -> Result<(), BadHex> {
    let body = body(text)?;
    if body.len() % 2 != 0 {
        return Err(BadHex::Odd);
    }
    let start = out.len();
    out.resize(start + body.len() / 2, 0);
    decode(body, &mut out[start..])
}

fn decode(body: &[u8], out: &mut [u8]) -> Result<(), BadHex> {
    // The decoder takes a second `0x` for a prefix of its own; `x` is no digit anywhere.
    if body.get(1) == Some(&b'x') {
        return Err(BadHex::Digit);
    }
    digits::decode_to_slice(body, out).map_err(|_| BadHex::Digit)
}

/// A number of at most 64 bits. Leading zeros are accepted, as some nodes write them.
pub(super) fn quantity(text: &str) -> Result<u64, BadHex> {
    let body = body(text)?;
    if body.is_empty() {
        return Err(BadHex::NoDigits);
    }
    let mut number: u64 = 0;
    for &byte in body {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return Err(BadHex::Digit),
        };
        if number >> 60 != 0 {
            return Err(BadHex::TooWide);
        }
        number = number << 4 | u64::from(digit);
    }
    Ok(number)
}

/// Decodes into the slice; `false` for null.
pub(super) struct FixedInto<'a>(pub &'a mut [u8]);

impl<'de> DeserializeSeed<'de> for FixedInto<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FixedInto<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes as hex", self.0.len())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<bool, E> {
        fixed_into(text, self.0).map_err(E::custom)?;
        Ok(true)
    }

    fn visit_unit<E: de::Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

/// Appends to the column.
pub(super) struct Append<'a>(pub &'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes as hex")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        append(text, self.0).map_err(E::custom)
    }
}

/// A quantity, or null. Plain JSON numbers are accepted.
pub(super) struct Quantity;

impl<'de> DeserializeSeed<'de> for Quantity {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u64>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Quantity {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number as hex")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Option<u64>, E> {
        quantity(text).map(Some).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<u64>, E> {
        Ok(Some(number))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }
}

/// 32 bytes.
pub(in crate::chain) struct HashText(pub B256);

impl<'de> Deserialize<'de> for HashText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bytes = [0; 32];
        match FixedInto(&mut bytes).deserialize(deserializer)? {
            true => Ok(HashText(bytes.into())),
            false => Err(de::Error::custom("null where a hash is expected")),
        }
    }
}

/// A number.
pub(in crate::chain) struct QuantityText(pub u64);

impl<'de> Deserialize<'de> for QuantityText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Quantity.deserialize(deserializer)?;
        number.map(QuantityText).ok_or_else(|| de::Error::custom("null where a number is expected"))
    }
}

/// Bytes of any length.
pub(in crate::chain) struct Bytes0x(pub Vec<u8>);

impl<'de> Deserialize<'de> for Bytes0x {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bytes = Vec::new();
        Append(&mut bytes).deserialize(deserializer)?;
        Ok(Bytes0x(bytes))
    }
}
