//! Paths of a bundle's files: relative, inside the nest's folder, with one spelling each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::names::shown;

/// Most bytes in a path.
pub const MAX_PATH: usize = 255;

/// A file's path in a nest folder and in a bundle: names of ASCII letters, digits, `.`, `_` and `-`, joined by `/`,
/// none of them `.` or `..`. Such a path cannot leave the folder it is joined to.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct FilePath(String);

/// Text that is not a file path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{path}' is not a path of a nest's file: {problem}")]
pub struct BadPath {
    path: String,
    problem: &'static str,
}

impl FilePath {
    /// The path as text, with `/` between names.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        return Some("it is empty");
    }
    if text.len() > MAX_PATH {
        return Some("it is longer than 255 bytes");
    }
    if text.starts_with('/') || text.contains(':') {
        return Some("it must be relative to the nest's folder");
    }
    for name in text.split('/') {
        match name {
            "" => return Some("a name between slashes is empty"),
            "." => return Some("write it without './'"),
            ".." => return Some("it must stay inside the nest's folder, so '..' is not allowed"),
            _ => {}
        }
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
            return Some("names may hold only ASCII letters, digits, '.', '_' and '-', joined by '/'");
        }
    }
    None
}

impl FromStr for FilePath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        match problem(text) {
            None => Ok(FilePath(text.to_owned())),
            Some(problem) => Err(BadPath { path: shown(text), problem }),
        }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilePath({})", self.0)
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A folder inside the nest's folder, or that folder itself (`.`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderPath {
    /// `.`
    NestFolder,
    /// A folder below it.
    Below(FilePath),
}

impl FolderPath {
    /// The folder as text, `.` for the nest's own.
    pub fn as_str(&self) -> &str {
        match self {
            FolderPath::NestFolder => ".",
            FolderPath::Below(path) => path.as_str(),
        }
    }
}

impl FromStr for FolderPath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        match text {
            "." => Ok(FolderPath::NestFolder),
            _ => text.parse().map(FolderPath::Below),
        }
    }
}

impl<'de> Deserialize<'de> for FolderPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_path_cannot_leave_its_folder() {
        for good in ["a", "abis/usdc.json", "views/daily-volume_2.sql", ".hidden", "a..b", "README.md"] {
            assert_eq!(good.parse::<FilePath>().unwrap().as_str(), good);
        }
        let long = "x".repeat(256);
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a/./b",
            "a//b",
            "a/",
            "a\\b",
            "C:\\x",
            "C:x",
            "a\0b",
            "a b",
            "a\nb",
            "é",
            "a%2e%2e",
            "file://a",
            &long,
        ] {
            assert!(bad.parse::<FilePath>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_message_says_what_is_wrong_and_hides_control_characters() {
        let message = "../\u{1b}x".parse::<FilePath>().unwrap_err().to_string();
        assert!(message.contains("inside the nest's folder"), "{message}");
        assert!(!message.contains('\u{1b}'), "{message}");
    }

    #[test]
    fn a_folder_may_be_the_nest_folder() {
        assert_eq!(".".parse::<FolderPath>().unwrap(), FolderPath::NestFolder);
        assert_eq!("decoder".parse::<FolderPath>().unwrap().as_str(), "decoder");
        assert!("..".parse::<FolderPath>().is_err());
    }
}
