//! The addresses of things: BLAKE3 hashes and nest names as types.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Text that is not 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a hash: 64 lower-case hex digits are expected, with or without 0x in front")]
pub struct BadHash(pub String);

fn parse_hash(text: &str) -> Result<[u8; 32], BadHash> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let bad = || BadHash(text.chars().take(80).collect());
    if digits.len() != 64 || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return Err(bad());
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(digits, &mut bytes).map_err(|_| bad())?;
    Ok(bytes)
}

macro_rules! hash_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub [u8; 32]);

        impl $name {
            /// The 32 bytes.
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = BadHash;

            fn from_str(text: &str) -> Result<Self, BadHash> {
                parse_hash(text).map($name)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

hash_type! {
    /// The address of a bundle: BLAKE3 of the file's bytes.
    BundleHash
}

hash_type! {
    /// BLAKE3 over all of a bundle that can change decoded rows.
    DataIdentity
}

hash_type! {
    /// BLAKE3 of a file's bytes.
    ContentHash
}

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        ContentHash(*blake3::hash(bytes).as_bytes())
    }
}

impl BundleHash {
    /// The address of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        BundleHash(*blake3::hash(bytes).as_bytes())
    }
}

/// A nest's name: `^[a-z][a-z0-9-]{0,62}$`, so that it can be a folder, a URL segment and a metric label as it is.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct NestName(String);

/// Text that is not a nest name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a nest name: a lower-case letter, then up to 62 lower-case letters, digits and hyphens")]
pub struct BadName(pub String);

impl NestName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NestName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let mut bytes = text.bytes();
        let head = bytes.next().is_some_and(|b| b.is_ascii_lowercase());
        let tail = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if head && tail && text.len() <= 63 {
            Ok(NestName(text.to_owned()))
        } else {
            Err(BadName(text.escape_debug().take(80).collect()))
        }
    }
}

impl fmt::Display for NestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for NestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NestName({})", self.0)
    }
}

impl<'de> Deserialize<'de> for NestName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
