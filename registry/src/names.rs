//! Which texts may be names of SQL things, aliases and secrets.

/// Most characters in the name of a table, a column or a view.
pub const MAX_SQL_NAME: usize = 128;
/// Most characters in a contract's alias or a secret's name.
pub const MAX_SHORT_NAME: usize = 63;

fn word(text: &str, max: usize, first: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    text.len() <= max
        && bytes.next().is_some_and(first)
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Whether the text is a column name: `^[a-z_][a-z0-9_]*$`, at most [`MAX_SQL_NAME`] characters.
pub fn is_column_name(text: &str) -> bool {
    word(text, MAX_SQL_NAME, |b| b.is_ascii_lowercase() || b == b'_')
}

/// Whether the text may name a table or a view: as a column, but a leading underscore is kept for the host's own
/// tables (`_rejected`, `_status`).
pub fn is_relation_name(text: &str) -> bool {
    word(text, MAX_SQL_NAME, |b| b.is_ascii_lowercase())
}

/// Whether the text may be a contract's alias: `^[a-z][a-z0-9_]*$`, at most [`MAX_SHORT_NAME`] characters, without two
/// underscores in a row and none at the end, so that `alias__event` can be split in one way only.
pub fn is_alias(text: &str) -> bool {
    word(text, MAX_SHORT_NAME, |b| b.is_ascii_lowercase()) && !text.contains("__") && !text.ends_with('_')
}

/// Whether the text may name a secret: `^[a-z][a-z0-9_]*$`, at most [`MAX_SHORT_NAME`] characters.
pub fn is_secret_name(text: &str) -> bool {
    word(text, MAX_SHORT_NAME, |b| b.is_ascii_lowercase())
}

/// Foreign text, cut and escaped so that it can stand in a message.
pub(crate) fn shown(text: &str) -> String {
    text.escape_debug().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_words() {
        for good in ["a", "transfer", "usdc__transfer", "a1", &"x".repeat(128)] {
            assert!(is_relation_name(good), "{good}");
            assert!(is_column_name(good), "{good}");
        }
        for bad in ["", "A", "1a", "a-b", "a b", "a.b", "a\"", "é", "a\0", &"x".repeat(129)] {
            assert!(!is_relation_name(bad), "{bad}");
            assert!(!is_column_name(bad), "{bad}");
        }
        assert!(is_column_name("_from"));
        assert!(!is_relation_name("_rejected"));
    }

    #[test]
    fn an_alias_never_makes_a_table_name_ambiguous() {
        for good in ["usdc", "uniswap_v3", "a1", &"x".repeat(63)] {
            assert!(is_alias(good), "{good}");
        }
        for bad in ["", "a__b", "a_", "_a", "A", "a-b", &"x".repeat(64)] {
            assert!(!is_alias(bad), "{bad}");
        }
        assert!(is_secret_name("rpc_url"));
        assert!(!is_secret_name("RPC_URL"));
    }

    #[test]
    fn foreign_text_is_cut_and_escaped() {
        assert_eq!(shown("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert!(shown(&"y".repeat(10_000)).len() <= 80);
    }
}
