//! ABI files: unwrapped from what build tools wrap around them, and checked for events.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The entries of an ABI, as found.
#[derive(Clone, Debug, PartialEq)]
pub struct Abi(Vec<Value>);

/// An ABI that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AbiError {
    /// Not readable.
    #[error("the ABI file {path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not JSON.
    #[error("{place} is not JSON: {source}")]
    NotJson {
        /// Where it comes from.
        place: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// JSON of another kind.
    #[error("{place} holds no ABI: expected a JSON array, or an object with it under 'abi' or 'compilerOutput.abi'")]
    NotAbi {
        /// Where it comes from.
        place: String,
    },
    /// Nothing to index.
    #[error("{place} has no events, so there is nothing to index; for a proxy give the implementation's ABI as well")]
    NoEvents {
        /// Where it comes from.
        place: String,
    },
}

impl Abi {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, AbiError> {
        let text = std::fs::read_to_string(path).map_err(|source| AbiError::Read { path: path.to_owned(), source })?;
        let place = path.display().to_string();
        let json = serde_json::from_str(&text).map_err(|source| AbiError::NotJson { place: place.clone(), source })?;
        Abi::from_json(json).ok_or(AbiError::NotAbi { place })
    }

    /// Takes the ABI out of an artifact, or as it is.
    pub fn from_json(mut json: Value) -> Option<Self> {
        for path in ["", "/abi", "/compilerOutput/abi", "/output/abi"] {
            if let Some(Value::Array(entries)) = json.pointer_mut(path).map(Value::take_if_array) {
                return Some(Abi(entries));
            }
        }
        None
    }

    /// Names of the events that announce themselves by their first topic.
    pub fn events(&self) -> Vec<&str> {
        self.named_events(false)
    }

    /// Names of the anonymous events, which are looked for only where a nest asks for them.
    pub fn anonymous_events(&self) -> Vec<&str> {
        self.named_events(true)
    }

    fn named_events(&self, anonymous: bool) -> Vec<&str> {
        let is = |entry: &&Value| {
            let kind = entry.get("type").and_then(Value::as_str);
            let flag = entry.get("anonymous").and_then(Value::as_bool).unwrap_or(false);
            kind == Some("event") && flag == anonymous
        };
        self.0.iter().filter(is).filter_map(|entry| entry.get("name")?.as_str()).collect()
    }

    /// As a file: one entry a line, so that a change shows as a line.
    pub fn to_file(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(|entry| format!("  {entry}")).collect();
        format!("[\n{}\n]\n", lines.join(",\n"))
    }
}

trait TakeIfArray {
    fn take_if_array(&mut self) -> Value;
}

impl TakeIfArray for Value {
    fn take_if_array(&mut self) -> Value {
        if self.is_array() { self.take() } else { Value::Null }
    }
}

/// Refuses ABIs that have no event between them.
pub fn require_events(abis: &[Abi], place: impl FnOnce() -> String) -> Result<(), AbiError> {
    if abis.iter().all(|abi| abi.events().is_empty() && abi.anonymous_events().is_empty()) {
        return Err(AbiError::NoEvents { place: place() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn artifacts_are_unwrapped() {
        let entries = json!([{"type": "event", "name": "A", "inputs": []}, {"type": "function", "name": "f"}]);
        let wrapped = [
            entries.clone(),
            json!({"contractName": "X", "abi": entries}),
            json!({"compilerOutput": {"abi": entries}}),
        ];
        for json in wrapped {
            assert_eq!(Abi::from_json(json).unwrap().events(), ["A"]);
        }
        for other in [json!({"abi": "x"}), json!("x"), json!(null)] {
            assert_eq!(Abi::from_json(other), None);
        }
    }

    #[test]
    fn anonymous_events_are_told_apart() {
        let abi = Abi::from_json(json!([
            {"type": "event", "name": "A"}, {"type": "event", "name": "B", "anonymous": true},
            {"type": "event", "name": "C", "anonymous": false}, {"type": "error", "name": "E"},
        ]))
        .unwrap();
        assert_eq!((abi.events(), abi.anonymous_events()), (vec!["A", "C"], vec!["B"]));
        assert!(require_events(&[abi], String::new).is_ok());
    }

    #[test]
    fn a_written_file_reads_as_the_same_abi() {
        let abi = Abi::from_json(json!([{"type": "event", "name": "A"}, {"type": "error", "name": "E"}])).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        std::fs::write(&path, abi.to_file()).unwrap();
        assert_eq!(Abi::read(&path).unwrap(), abi);
        assert_eq!(abi.to_file().lines().count(), 4);
    }

    #[test]
    fn each_unusable_file_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        assert!(matches!(Abi::read(&path).unwrap_err(), AbiError::Read { .. }));
        std::fs::write(&path, "{").unwrap();
        assert!(matches!(Abi::read(&path).unwrap_err(), AbiError::NotJson { .. }));
        std::fs::write(&path, "{}").unwrap();
        assert!(matches!(Abi::read(&path).unwrap_err(), AbiError::NotAbi { .. }));
        std::fs::write(&path, r#"[{"type":"function","name":"f"}]"#).unwrap();
        let none = require_events(&[Abi::read(&path).unwrap()], || "a.json".to_owned()).unwrap_err();
        assert!(none.to_string().starts_with("a.json has no events"), "{none}");
    }
}
