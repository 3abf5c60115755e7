//! One exact integer, and its arithmetic.

use std::cmp::Ordering;
use std::ops::{Neg, Shl, Shr};

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::error::IntegerError;

/// The widest magnitude, in bits. The encoding has one length byte for 126 bytes either way.
pub const MAX_BITS: u64 = 1008;

/// An exact integer. Most amounts fit 128 bits and never touch the heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Wide {
    /// Fits an `i128`.
    Small(i128),
    /// Does not fit an `i128`.
    Big(BigInt),
}

impl Wide {
    /// Zero.
    pub const ZERO: Wide = Wide::Small(0);

    /// The value as a [`BigInt`].
    pub fn to_big(&self) -> BigInt {
        match self {
            Wide::Small(value) => BigInt::from(*value),
            Wide::Big(value) => value.clone(),
        }
    }

    /// The value, if an `i128` holds it.
    pub fn to_i128(&self) -> Option<i128> {
        match self {
            Wide::Small(value) => Some(*value),
            Wide::Big(_) => None,
        }
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        match self {
            Wide::Small(value) => *value as f64,
            Wide::Big(value) => value.to_f64().unwrap_or(f64::NAN),
        }
    }

    /// Whether the value is below zero.
    pub fn is_negative(&self) -> bool {
        match self {
            Wide::Small(value) => *value < 0,
            Wide::Big(value) => value.is_negative(),
        }
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self, Wide::Small(0))
    }

    /// −1, 0 or 1.
    pub fn signum(&self) -> i64 {
        match self {
            Wide::Small(value) => value.signum() as i64,
            Wide::Big(value) if value.is_negative() => -1,
            Wide::Big(_) => 1,
        }
    }

    /// Sum.
    pub fn add(&self, other: &Wide) -> Wide {
        if let (Wide::Small(a), Wide::Small(b)) = (self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            return Wide::Small(sum);
        }
        Wide::from(self.to_big() + other.to_big())
    }

    /// Difference.
    pub fn sub(&self, other: &Wide) -> Wide {
        if let (Wide::Small(a), Wide::Small(b)) = (self, other)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Wide::Small(difference);
        }
        Wide::from(self.to_big() - other.to_big())
    }

    /// Product.
    pub fn mul(&self, other: &Wide) -> Wide {
        if let (Wide::Small(a), Wide::Small(b)) = (self, other)
            && let Some(product) = a.checked_mul(*b)
        {
            return Wide::Small(product);
        }
        Wide::from(self.to_big() * other.to_big())
    }

    /// Quotient, truncated toward zero.
    pub fn div(&self, other: &Wide) -> Result<Wide, IntegerError> {
        if other.is_zero() {
            return Err(IntegerError::DivisionByZero);
        }
        if let (Wide::Small(a), Wide::Small(b)) = (self, other)
            && let Some(quotient) = a.checked_div(*b)
        {
            return Ok(Wide::Small(quotient));
        }
        Ok(Wide::from(self.to_big() / other.to_big()))
    }

    /// Remainder; takes the sign of the left side.
    pub fn rem(&self, other: &Wide) -> Result<Wide, IntegerError> {
        if other.is_zero() {
            return Err(IntegerError::DivisionByZero);
        }
        if let (Wide::Small(a), Wide::Small(b)) = (self, other)
            && let Some(remainder) = a.checked_rem(*b)
        {
            return Ok(Wide::Small(remainder));
        }
        Ok(Wide::from(self.to_big() % other.to_big()))
    }

    /// Power. The exponent must not be negative.
    pub fn pow(&self, exponent: &Wide) -> Result<Wide, IntegerError> {
        let trivial = matches!(self, Wide::Small(-1..=1));
        let exponent = match exponent {
            Wide::Small(value @ 0..) if trivial => (value % 2 + i128::from(*value != 0) * 2) as u32,
            Wide::Small(value @ 0..=1008) => *value as u32,
            _ if trivial && !exponent.is_negative() => 2 + u32::from(exponent.to_big().bit(0)),
            // Two to this power is too wide already.
            Wide::Small(1009..) | Wide::Big(_) if !exponent.is_negative() => return Err(IntegerError::TooWide),
            other => {
                let amount = other.to_string();
                return Err(IntegerError::BadAmount { operation: "power", amount, limit: MAX_BITS as u32 });
            }
        };
        if let Wide::Small(base) = self
            && let Some(power) = base.checked_pow(exponent)
        {
            return Ok(Wide::Small(power));
        }
        let base = self.to_big();
        // A lower bound of the result's width, so that nothing huge is computed only to be refused.
        if (base.bits() - 1) * u64::from(exponent) > MAX_BITS {
            return Err(IntegerError::TooWide);
        }
        Ok(Wide::from(Pow::pow(base, exponent)))
    }

    /// Bits set in both, on infinite two's complement.
    pub fn and(&self, other: &Wide) -> Wide {
        match (self, other) {
            (Wide::Small(a), Wide::Small(b)) => Wide::Small(a & b),
            _ => Wide::from(self.to_big() & other.to_big()),
        }
    }

    /// Bits set in either, on infinite two's complement.
    pub fn or(&self, other: &Wide) -> Wide {
        match (self, other) {
            (Wide::Small(a), Wide::Small(b)) => Wide::Small(a | b),
            _ => Wide::from(self.to_big() | other.to_big()),
        }
    }

    /// Bits set in one only, on infinite two's complement.
    pub fn xor(&self, other: &Wide) -> Wide {
        match (self, other) {
            (Wide::Small(a), Wide::Small(b)) => Wide::Small(a ^ b),
            _ => Wide::from(self.to_big() ^ other.to_big()),
        }
    }

    fn shift_amount(&self) -> Result<u32, IntegerError> {
        match self {
            Wide::Small(amount @ 0..=1008) => Ok(*amount as u32),
            other => {
                let amount = other.to_string();
                Err(IntegerError::BadAmount { operation: "shift", amount, limit: MAX_BITS as u32 })
            }
        }
    }

    /// Multiplies by a power of two.
    pub fn shl(&self, amount: &Wide) -> Result<Wide, IntegerError> {
        Ok(Wide::from(self.to_big().shl(amount.shift_amount()?)))
    }

    /// Divides by a power of two, rounded down.
    pub fn shr(&self, amount: &Wide) -> Result<Wide, IntegerError> {
        let amount = amount.shift_amount()?;
        Ok(match self {
            Wide::Small(value) => Wide::Small(value >> amount.min(127)),
            Wide::Big(value) => Wide::from(value.shr(amount)),
        })
    }

    /// The value without its sign.
    pub fn abs(&self) -> Wide {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// 10 to this power.
    pub fn ten_to(exponent: u32) -> Wide {
        match 10i128.checked_pow(exponent) {
            Some(power) => Wide::Small(power),
            None => Wide::from(Pow::pow(BigInt::from(10), exponent)),
        }
    }

    /// The value of big-endian bytes, taken as unsigned.
    pub fn from_be_unsigned(bytes: &[u8]) -> Wide {
        let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
        let magnitude = &bytes[start..];
        if magnitude.len() <= 16 {
            let mut wide = [0; 16];
            wide[16 - magnitude.len()..].copy_from_slice(magnitude);
            if let Ok(small) = i128::try_from(u128::from_be_bytes(wide)) {
                return Wide::Small(small);
            }
        }
        Wide::Big(BigInt::from_bytes_be(Sign::Plus, magnitude))
    }

    /// Whether the value lies in `[0, 2^bits)`.
    pub fn fits_unsigned(&self, bits: u64) -> bool {
        !self.is_negative() && self.to_big().bits() <= bits
    }

    /// Whether the value lies in `[−2^(bits−1), 2^(bits−1))`.
    pub fn fits_signed(&self, bits: u64) -> bool {
        let value = self.to_big();
        let magnitude: BigInt = if value.is_negative() { -value - 1u8 } else { value };
        magnitude.bits() < bits
    }

    /// The double nearest to `self / divisor`, rounded once. The divisor must be above zero.
    pub fn ratio(&self, divisor: u64) -> f64 {
        let magnitude = self.abs().to_big().magnitude().clone();
        // At least 66 bits of quotient: more than a double holds, what is cut off folded into the lowest bit.
        let shift = 130u64.saturating_sub(magnitude.bits());
        let scaled = magnitude << shift;
        let divisor = BigUint::from(divisor);
        let mut quotient = &scaled / &divisor;
        if !(&scaled % &divisor).is_zero() {
            quotient |= BigUint::one();
        }
        let nearest = quotient.to_f64().unwrap_or(f64::NAN) * 2f64.powi(-(shift as i32));
        if self.is_negative() { -nearest } else { nearest }
    }
}

impl Neg for &Wide {
    type Output = Wide;

    fn neg(self) -> Wide {
        match self {
            Wide::Small(value) => match value.checked_neg() {
                Some(negated) => Wide::Small(negated),
                None => Wide::Big(-BigInt::from(*value)),
            },
            Wide::Big(value) => Wide::from(-value),
        }
    }
}

impl From<BigInt> for Wide {
    fn from(value: BigInt) -> Self {
        match i128::try_from(&value) {
            Ok(small) => Wide::Small(small),
            Err(_) => Wide::Big(value),
        }
    }
}

impl From<i64> for Wide {
    fn from(value: i64) -> Self {
        Wide::Small(value.into())
    }
}

impl From<u64> for Wide {
    fn from(value: u64) -> Self {
        Wide::Small(value.into())
    }
}

impl From<i128> for Wide {
    fn from(value: i128) -> Self {
        Wide::Small(value)
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Wide::Small(a), Wide::Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}
