//! Arrays and tuples as compact JSON: integers as decimal strings, addresses and bytes as lower-case hex, tuples as
//! objects where all their components have names of their own, else as arrays.

use super::body::{Group, Sink};
use super::text;
use crate::hex;
use crate::types::Word;

/// Appends to a text.
pub struct JsonSink<'a> {
    out: &'a mut String,
    /// Whether a string in it was altered.
    pub altered: bool,
}

impl<'a> JsonSink<'a> {
    /// Appends to this text.
    pub fn new(out: &'a mut String) -> Self {
        JsonSink { out, altered: false }
    }
}

impl Sink for JsonSink<'_> {
    fn word(&mut self, ty: Word, word: &[u8; 32]) {
        match ty {
            Word::Bool => self.out.push_str(if word[31] == 1 { "true" } else { "false" }),
            Word::Uint(_) => {
                self.out.push('"');
                decimal(self.out, limbs(word));
                self.out.push('"');
            }
            Word::Int(_) => {
                self.out.push('"');
                let limbs = limbs(word);
                if word[0] & 0x80 != 0 {
                    self.out.push('-');
                    decimal(self.out, negated(limbs));
                } else {
                    decimal(self.out, limbs);
                }
                self.out.push('"');
            }
            Word::Address => self.bytes(&word[12..]),
            Word::FixedBytes(width) => self.bytes(&word[..usize::from(width)]),
            Word::Function => self.bytes(&word[..24]),
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.out.push('"');
        hex::push(self.out, bytes);
        self.out.push('"');
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push('"');
        self.altered |= text::safe(bytes, |piece| escaped(self.out, piece));
        self.out.push('"');
    }

    fn open(&mut self, group: Group) {
        self.out.push(if group == Group::Object { '{' } else { '[' });
    }

    fn item(&mut self, place: u32, name: Option<&str>) {
        if place > 0 {
            self.out.push(',');
        }
        if let Some(name) = name {
            self.out.push('"');
            escaped(self.out, name);
            self.out.push_str("\":");
        }
    }

    fn close(&mut self, group: Group) {
        self.out.push(if group == Group::Object { '}' } else { ']' });
    }
}

/// Escapes what JSON demands, so that a text has one spelling.
fn escaped(out: &mut String, text: &str) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => Some("\\\""),
            b'\\' => Some("\\\\"),
            b'\n' => Some("\\n"),
            b'\r' => Some("\\r"),
            b'\t' => Some("\\t"),
            0..0x20 => None,
            _ => continue,
        };
        out.push_str(&text[plain..at]);
        match short {
            Some(short) => out.push_str(short),
            None => {
                out.push_str(if byte < 0x10 { "\\u000" } else { "\\u001" });
                out.push(hex::digit(byte));
            }
        }
        plain = at + 1;
    }
    out.push_str(&text[plain..]);
}

/// Least significant first.
fn limbs(word: &[u8; 32]) -> [u64; 4] {
    let (lanes, _) = word.as_chunks();
    std::array::from_fn(|limb| u64::from_be_bytes(lanes[3 - limb]))
}

fn negated(limbs: [u64; 4]) -> [u64; 4] {
    let mut carry = true;
    limbs.map(|limb| {
        let (negated, over) = (!limb).overflowing_add(u64::from(carry));
        carry = over;
        negated
    })
}

/// Appends the number in decimal.
fn decimal(out: &mut String, mut limbs: [u64; 4]) {
    const CHUNK: u64 = 1_000_000_000;
    // 2^256 has 78 digits.
    let mut digits = [b'0'; 81];
    let mut at = digits.len();
    let mut top = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |limb| limb + 1);
    while top > 1 {
        // Halves, so that every division is one of 64 bits, which wasm has.
        let mut rest = 0;
        for limb in limbs[..top].iter_mut().rev() {
            let high = rest << 32 | *limb >> 32;
            let low = (high % CHUNK) << 32 | *limb & 0xffff_ffff;
            *limb = ((high / CHUNK) << 32) | (low / CHUNK);
            rest = low % CHUNK;
        }
        for _ in 0..9 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if limbs[top - 1] == 0 {
            top -= 1;
        }
    }
    let mut rest = limbs[0];
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let first = digits[at..].iter().position(|digit| *digit != b'0').map_or(digits.len() - 1, |zeros| at + zeros);
    hex::push_ascii(out, &digits[first..]);
}

#[cfg(test)]
mod tests;
