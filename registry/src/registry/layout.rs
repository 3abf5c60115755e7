//! Where a registry keeps what.

use std::fmt;

use semver::Version;

use crate::pin::parse_version;
use crate::{BundleHash, NestName};

/// One object of a registry. Its text is its path, made of checked parts only.
///
/// ```
/// use nuthatch_registry::Key;
///
/// let key = Key::Version("usdc".parse()?, "1.3.0".parse()?);
/// assert_eq!(key.to_string(), "v1/nests/usdc/versions/1.3.0.json");
/// assert_eq!(Key::Notice("usdc".parse()?, 7).to_string(), "v1/nests/usdc/notices/00000007.json");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A bundle's file.
    Bundle(BundleHash),
    /// The record of a version.
    Version(NestName, Version),
    /// A notice, by number.
    Notice(NestName, u32),
}

/// What can be listed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shelf {
    /// The bundles: hashes.
    Bundles,
    /// The nests: names.
    Nests,
    /// The versions of a nest: `<version>.json`.
    Versions(NestName),
    /// The notices about a nest: `<seq>.json`.
    Notices(NestName),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bundle(hash) => write!(f, "{}/{hash}", Shelf::Bundles),
            Key::Version(name, version) => write!(f, "{}/{name}/versions/{version}.json", Shelf::Nests),
            Key::Notice(name, seq) => write!(f, "{}/{name}/notices/{seq:08}.json", Shelf::Nests),
        }
    }
}

impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shelf::Bundles => f.write_str("v1/bundles"),
            Shelf::Nests => f.write_str("v1/nests"),
            Shelf::Versions(name) => write!(f, "v1/nests/{name}/versions"),
            Shelf::Notices(name) => write!(f, "v1/nests/{name}/notices"),
        }
    }
}

/// The version that a name on [`Shelf::Versions`] stands for, if it is one that a registry writes.
pub(super) fn version_of(file: &str) -> Option<Version> {
    parse_version(file.strip_suffix(".json")?)
}

/// The number that a name on [`Shelf::Notices`] stands for, if it is one that a registry writes.
pub(super) fn seq_of(file: &str) -> Option<u32> {
    let digits = file.strip_suffix(".json")?;
    let seq: u32 = digits.parse().ok()?;
    (seq > 0 && format!("{seq:08}") == digits).then_some(seq)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_of_other_files_stand_for_nothing() {
        assert_eq!(version_of("1.3.0.json"), Some(Version::new(1, 3, 0)));
        assert_eq!(version_of("2.0.0-rc.1.json").unwrap().to_string(), "2.0.0-rc.1");
        for other in ["", ".json", "1.3.json", "1.3.0", "01.3.0.json", "1.3.0+x.json", ".unfinished-00", "a.json"] {
            assert_eq!(version_of(other), None, "{other}");
        }
        assert_eq!(seq_of("00000012.json"), Some(12));
        for other in ["12.json", "00000000.json", "+0000012.json", "000000012.json", "00000012", "a.json", ""] {
            assert_eq!(seq_of(other), None, "{other}");
        }
        assert_eq!(seq_of("4294967295.json"), Some(u32::MAX));
    }

    #[test]
    fn the_layout_is_fixed() {
        let name: NestName = "usdc".parse().unwrap();
        let hash = BundleHash([0xab; 32]);
        assert_eq!(Key::Bundle(hash).to_string(), format!("v1/bundles/{}", "ab".repeat(32)));
        assert_eq!(Shelf::Versions(name.clone()).to_string(), "v1/nests/usdc/versions");
        assert_eq!(Shelf::Notices(name).to_string(), "v1/nests/usdc/notices");
    }
}
