//! What is pulled.

use std::str::FromStr;

use super::{BadPin, Pin};
use crate::BundleHash;

/// What `pull` takes: a pin, or a hash alone.
///
/// ```
/// use nuthatch_registry::{BundleHash, Pin, PullTarget};
///
/// let hash = BundleHash::of(b"abc");
/// assert_eq!(hash.to_string().parse(), Ok(PullTarget::Hash(hash)));
/// assert_eq!("usdc".parse(), Ok(PullTarget::Pin(Pin::latest("usdc".parse().unwrap()))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullTarget {
    /// `NAME`, `NAME@VERSION` or `NAME@HASH`.
    Pin(Pin),
    /// A bundle by address. What its nest is called stands in its manifest.
    Hash(BundleHash),
}

impl FromStr for PullTarget {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        // A name has at most 63 characters, so no text is both.
        if let Ok(hash) = text.parse() {
            return Ok(PullTarget::Hash(hash));
        }
        text.parse().map(PullTarget::Pin)
    }
}
