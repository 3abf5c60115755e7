//! What a user writes to name a bundle: `NAME`, `NAME@VERSION` or `NAME@HASH`.

mod prefix;
mod target;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use semver::Version;

pub use prefix::{BadPrefix, HashPrefix, PrefixError};
pub use target::PullTarget;

use crate::names::shown;
use crate::{BadName, BundleHash, MAX_VERSION, NestName, Pick};

/// A nest, and which of its bundles. Only [`Want::Hash`] pins: the other two are asked of a registry once, and what is
/// kept is the hash that it answered.
///
/// ```
/// use nuthatch_registry::{Pin, Want};
///
/// let pin: Pin = "usdc@1.3.0".parse()?;
/// assert_eq!(pin.name.as_str(), "usdc");
/// assert!(matches!(pin.want, Want::Version(version) if version.minor == 3));
/// assert!("usdc@6437b3ac".parse::<Pin>().is_err(), "the beginning of a hash is no pin");
/// # Ok::<(), nuthatch_registry::BadPin>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// The nest.
    pub name: NestName,
    /// Which bundle of it.
    pub want: Want,
}

/// Which bundle of a nest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// The highest version that is neither a pre-release nor yanked.
    Latest,
    /// This version.
    Version(Version),
    /// This bundle, whatever any registry says about names and versions (I12).
    Hash(BundleHash),
}

/// Text that is not a pin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPin {
    /// What stands before the `@` is no name.
    #[error("{0}; write NAME, NAME@VERSION or NAME@HASH")]
    Name(#[from] BadName),
    /// The beginning of a hash.
    #[error(
        "'{0}' is only the beginning of a hash; a pin needs all 64 digits, which 'nuthatch bundle list NAME' shows"
    )]
    ShortHash(String),
    /// What stands behind the `@` is neither a version nor a hash.
    #[error("'{0}' is neither a version such as 1.3.0 nor a hash of 64 lower-case hex digits")]
    Want(String),
}

impl Want {
    /// What to ask a registry; nothing where the hash is known already, and then nothing is asked (I12).
    pub fn pick(&self) -> Option<Pick> {
        match self {
            Want::Latest => Some(Pick::Latest),
            Want::Version(version) => Some(Pick::Exact(version.clone())),
            Want::Hash(_) => None,
        }
    }
}

impl Pin {
    /// The newest version of a nest.
    pub fn latest(name: NestName) -> Self {
        Pin { name, want: Want::Latest }
    }

    /// A nest by hash.
    pub fn of(name: NestName, hash: BundleHash) -> Self {
        Pin { name, want: Want::Hash(hash) }
    }
}

/// Whether the text could have been meant as a hash: hex digits alone, and some of them no number.
fn looks_like_hash(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    (4..64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

impl FromStr for Pin {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        let Some((name, want)) = text.split_once('@') else {
            return Ok(Pin::latest(text.parse()?));
        };
        let name = name.parse()?;
        if let Ok(hash) = want.parse() {
            return Ok(Pin { name, want: Want::Hash(hash) });
        }
        match parse_version(want) {
            Some(version) => Ok(Pin { name, want: Want::Version(version) }),
            None if looks_like_hash(want) => Err(BadPin::ShortHash(want.to_owned())),
            None => Err(BadPin::Want(shown(want))),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.want {
            Want::Latest => write!(f, "{}", self.name),
            Want::Version(version) => write!(f, "{}@{version}", self.name),
            Want::Hash(hash) => write!(f, "{}@{hash}", self.name),
        }
    }
}

/// A version as nests have them: at most [`MAX_VERSION`] characters, no build metadata, one spelling.
pub(crate) fn parse_version(text: &str) -> Option<Version> {
    if text.len() > MAX_VERSION {
        return None;
    }
    Version::parse(text).ok().filter(|version| version.build.is_empty() && version.to_string() == text)
}
