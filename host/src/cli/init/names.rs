//! Names that `init` makes up when none is given.

use std::path::Path;

use nuthatch_registry::NestName;

/// A table prefix from a contract's or file's name: `FiatTokenV2_2` becomes `fiat_token_v2_2`.
pub fn alias_of(name: &str) -> Option<String> {
    let mut alias = String::new();
    let mut before = ' ';
    for (place, c) in name.char_indices() {
        if !c.is_ascii_alphanumeric() {
            before = '_';
            continue;
        }
        let next_is_lower = name[place + 1..].chars().next().is_some_and(|next| next.is_ascii_lowercase());
        let word_begins = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && next_is_lower));
        if (word_begins || before == '_') && !alias.is_empty() {
            alias.push('_');
        }
        alias.push(c.to_ascii_lowercase());
        before = c;
    }
    let alias: String = alias.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_').chars().take(48).collect();
    (!alias.is_empty()).then(|| alias.trim_end_matches('_').to_owned())
}

/// The alias for an ABI file: its name without what build tools put behind it.
pub fn alias_of_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let stem = stem.strip_suffix(".abi").unwrap_or(stem);
    match stem.to_ascii_lowercase().as_str() {
        "abi" => None,
        _ => alias_of(stem),
    }
}

/// A nest name from any text.
pub fn nest_name_of(text: &str) -> Option<NestName> {
    let lower: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let trimmed = lower.trim_start_matches(|c: char| !c.is_ascii_lowercase()).trim_end_matches('-');
    trimmed.chars().take(63).collect::<String>().parse().ok()
}

/// The same name with a number behind it when it is taken.
pub fn unique(name: String, taken: &[String]) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let mut number = 2;
    while taken.contains(&format!("{name}{number}")) {
        number += 1;
    }
    format!("{name}{number}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn contract_names_become_snake_case() {
        for (name, alias) in [
            ("FiatTokenV2_2", "fiat_token_v2_2"),
            ("ERC20", "erc20"),
            ("OZ_ERC20Votes", "oz_erc20_votes"),
            ("UniswapV3Pool", "uniswap_v3_pool"),
            ("usdc", "usdc"),
            ("_My-Token", "my_token"),
            ("3Pool", "pool"),
        ] {
            assert_eq!(alias_of(name).unwrap(), alias, "{name}");
        }
        assert_eq!(alias_of("123"), None);
        assert_eq!(alias_of("ü"), None);
    }

    #[test]
    fn file_names_lose_their_endings_and_say_nothing_when_they_are_just_abi() {
        assert_eq!(alias_of_file(Path::new("x/USDC.abi.json")).unwrap(), "usdc");
        assert_eq!(alias_of_file(Path::new("IPool.json")).unwrap(), "i_pool");
        assert_eq!(alias_of_file(Path::new("x/abi.json")), None);
    }

    #[test]
    fn nest_names_are_made_valid() {
        assert_eq!(nest_name_of("My Nest_2").unwrap().as_str(), "my-nest-2");
        assert_eq!(nest_name_of("2024-usdc").unwrap().as_str(), "usdc");
        assert_eq!(nest_name_of("---"), None);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let taken = ["pool".to_owned(), "pool2".to_owned()];
        assert_eq!(unique("pool".to_owned(), &taken), "pool3");
        assert_eq!(unique("pair".to_owned(), &taken), "pair");
    }
}
