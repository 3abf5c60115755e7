//! Real logs, and the rows that four independent decoders agree on: the folder that NUTHATCH_REAL_DATA names. It is read
//! there and never copied into the project.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The folder. Where there is none the test has nothing to prove, which is an error only where the data is required.
pub fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("NUTHATCH_REAL_DATA") {
        let folder = PathBuf::from(folder);
        assert!(folder.is_dir(), "NUTHATCH_REAL_DATA names {}, which is no folder", folder.display());
        return Some(folder);
    }
    let required = std::env::var("NUTHATCH_REQUIRE_REAL_DATA").is_ok_and(|value| value == "1");
    assert!(!required, "NUTHATCH_REQUIRE_REAL_DATA is set, and NUTHATCH_REAL_DATA names no folder");
    println!("NUTHATCH_REAL_DATA is not set: no real data to decode");
    None
}

/// The JSON lines of a file, gzipped or not.
pub fn lines(path: &Path) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The files of a folder, by name.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A value as the oracle spells it, as text: objects become lists of their values, in the order of the document.
pub fn spelled(json: &str) -> String {
    struct Ordered(Value);

    impl<'de> Deserialize<'de> for Ordered {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Lists;
            impl<'de> Visitor<'de> for Lists {
                type Value = Ordered;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a value")
                }
                fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
                    Ok(Ordered(Value::Bool(value)))
                }
                fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
                    Ok(Ordered(Value::String(value.to_owned())))
                }
                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Ordered, A::Error> {
                    let mut list = Vec::new();
                    while let Some(Ordered(item)) = seq.next_element()? {
                        list.push(item);
                    }
                    Ok(Ordered(Value::Array(list)))
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                    let mut list = Vec::new();
                    while let Some((_, Ordered(item))) = map.next_entry::<String, Ordered>()? {
                        list.push(item);
                    }
                    Ok(Ordered(Value::Array(list)))
                }
            }
            deserializer.deserialize_any(Lists)
        }
    }
    serde_json::from_str::<Ordered>(json).unwrap().0.to_string()
}

/// One value of an answer: column, type, JSON as it came; a json column as its text.
pub type AnswerCell<'a> = (&'a str, &'a str, &'a Value);

/// The own columns of an answer's row against the oracle's arguments: by place, companions left out.
pub fn assert_equals(row: &[AnswerCell<'_>], args: &Value, what: &dyn std::fmt::Display) {
    let values: Vec<_> = row.iter().filter(|(column, ..)| !column.ends_with("__raw")).collect();
    let args = args.as_array().unwrap();
    assert_eq!(values.len(), args.len(), "{what}");
    for ((column, ty, value), arg) in values.into_iter().zip(args) {
        let found = match value {
            Value::String(text) if *ty == "json" => spelled(text),
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            other => panic!("{what}, column {column}: {other}"),
        };
        let wanted = match &arg[2] {
            wanted if *ty == "json" => wanted.to_string(),
            Value::Bool(wanted) => wanted.to_string(),
            // NUL is not kept in text, but in its companion.
            wanted if *ty == "string" => wanted.as_str().unwrap().replace('\0', "\u{fffd}"),
            wanted => wanted.as_str().unwrap().to_owned(),
        };
        assert_eq!(found, wanted, "{what}, column {column}");
        let wanted = match arg[3].as_str().unwrap() {
            "indexed_hash" => "bytes32",
            _ if arg[1].as_str().unwrap().contains(['[', '(']) => "json",
            _ => arg[1].as_str().unwrap(),
        };
        assert_eq!(*ty, wanted, "{what}, column {column}");
    }
}

/// A JSON-RPC number.
pub fn number(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap())
}
