#![allow(clippy::unwrap_used)]

use super::*;

fn shown(ty: Word, word: [u8; 32]) -> String {
    let mut out = String::new();
    JsonSink::new(&mut out).word(ty, &word);
    out
}

fn word(value: u128) -> [u8; 32] {
    let mut word = [0; 32];
    word[16..].copy_from_slice(&value.to_be_bytes());
    word
}

#[test]
fn integers_are_exact_decimal_strings() {
    let mut powers = vec![0, 1, 9, 10, 999_999_999, 1_000_000_000, u128::from(u64::MAX), u128::from(u64::MAX) + 1];
    powers.extend((0..38).flat_map(|digits| [10u128.pow(digits), 10u128.pow(digits) - 1, 10u128.pow(digits) + 1]));
    powers.push(u128::MAX);
    for value in powers {
        assert_eq!(shown(Word::Uint(256), word(value)), format!("\"{value}\""));
        let mut negative = word(value);
        negative.iter_mut().for_each(|byte| *byte = !*byte);
        // Two's complement: not of the value is minus the value, minus one.
        assert_eq!(shown(Word::Int(256), negative), format!("\"-{}\"", plus_one(value)));
    }
    assert_eq!(
        shown(Word::Uint(256), [0xff; 32]),
        "\"115792089237316195423570985008687907853269984665640564039457584007913129639935\""
    );
    let mut lowest = [0; 32];
    lowest[0] = 0x80;
    assert_eq!(
        shown(Word::Int(256), lowest),
        "\"-57896044618658097711785492504343953926634992332820282019728792003956564819968\""
    );
}

fn plus_one(value: u128) -> String {
    value.checked_add(1).map_or("340282366920938463463374607431768211456".to_owned(), |sum| sum.to_string())
}

#[test]
fn strings_survive_a_json_parser() {
    let every: String = (1u8..0x80).map(char::from).chain("é🌍\u{2028}".chars()).collect();
    let mut out = String::new();
    let mut sink = JsonSink::new(&mut out);
    sink.string(every.as_bytes());
    assert!(!sink.altered);
    assert_eq!(serde_json::from_str::<String>(&out).unwrap(), every);
    assert_eq!(out, serde_json::to_string(&every).unwrap().replace("\\b", "\\u0008").replace("\\f", "\\u000c"));

    let mut out = String::new();
    let mut sink = JsonSink::new(&mut out);
    sink.string(b"a\0\xff\"");
    assert!(sink.altered);
    assert_eq!(out, "\"a\u{fffd}\u{fffd}\\\"\"");
}
