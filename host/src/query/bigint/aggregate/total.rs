//! A running exact total.

use num_bigint::{BigInt, Sign};

use super::super::codec::{Parts, parts};
use super::super::error::IntegerError;
use super::super::value::Wide;

const LIMBS: usize = 5;

/// A sum of integers. Values of up to 256 bits are summed in place: 320 bits hold 2^63 of them. Wider ones go to the heap.
#[derive(Clone, Debug, Default)]
pub struct Total {
    /// Two's complement, lowest limb first.
    limbs: [u64; LIMBS],
    wider: Option<Box<BigInt>>,
}

/// Whether a value comes or, from a sliding window, goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The value is added.
    Enter,
    /// The value is taken away again.
    Leave,
}

impl Direction {
    fn adds(self, negative: bool) -> bool {
        (self == Direction::Enter) != negative
    }
}

impl Total {
    /// Adds or takes away a small integer.
    pub fn apply_small(&mut self, value: i128, direction: Direction) {
        let magnitude = value.unsigned_abs();
        let limbs = [magnitude as u64, (magnitude >> 64) as u64, 0, 0, 0];
        self.apply_limbs(limbs, direction.adds(value < 0));
    }

    /// Adds or takes away an encoded integer.
    pub fn apply(&mut self, bytes: &[u8], direction: Direction) -> Result<(), IntegerError> {
        let (body, negative) = match parts(bytes) {
            Some(Parts::Positive(body)) => (body, false),
            Some(Parts::Negative(body)) => (body, true),
            None => return Err(IntegerError::Malformed(format!("0x{}", hex::encode(bytes)))),
        };
        let flip = if negative { 0xff } else { 0 };
        let adds = direction.adds(negative);
        if body.len() <= 32 {
            let mut limbs = [0; LIMBS];
            for (limb, chunk) in limbs.iter_mut().zip(body.rchunks(8)) {
                *limb = chunk.iter().fold(0, |limb, byte| limb << 8 | u64::from(byte ^ flip));
            }
            self.apply_limbs(limbs, adds);
        } else {
            let magnitude: Vec<u8> = body.iter().map(|byte| byte ^ flip).collect();
            let sign = if adds { Sign::Plus } else { Sign::Minus };
            **self.wider.get_or_insert_default() += BigInt::from_bytes_be(sign, &magnitude);
        }
        Ok(())
    }

    fn apply_limbs(&mut self, limbs: [u64; LIMBS], adds: bool) {
        let mut carry = false;
        for (own, other) in self.limbs.iter_mut().zip(limbs) {
            let (once, first) = if adds { own.overflowing_add(other) } else { own.overflowing_sub(other) };
            let (twice, second) =
                if adds { once.overflowing_add(carry.into()) } else { once.overflowing_sub(carry.into()) };
            *own = twice;
            carry = first || second;
        }
    }

    /// The sum.
    pub fn value(&self) -> Wide {
        let [low, high, rest @ ..] = self.limbs;
        let narrow = (u128::from(high) << 64 | u128::from(low)) as i128;
        let filler = if narrow < 0 { u64::MAX } else { 0 };
        let fixed = if rest.iter().all(|limb| *limb == filler) {
            Wide::Small(narrow)
        } else {
            let bytes: Vec<u8> = self.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            Wide::from(BigInt::from_signed_bytes_le(&bytes))
        };
        match &self.wider {
            Some(wider) => fixed.add(&Wide::from((**wider).clone())),
            None => fixed,
        }
    }

    /// Whether a value of more than 256 bits is in it.
    pub fn is_on_heap(&self) -> bool {
        self.wider.is_some()
    }

    /// Bytes on the heap.
    pub fn heap_size(&self) -> usize {
        self.wider.as_ref().map_or(0, |wider| size_of::<BigInt>() + wider.bits() as usize / 8)
    }
}
