//! The beginning of a hash, where a person looks something up. Never a pin: [`Pin`](crate::Pin) takes whole hashes.

use std::fmt;
use std::str::FromStr;

use crate::BundleHash;
use crate::names::shown;

/// The first digits of a hash: 4 to 64 of them.
///
/// ```
/// use nuthatch_registry::{BundleHash, HashPrefix};
///
/// let prefix: HashPrefix = "6437b3".parse()?;
/// let hashes = [BundleHash::of(b"abc"), BundleHash::of(b"abd")];
/// assert_eq!(prefix.find(hashes)?, BundleHash::of(b"abc"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashPrefix(String);

/// Text that is not the beginning of a hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the beginning of a hash: 4 to 64 lower-case hex digits")]
pub struct BadPrefix(pub String);

/// Why the beginning of a hash finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrefixError {
    /// No hash begins so.
    #[error("no bundle's hash begins with {0}")]
    None(HashPrefix),
    /// More than one does.
    #[error("{} and {} both begin with {prefix}; write more digits", .hashes[0], .hashes[1])]
    Ambiguous {
        /// The prefix.
        prefix: HashPrefix,
        /// Two of them.
        hashes: [BundleHash; 2],
    },
}

impl HashPrefix {
    /// Whether the hash begins so.
    pub fn matches(&self, hash: &BundleHash) -> bool {
        hash.to_string().starts_with(&self.0)
    }

    /// The one among these that begins so.
    pub fn find(&self, hashes: impl IntoIterator<Item = BundleHash>) -> Result<BundleHash, PrefixError> {
        let mut found = hashes.into_iter().filter(|hash| self.matches(hash));
        let first = found.next().ok_or_else(|| PrefixError::None(self.clone()))?;
        match found.find(|other| *other != first) {
            None => Ok(first),
            Some(other) => Err(PrefixError::Ambiguous { prefix: self.clone(), hashes: [first, other] }),
        }
    }
}

impl FromStr for HashPrefix {
    type Err = BadPrefix;

    fn from_str(text: &str) -> Result<Self, BadPrefix> {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        let hex = digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if hex && (4..=64).contains(&digits.len()) {
            Ok(HashPrefix(digits.to_owned()))
        } else {
            Err(BadPrefix(shown(text)))
        }
    }
}

impl fmt::Display for HashPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
