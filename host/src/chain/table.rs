//! What is known about each chain beforehand.

use std::time::Duration;

use crate::model::ChainId;

/// How a chain comes to final blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finality {
    /// Whether nodes answer for the `finalized` tag.
    pub tag: bool,
    /// Blocks under the head that are never replaced. Used where there is no tag.
    pub depth: u64,
}

/// A chain's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSpec {
    /// Id.
    pub id: ChainId,
    /// Known name, else `eip155:<id>`.
    pub name: String,
    /// Finality.
    pub finality: Finality,
    /// Time between two looks at the head.
    pub poll: Duration,
    /// Blocks of about 30 days, a power of two. Part of the segment format: never changed for a chain.
    pub span: u64,
    /// Whether an empty answer at the tip is held against the header's bloom. Off where blooms are known not to cover
    /// all logs.
    pub bloom: bool,
}

struct Row {
    id: u64,
    name: &'static str,
    tag: bool,
    depth: u64,
    poll_ms: u64,
    span_log2: u32,
    bloom: bool,
}

const fn row(id: u64, name: &'static str, finality: (bool, u64), poll_ms: u64, span_log2: u32, bloom: bool) -> Row {
    Row { id, name, tag: finality.0, depth: finality.1, poll_ms, span_log2, bloom }
}

const TAG: bool = true;
const NO_TAG: bool = false;
const BLOOM: bool = true;
/// The chain writes logs that its blooms leave out, or no blooms at all.
const NO_BLOOM: bool = false;

const KNOWN: &[Row] = &[
    row(1, "mainnet", (TAG, 96), 3_000, 18, BLOOM),
    row(11_155_111, "sepolia", (TAG, 96), 3_000, 18, BLOOM),
    row(17_000, "holesky", (TAG, 96), 3_000, 18, BLOOM),
    row(560_048, "hoodi", (TAG, 96), 3_000, 18, BLOOM),
    row(10, "optimism", (TAG, 1_800), 1_000, 20, BLOOM),
    row(56, "bsc", (TAG, 64), 750, 22, BLOOM),
    row(100, "gnosis", (TAG, 96), 2_000, 19, BLOOM),
    row(130, "unichain", (TAG, 3_600), 1_000, 21, BLOOM),
    row(137, "polygon", (TAG, 512), 1_000, 20, NO_BLOOM),
    row(146, "sonic", (NO_TAG, 32), 500, 22, BLOOM),
    row(250, "fantom", (NO_TAG, 32), 1_000, 21, BLOOM),
    row(324, "zksync", (TAG, 3_600), 1_000, 21, NO_BLOOM),
    row(480, "worldchain", (TAG, 1_800), 1_000, 20, BLOOM),
    row(1_101, "polygon-zkevm", (TAG, 1_800), 2_000, 20, NO_BLOOM),
    row(5_000, "mantle", (TAG, 1_800), 1_000, 20, BLOOM),
    row(8_453, "base", (TAG, 1_800), 1_000, 20, BLOOM),
    row(31_337, "anvil", (TAG, 64), 250, 18, BLOOM),
    row(42_161, "arbitrum", (TAG, 7_200), 500, 23, BLOOM),
    row(42_170, "arbitrum-nova", (TAG, 7_200), 500, 23, BLOOM),
    row(421_614, "arbitrum-sepolia", (TAG, 7_200), 500, 23, BLOOM),
    row(42_220, "celo", (TAG, 3_600), 1_000, 21, NO_BLOOM),
    row(43_114, "avalanche", (TAG, 32), 1_000, 20, BLOOM),
    row(57_073, "ink", (TAG, 3_600), 1_000, 21, BLOOM),
    row(59_144, "linea", (TAG, 3_600), 1_000, 20, BLOOM),
    row(80_094, "berachain", (TAG, 32), 1_000, 20, BLOOM),
    row(81_457, "blast", (TAG, 1_800), 1_000, 20, BLOOM),
    row(84_532, "base-sepolia", (TAG, 1_800), 1_000, 20, BLOOM),
    row(534_352, "scroll", (TAG, 1_200), 2_000, 20, BLOOM),
    row(11_155_420, "optimism-sepolia", (TAG, 1_800), 1_000, 20, BLOOM),
];

/// A chain name that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a known chain; write a known name such as mainnet, or eip155:<chain id>")]
pub struct UnknownChain(pub String);

impl ChainSpec {
    /// The settings of a chain. One that is not in the table gets cautious ones.
    pub fn of(id: ChainId) -> Self {
        let unknown = Row { id: id.0, name: "", tag: TAG, depth: 256, poll_ms: 1_000, span_log2: 20, bloom: BLOOM };
        let row = KNOWN.iter().find(|row| row.id == id.0).unwrap_or(&unknown);
        let name = if row.name.is_empty() { format!("eip155:{id}") } else { row.name.to_owned() };
        ChainSpec {
            id,
            name,
            finality: Finality { tag: row.tag, depth: row.depth },
            poll: Duration::from_millis(row.poll_ms),
            span: 1 << row.span_log2,
            bloom: row.bloom,
        }
    }

    /// The settings of a chain by known name, `eip155:<id>` or plain id.
    pub fn parse(text: &str) -> Result<Self, UnknownChain> {
        let by_name = KNOWN.iter().find(|row| row.name == text).map(|row| row.id);
        let by_alias = matches!(text, "ethereum").then_some(1);
        let by_number = || {
            let digits = text.strip_prefix("eip155:").unwrap_or(text);
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
            plain.then(|| digits.parse().ok()).flatten()
        };
        match by_name.or(by_alias).or_else(by_number) {
            Some(id) => Ok(ChainSpec::of(ChainId(id))),
            None => Err(UnknownChain(text.chars().take(64).collect())),
        }
    }

    /// All known names, for messages and completion.
    pub fn known_names() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|row| row.name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ids_and_names_are_unique() {
        let ids: std::collections::BTreeSet<_> = KNOWN.iter().map(|row| row.id).collect();
        let names: std::collections::BTreeSet<_> = ChainSpec::known_names().collect();
        assert_eq!((ids.len(), names.len()), (KNOWN.len(), KNOWN.len()));
    }

    #[test]
    fn names_numbers_and_unknown_chains_parse() {
        assert_eq!(ChainSpec::parse("mainnet").unwrap().id, ChainId(1));
        assert_eq!(ChainSpec::parse("eip155:137").unwrap().name, "polygon");
        assert_eq!(ChainSpec::parse("31337").unwrap().name, "anvil");
        let other = ChainSpec::parse("eip155:424242").unwrap();
        assert_eq!((other.name.as_str(), other.span), ("eip155:424242", 1 << 20));
        for bad in ["", "eip155:", "main net", "0x1", "-1", "01", "99999999999999999999999"] {
            assert!(ChainSpec::parse(bad).is_err(), "{bad}");
        }
    }
}
