//! `.env`: KEY=VALUE lines in a nest folder, for what must not be committed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a `.env` file sets. Never put into the environment of the process, and never printed.
#[derive(Clone, Default)]
pub struct DotEnv(BTreeMap<String, String>);

/// A `.env` that cannot be used. The line's text is not repeated: it may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum DotEnvError {
    /// Not readable.
    #[error("{path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line that is no assignment.
    #[error("{path}, line {line}: {what}; a line is KEY=VALUE, or a comment that begins with #")]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        what: &'static str,
    },
}

impl DotEnv {
    /// Reads `<dir>/.env`; without such a file nothing is set.
    pub fn read(dir: &Path) -> Result<Self, DotEnvError> {
        let path = dir.join(".env");
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(DotEnv::default()),
            Err(source) => Err(DotEnvError::Read { path, source }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, DotEnvError> {
        let mut set = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |what| DotEnvError::Line { path: path.to_owned(), line: index + 1, what };
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = line.strip_prefix("export ").unwrap_or(line);
            let (key, value) = line.split_once('=').ok_or_else(|| wrong("there is no '='"))?;
            let key = key.trim();
            let named = key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
            if !named || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(wrong("what stands before '=' is not a name"));
            }
            set.insert(key.to_owned(), unquoted(value.trim()).map_err(wrong)?.to_owned());
        }
        Ok(DotEnv(set))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

/// The value without its quotes, or up to a comment where it has none.
fn unquoted(value: &str) -> Result<&str, &'static str> {
    let Some(quote @ ('"' | '\'')) = value.chars().next() else {
        return Ok(value.find(" #").map_or(value, |at| value[..at].trim_end()));
    };
    let (inside, after) = value[1..].split_once(quote).ok_or("the closing quote is missing")?;
    let after = after.trim_start();
    if after.is_empty() || after.starts_with('#') { Ok(inside) } else { Err("text stands after the closing quote") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> Result<DotEnv, DotEnvError> {
        DotEnv::parse(text, Path::new("nest/.env"))
    }

    #[test]
    fn assignments_comments_quotes_and_export_are_read() {
        let env = parse(
            "# node\n\nNUTHATCH_RPC=https://n.example/?a=b#c # mine\nexport A = 'x # y' # z\nB=\"\"\nA=again\r\n C=3",
        )
        .unwrap();
        assert_eq!(env.get("NUTHATCH_RPC"), Some("https://n.example/?a=b#c"));
        assert_eq!((env.get("A"), env.get("B"), env.get("C")), (Some("again"), Some(""), Some("3")));
        assert_eq!(env.get("D"), None);
    }

    #[test]
    fn a_wrong_line_is_named_without_its_text() {
        for (text, line) in [("A=1\ns3cret", 2), ("1A=s3cret", 1), ("A=\"s3cret", 1), ("A='x' s3cret", 1), ("=x", 1)] {
            let message = parse(text).err().unwrap().to_string();
            assert!(message.contains(&format!("nest/.env, line {line}:")), "{message}");
            assert!(!message.contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn no_file_sets_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(DotEnv::read(dir.path()).unwrap().get("A"), None);
        std::fs::write(dir.path().join(".env"), "A=1").unwrap();
        assert_eq!(DotEnv::read(dir.path()).unwrap().get("A"), Some("1"));
    }
}
