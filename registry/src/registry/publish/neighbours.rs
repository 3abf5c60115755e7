//! Which published versions a new one is held against.

use semver::Version;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbours {
    /// The highest release below.
    pub below: Option<Version>,
    /// The lowest release above.
    pub above: Option<Version>,
    /// Where there is neither: any version, for the chain's sake.
    pub kin: Option<Version>,
}

impl Neighbours {
    pub fn of(versions: &[Version], new: &Version) -> Self {
        let releases = || versions.iter().filter(|version| version.pre.is_empty());
        let below = releases().filter(|version| *version < new).max().cloned();
        let above = releases().filter(|version| *version > new).min().cloned();
        let kin = match (&below, &above) {
            (None, None) => versions.iter().filter(|version| *version != new).max().cloned(),
            _ => None,
        };
        Neighbours { below, above, kin }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(versions: &[&str], new: &str) -> [Option<String>; 3] {
        let versions: Vec<Version> = versions.iter().map(|version| version.parse().unwrap()).collect();
        let Neighbours { below, above, kin } = Neighbours::of(&versions, &new.parse().unwrap());
        [below, above, kin].map(|version| version.map(|version| version.to_string()))
    }

    fn expected(below: &str, above: &str, kin: &str) -> [Option<String>; 3] {
        [below, above, kin].map(|text| (!text.is_empty()).then(|| text.to_owned()))
    }

    #[test]
    fn the_last_is_the_highest_release_below() {
        let published = ["1.0.0", "1.1.0", "1.2.0-rc.1", "2.0.0", "3.0.0-rc.1"];
        assert_eq!(of(&published, "2.1.0"), expected("2.0.0", "", ""));
        assert_eq!(of(&published, "1.1.1"), expected("1.1.0", "2.0.0", ""));
        assert_eq!(of(&published, "1.2.0"), expected("1.1.0", "2.0.0", ""));
        assert_eq!(of(&published, "3.0.0"), expected("2.0.0", "", ""));
        assert_eq!(of(&published, "0.9.0"), expected("", "1.0.0", ""));
        assert_eq!(of(&published, "2.0.0-rc.1"), expected("1.1.0", "2.0.0", ""));
    }

    #[test]
    fn where_there_is_no_release_a_pre_release_tells_the_chain() {
        assert_eq!(of(&["1.0.0-a", "1.0.0-b"], "1.0.0"), expected("", "", "1.0.0-b"));
        assert_eq!(of(&["2.0.0-a"], "1.0.0"), expected("", "", "2.0.0-a"));
        assert_eq!(of(&[], "1.0.0"), expected("", "", ""));
    }
}
