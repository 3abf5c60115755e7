//! Strings of a chain, which may hold any bytes, as text that every store and reader takes.

/// What stands for bytes that are not UTF-8, and for NUL.
const REPLACEMENT: char = '\u{fffd}';

/// Hands out the text piece by piece, with U+FFFD for each ill-formed sequence and each NUL. Says whether any was.
pub fn safe(bytes: &[u8], mut piece: impl FnMut(&str)) -> bool {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !bytes.contains(&0)
    {
        piece(text);
        return false;
    }
    let mut altered = false;
    let replacement = REPLACEMENT.encode_utf8(&mut [0; 4]).to_owned();
    for chunk in bytes.utf8_chunks() {
        for (place, part) in chunk.valid().split('\0').enumerate() {
            if place > 0 {
                piece(&replacement);
                altered = true;
            }
            piece(part);
        }
        if !chunk.invalid().is_empty() {
            piece(&replacement);
            altered = true;
        }
    }
    altered
}

#[cfg(test)]
mod tests {
    use super::safe;

    fn text(bytes: &[u8]) -> (String, bool) {
        let mut out = String::new();
        let altered = safe(bytes, |piece| out.push_str(piece));
        (out, altered)
    }

    #[test]
    fn good_text_is_left_alone() {
        for good in ["", "abc", "héllo 🌍 \u{202e} rtl \u{feff}", "\u{1}\u{7f}\u{fffd}"] {
            assert_eq!(text(good.as_bytes()), (good.to_owned(), false));
        }
    }

    #[test]
    fn bad_sequences_and_nul_are_replaced_one_by_one() {
        for (bytes, wanted) in [
            (&b"\xff\xfe\x80"[..], "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xc0\xaf", "\u{fffd}\u{fffd}"),
            (b"abc\xe2\x82", "abc\u{fffd}"),
            (b"\xe2\x82abc", "\u{fffd}abc"),
            (b"\0", "\u{fffd}"),
            (b"a\0\0b", "a\u{fffd}\u{fffd}b"),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(text(bytes), (wanted.to_owned(), true), "{bytes:x?}");
        }
    }
}
