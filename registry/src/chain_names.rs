//! Names of well-known chains, so that a nest can say `mainnet` for `eip155:1`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::names::shown;

/// A chain by its EIP-155 id. Shown by name where the name is known, else as `eip155:<id>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chain(pub u64);

/// Ids with their names; the first name is the one that is shown.
const KNOWN: &[(u64, &[&str])] = &[
    (1, &["mainnet", "ethereum"]),
    (10, &["optimism", "op-mainnet"]),
    (25, &["cronos"]),
    (30, &["rootstock"]),
    (40, &["telos"]),
    (56, &["bsc", "bnb"]),
    (100, &["gnosis", "xdai"]),
    (122, &["fuse"]),
    (130, &["unichain"]),
    (137, &["polygon", "matic"]),
    (146, &["sonic"]),
    (204, &["opbnb"]),
    (250, &["fantom"]),
    (252, &["fraxtal"]),
    (288, &["boba"]),
    (324, &["zksync", "zksync-era"]),
    (480, &["world-chain"]),
    (1088, &["metis"]),
    (1101, &["polygon-zkevm"]),
    (1284, &["moonbeam"]),
    (1285, &["moonriver"]),
    (1329, &["sei"]),
    (1337, &["geth-dev"]),
    (2020, &["ronin"]),
    (2741, &["abstract"]),
    (5000, &["mantle"]),
    (8217, &["kaia", "klaytn"]),
    (8453, &["base"]),
    (10200, &["chiado"]),
    (17000, &["holesky"]),
    (31337, &["anvil", "dev", "hardhat"]),
    (33139, &["apechain"]),
    (34443, &["mode"]),
    (42161, &["arbitrum", "arbitrum-one"]),
    (42170, &["arbitrum-nova"]),
    (42220, &["celo"]),
    (43113, &["fuji"]),
    (43114, &["avalanche"]),
    (57073, &["ink"]),
    (59144, &["linea"]),
    (80002, &["amoy"]),
    (80094, &["berachain"]),
    (81457, &["blast"]),
    (84532, &["base-sepolia"]),
    (167000, &["taiko"]),
    (421614, &["arbitrum-sepolia"]),
    (534352, &["scroll"]),
    (560048, &["hoodi"]),
    (7777777, &["zora"]),
    (11155111, &["sepolia"]),
    (11155420, &["optimism-sepolia"]),
    (1313161554, &["aurora"]),
];

impl Chain {
    /// The name, where there is one.
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(id, _)| *id == self.0).map(|(_, names)| names[0])
    }

    /// All known names, for suggestions and completion.
    pub fn known_names() -> impl Iterator<Item = (&'static str, Chain)> {
        KNOWN.iter().flat_map(|(id, names)| names.iter().map(|name| (*name, Chain(*id))))
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "eip155:{}", self.0),
        }
    }
}

/// Text that names no chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a chain: {hint}")]
pub struct UnknownChain {
    text: String,
    hint: String,
}

impl FromStr for Chain {
    type Err = UnknownChain;

    fn from_str(text: &str) -> Result<Self, UnknownChain> {
        if let Some((_, chain)) = Chain::known_names().find(|(name, _)| *name == text) {
            return Ok(chain);
        }
        let error = |hint: String| UnknownChain { text: shown(text), hint };
        match text.strip_prefix("eip155:") {
            Some(digits) => id(digits)
                .map(Chain)
                .ok_or_else(|| error("after 'eip155:' stands the chain id, 1 to 18446744073709551615".to_owned())),
            None if id(text).is_some() => Err(error(format!("write 'eip155:{text}'"))),
            None => Err(error(match nearest(text) {
                Some(name) => format!("did you mean '{name}'? Any chain can be written as eip155:<chain id>"),
                None => "write a known name such as mainnet, base or arbitrum, or eip155:<chain id>".to_owned(),
            })),
        }
    }
}

impl<'de> Deserialize<'de> for Chain {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

fn id(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

fn nearest(text: &str) -> Option<&'static str> {
    if text.len() > 40 {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    Chain::known_names()
        .map(|(name, _)| (edit_distance(&lower, name), name))
        .filter(|(distance, name)| *distance <= name.len() / 3)
        .min()
        .map(|(_, name)| name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_ids_are_each_others() {
        for (name, id) in [
            ("mainnet", 1),
            ("optimism", 10),
            ("bsc", 56),
            ("gnosis", 100),
            ("polygon", 137),
            ("base", 8453),
            ("arbitrum", 42161),
            ("avalanche", 43114),
            ("sepolia", 11155111),
            ("holesky", 17000),
            ("linea", 59144),
            ("scroll", 534352),
            ("zksync", 324),
            ("blast", 81457),
            ("anvil", 31337),
        ] {
            assert_eq!(name.parse::<Chain>().unwrap(), Chain(id));
            assert_eq!(Chain(id).to_string(), name);
            assert_eq!(format!("eip155:{id}").parse::<Chain>().unwrap(), Chain(id));
        }
        assert_eq!("dev".parse::<Chain>().unwrap(), Chain(31337));
        assert_eq!(Chain(987654).to_string(), "eip155:987654");
        assert_eq!(Chain(u64::MAX).to_string().parse::<Chain>().unwrap(), Chain(u64::MAX));
    }

    #[test]
    fn no_name_or_id_stands_twice() {
        let names: Vec<_> = Chain::known_names().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let ids: Vec<_> = KNOWN.iter().map(|(id, _)| id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "ids are sorted and each stands once");
    }

    #[test]
    fn what_is_not_a_chain_is_refused_with_a_way_out() {
        let message = |text: &str| text.parse::<Chain>().unwrap_err().to_string();
        assert!(message("1").contains("eip155:1"));
        assert!(message("arbitrun").contains("'arbitrum'"));
        assert!(message("Mainnet").contains("'mainnet'"));
        assert!(message("nowhere-at-all").contains("eip155:<chain id>"));
        for bad in ["", "eip155:", "eip155:0", "eip155:01", "eip155:+1", "eip155:18446744073709551616", "solana:1"] {
            assert!(bad.parse::<Chain>().is_err(), "{bad}");
        }
    }
}
