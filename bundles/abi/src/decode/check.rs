//! Whether a word is a value of its type. One comparison against a mask says so for every type.

use super::fault::Wrong;
use crate::types::Word;

/// The test for one type.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Bits that must be 0 (or, for signed types, equal to the sign), in the words' own byte order.
    mask: [u64; 4],
    /// Byte whose top bit is the sign.
    sign: Option<usize>,
    word: Word,
}

// Worked out when this is compiled: inside of arrays every word asks for its test.
static UINTS: [Check; 33] = by_width(false);
static INTS: [Check; 33] = by_width(true);
static BYTES: [Check; 33] = {
    let mut checks = [Check::masked(Word::FixedBytes(0), 0, 0, 0); 33];
    let mut width = 1;
    while width <= 32 {
        checks[width] = Check::masked(Word::FixedBytes(width as u8), 0, width, 0);
        width += 1;
    }
    checks
};
static BOOL: Check = Check::masked(Word::Bool, 31, 32, 0xfe);
static ADDRESS: Check = Check::masked(Word::Address, 12, 32, 0);
static FUNCTION: Check = Check::masked(Word::Function, 0, 24, 0);

/// Integers by their width in bytes.
const fn by_width(signed: bool) -> [Check; 33] {
    let mut checks = [Check::masked(Word::Uint(0), 32, 32, 0); 33];
    let mut width = 1;
    while width <= 32 {
        let bits = width as u16 * 8;
        let word = if signed { Word::Int(bits) } else { Word::Uint(bits) };
        checks[width] = Check::masked(word, 32 - width, 32, 0);
        width += 1;
    }
    checks
}

impl Check {
    /// For this type.
    #[inline]
    pub fn new(word: Word) -> &'static Self {
        match word {
            Word::Bool => &BOOL,
            Word::Uint(bits) => &UINTS[usize::from(bits / 8).min(32)],
            Word::Int(bits) => &INTS[usize::from(bits / 8).min(32)],
            Word::Address => &ADDRESS,
            Word::FixedBytes(width) => &BYTES[usize::from(width).min(32)],
            Word::Function => &FUNCTION,
        }
    }

    /// Bits that must be 0: all outside of `first..last`, `inside` within.
    const fn masked(word: Word, first: usize, last: usize, inside: u8) -> Self {
        let mut mask = [0; 4];
        let mut lane = 0;
        while lane < 4 {
            let mut bytes = [0; 8];
            let mut byte = 0;
            while byte < 8 {
                let at = lane * 8 + byte;
                bytes[byte] = if first <= at && at < last { inside } else { 0xff };
                byte += 1;
            }
            mask[lane] = u64::from_ne_bytes(bytes);
            lane += 1;
        }
        let sign = if matches!(word, Word::Int(_)) { Some(first) } else { None };
        Check { mask, sign, word }
    }

    /// Whether the word is a value.
    #[inline(always)]
    pub fn passes(&self, word: &[u8; 32]) -> bool {
        let fill = match self.sign {
            Some(at) if word[at] & 0x80 != 0 => u64::MAX,
            _ => 0,
        };
        let lanes = lanes(word);
        (0..4).fold(0, |dirt, lane| dirt | (lanes[lane] ^ fill) & self.mask[lane]) == 0
    }

    /// What is wrong with a word that does not pass.
    #[cold]
    pub fn wrong(&self, word: &[u8; 32]) -> Wrong {
        match self.word {
            Word::Bool => Wrong::BadBool(*word),
            Word::FixedBytes(_) | Word::Function => Wrong::DirtyPadding(*word),
            Word::Uint(_) | Word::Int(_) | Word::Address => Wrong::OutOfRange(*word),
        }
    }
}

/// Whether two words are equal. Spelled out, since comparing bytes is a call and a loop in wasm.
#[inline(always)]
pub fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let (one, other) = (lanes(one), lanes(other));
    (0..4).fold(0, |differs, lane| differs | (one[lane] ^ other[lane])) == 0
}

/// The word as four numbers, in the machine's own byte order.
#[inline(always)]
pub fn lanes(word: &[u8; 32]) -> [u64; 4] {
    let (lanes, _) = word.as_chunks();
    [0, 1, 2, 3].map(|lane| u64::from_ne_bytes(lanes[lane]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8]) -> [u8; 32] {
        let mut word = [0; 32];
        word[32 - bytes.len()..].copy_from_slice(bytes);
        word
    }

    fn passes(ty: Word, word: [u8; 32]) -> bool {
        Check::new(ty).passes(&word)
    }

    #[test]
    fn integers_pass_exactly_within_their_range() {
        for bits in (8..256u16).step_by(8) {
            let width = usize::from(bits / 8);
            let highest = word(&vec![0xff; width]);
            let mut above = [0; 32];
            above[31 - width] = 1;
            assert!(passes(Word::Uint(bits), highest) && !passes(Word::Uint(bits), above), "{bits}");

            let mut highest = vec![0xff; width];
            highest[0] = 0x7f;
            let mut above = vec![0; width];
            above[0] = 0x80;
            assert!(passes(Word::Int(bits), word(&highest)) && !passes(Word::Int(bits), word(&above)), "{bits}");
            let mut lowest = [0xff; 32];
            lowest[32 - width..].copy_from_slice(&above);
            let mut below = [0xff; 32];
            below[32 - width..].copy_from_slice(&highest);
            assert!(passes(Word::Int(bits), lowest) && !passes(Word::Int(bits), below), "{bits}");
            let mut half_extended = lowest;
            half_extended[0] = 0;
            assert!(!passes(Word::Int(bits), half_extended), "{bits}");
        }
        for word in [[0xff; 32], [0; 32], [0x80; 32]] {
            assert!(
                passes(Word::Uint(256), word) && passes(Word::Int(256), word) && passes(Word::FixedBytes(32), word)
            );
        }
    }

    #[test]
    fn other_words_have_clean_padding() {
        assert!(passes(Word::Bool, word(&[1])) && passes(Word::Bool, word(&[])));
        assert!(!passes(Word::Bool, word(&[2])) && !passes(Word::Bool, word(&[1, 0])));
        assert!(passes(Word::Address, word(&[0xff; 20])) && !passes(Word::Address, word(&[1; 21])));
        let mut bytes = [0; 32];
        bytes[..4].fill(0xff);
        assert!(passes(Word::FixedBytes(4), bytes) && !passes(Word::FixedBytes(3), bytes));
        bytes[..24].fill(0xff);
        assert!(passes(Word::Function, bytes));
        bytes[24] = 1;
        assert!(!passes(Word::Function, bytes));
    }
}
