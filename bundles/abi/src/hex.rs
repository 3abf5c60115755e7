//! Hex, both ways, lower case.

use std::fmt::Write as _;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends `0x` and two digits a byte.
pub fn push(out: &mut String, bytes: &[u8]) {
    out.reserve(2 + bytes.len() * 2);
    out.push_str("0x");
    push_digits(out, bytes);
}

/// Appends two digits a byte.
pub fn push_digits(out: &mut String, bytes: &[u8]) {
    let mut digits = [0; 64];
    for chunk in bytes.chunks(32) {
        for (pair, byte) in digits.chunks_exact_mut(2).zip(chunk) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        push_ascii(out, &digits[..chunk.len() * 2]);
    }
}

/// The digit of the lower half of a byte.
pub fn digit(byte: u8) -> char {
    char::from(DIGITS[usize::from(byte & 15)])
}

/// Appends ASCII, in one piece: pushing character by character costs more than the look at all of them.
pub fn push_ascii(out: &mut String, ascii: &[u8]) {
    debug_assert!(ascii.is_ascii());
    if let Ok(text) = std::str::from_utf8(ascii) {
        out.push_str(text);
    }
}

/// `0x` and two digits a byte.
pub fn text(bytes: &[u8]) -> String {
    let mut out = String::new();
    push(&mut out, bytes);
    out
}

/// An address: `0x` and forty digits of either case.
pub fn address(text: &str) -> Option<[u8; 20]> {
    let digits = text.strip_prefix("0x")?.as_bytes();
    let mut address = [0; 20];
    if digits.len() != 40 {
        return None;
    }
    for (byte, pair) in address.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(address)
}

/// Appends a code point as `u` and its hex digits, for names.
pub fn push_code_point(out: &mut String, point: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "u{:x}", u32::from(point));
}
