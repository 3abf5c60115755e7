//! How names of an ABI become names in SQL. The rules are written out in this crate's README: a change of any of them
//! renames columns of nests that people query.

mod reserved;

use crate::hex;
use crate::keccak::keccak;

/// Characters in a table's or column's name, at most; companions such as `__raw` come on top.
pub const MAX_NAME: usize = 63;

/// Lower-case words joined by `_`. Empty where the name holds no letter or digit.
pub fn snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    let mut before = None;
    for (place, &char) in chars.iter().enumerate() {
        if !char.is_ascii() {
            break_word(&mut snake);
            hex::push_code_point(&mut snake, char);
            before = None;
            if chars.get(place + 1).is_some_and(char::is_ascii_alphanumeric) {
                snake.push('_');
            }
            continue;
        }
        if !char.is_ascii_alphanumeric() {
            break_word(&mut snake);
            before = None;
            continue;
        }
        if before.is_some_and(|before| starts_word(before, char, &chars[place + 1..])) {
            break_word(&mut snake);
        }
        snake.push(char.to_ascii_lowercase());
        before = Some(char);
    }
    let mut snake = snake.trim_end_matches('_').to_owned();
    if snake.starts_with(|first: char| first.is_ascii_digit()) {
        snake.insert(0, '_');
    }
    snake
}

fn break_word(snake: &mut String) {
    if !snake.is_empty() && !snake.ends_with('_') {
        snake.push('_');
    }
}

fn starts_word(before: char, char: char, after: &[char]) -> bool {
    if !char.is_ascii_uppercase() {
        return false;
    }
    if !before.is_ascii_uppercase() {
        return true;
    }
    // The last capital of a run begins the next word, unless a lone `s` makes the run a plural: `tokenIDs`.
    let lower = |place: usize| after.get(place).is_some_and(char::is_ascii_lowercase);
    lower(0) && (after[0] != 's' || lower(1))
}

/// Cut to `max` characters: what is cut is told apart by the hash of `whole`.
pub fn cut(name: &str, max: usize, whole: &str) -> String {
    if name.len() <= max {
        return name.to_owned();
    }
    let mut hash = String::from("_");
    hex::push_digits(&mut hash, &keccak(whole.as_bytes())[..4]);
    let kept = name[..max.saturating_sub(hash.len())].trim_end_matches('_');
    format!("{kept}{hash}")
}

/// Names of the columns of an event, by parameter: its name and whether the column holds the hash of a value instead of
/// the value.
pub fn columns<'a>(params: impl Iterator<Item = (&'a str, bool)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (place, (param, hashed)) in params.enumerate() {
        let mut name = snake(param);
        if name.is_empty() {
            name = format!("arg{place}");
        }
        // Room for `_hash`, `_` and a number.
        name = cut(&name, MAX_NAME - 10, param);
        if hashed {
            name.push_str("_hash");
        }
        if reserved::is_reserved(&name) {
            name.push('_');
        }
        let mut number = 2;
        let mut free = name.clone();
        while names.contains(&free) {
            free = format!("{}_{number}", name.trim_end_matches('_'));
            number += 1;
        }
        names.push(free);
    }
    names
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn named(params: &[&str]) -> Vec<String> {
        columns(params.iter().map(|name| (*name, false)))
    }

    #[test]
    fn words_are_found_as_people_read_them() {
        for (name, wanted) in [
            ("Transfer", "transfer"),
            ("sqrtPriceX96", "sqrt_price_x96"),
            ("amount0In", "amount0_in"),
            ("tokenID", "token_id"),
            ("tokenIDs", "token_ids"),
            ("NFTsMinted", "nfts_minted"),
            ("URLSafe", "url_safe"),
            ("ERC20Token", "erc20_token"),
            ("isDAIBatch", "is_dai_batch"),
            ("already_snake", "already_snake"),
            ("_value", "value"),
            ("__x__y__", "x_y"),
            ("$amount", "amount"),
            ("s$1_", "s_1"),
            ("A", "a"),
            ("VALUE", "value"),
            ("0xThing", "_0x_thing"),
            ("größe", "gr_uf6_udf_e"),
            ("日本", "u65e5_u672c"),
            ("a b;--\"'\0", "a_b"),
            ("_", ""),
            ("", ""),
        ] {
            assert_eq!(snake(name), wanted, "{name}");
        }
    }

    #[test]
    fn reserved_and_provenance_names_get_an_underscore() {
        assert_eq!(named(&["from", "to", "value"]), ["from_", "to_", "value"]);
        assert_eq!(
            named(&["from", "to", "select", "group", "block_number", "_seq", "address", "User", "txHash", "log_index"]),
            [
                "from_",
                "to_",
                "select_",
                "group_",
                "block_number_",
                "seq",
                "address_",
                "user_",
                "tx_hash_",
                "log_index_"
            ],
        );
    }

    #[test]
    fn names_that_meet_are_numbered_by_position() {
        assert_eq!(named(&["value", "Value", "VALUE"]), ["value", "value_2", "value_3"]);
        assert_eq!(named(&["from", "From"]), ["from_", "from_2"]);
        assert_eq!(named(&["a", "a_2", "A"]), ["a", "a_2", "a_3"]);
        assert_eq!(named(&["", "x", ""]), ["arg0", "x", "arg2"]);
        assert_eq!(named(&["arg1", ""]), ["arg1", "arg1_2"]);
    }

    #[test]
    fn a_hashed_value_says_so() {
        let names = columns([("from", true), ("s", true), ("s_hash", false)].into_iter());
        assert_eq!(names, ["from_hash", "s_hash", "s_hash_2"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let (one, two) = ("a".repeat(200), format!("{}b", "a".repeat(199)));
        let names = named(&[&one, &two]);
        assert!(names.iter().all(|name| name.len() <= MAX_NAME), "{names:?}");
        assert_ne!(names[0], names[1]);
        assert!(names[0].starts_with("aaaa") && !names[0].contains("_2"), "{names:?}");
    }
}
