//! Contract addresses as authors write them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::names::shown;

/// A contract's address. Read in any letter case, with the EIP-55 checksum verified where the cases are mixed; written
/// in lower case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContractAddress(pub [u8; 20]);

/// Text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// Not `0x` and 40 hex digits.
    #[error("'{0}' is not an address: '0x' and 40 hex digits are expected")]
    Form(String),
    /// The letters' case does not match the digits.
    #[error(
        "the address {given} fails its EIP-55 checksum, so it may be mistyped: check it at its source, then write \
         {expected}, or all lower case to skip the check"
    )]
    Checksum {
        /// As written.
        given: String,
        /// The same digits with the right case.
        expected: String,
    },
}

impl FromStr for ContractAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let form = || BadAddress::Form(shown(text));
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40).ok_or_else(form)?;
        let mut bytes = [0; 20];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| form())?;
        let mixed = digits.bytes().any(|b| b.is_ascii_lowercase()) && digits.bytes().any(|b| b.is_ascii_uppercase());
        if mixed {
            let expected = alloy_primitives::Address::from(bytes).to_checksum(None);
            if expected != text {
                return Err(BadAddress::Checksum { given: text.to_owned(), expected });
            }
        }
        Ok(ContractAddress(bytes))
    }
}

impl fmt::Display for ContractAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0))
    }
}

impl fmt::Debug for ContractAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContractAddress({self})")
    }
}

impl Serialize for ContractAddress {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContractAddress {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const USDC: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

    #[test]
    fn any_case_is_read_and_lower_case_is_written() {
        let lower = USDC.to_lowercase();
        let upper = format!("0x{}", USDC[2..].to_uppercase());
        for text in [USDC, &lower, &upper] {
            assert_eq!(text.parse::<ContractAddress>().unwrap().to_string(), lower);
        }
    }

    #[test]
    fn mixed_case_must_match_the_checksum() {
        // Vectors of EIP-55.
        for good in [
            "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
            "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
            "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        ] {
            assert!(good.parse::<ContractAddress>().is_ok(), "{good}");
        }
        let wrong = USDC.replace("A0b8", "a0B8");
        let error = wrong.parse::<ContractAddress>().unwrap_err();
        assert_eq!(error, BadAddress::Checksum { given: wrong, expected: USDC.to_owned() });
    }

    #[test]
    fn other_forms_are_refused() {
        let short = &USDC[..41];
        let bare = &USDC[2..];
        let long = format!("{USDC}0");
        let letter = USDC.replace("A0b8", "G0b8");
        let capital_x = USDC.replace("0x", "0X");
        for bad in ["", "0x", short, bare, &long, &letter, &capital_x, " 0x", "vitalik.eth"] {
            assert!(matches!(bad.parse::<ContractAddress>(), Err(BadAddress::Form(_))), "{bad}");
        }
    }
}
