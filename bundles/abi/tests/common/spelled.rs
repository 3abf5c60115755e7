//! Values as the oracle of the real data spells them.
#![allow(dead_code, clippy::unwrap_used)]

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

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

/// A row's values against the oracle's arguments: by place, companions left out.
pub fn assert_equals(row: &super::Row, args: &Value, what: &dyn std::fmt::Display) {
    let values: Vec<_> = row.iter().filter(|(column, _, _)| !column.ends_with("__raw")).collect();
    let args = args.as_array().unwrap();
    assert_eq!(values.len(), args.len(), "{what}");
    for ((column, ty, value), arg) in values.into_iter().zip(args) {
        let value = value.as_deref().unwrap();
        let (found, wanted) = match (ty.as_str(), &arg[2]) {
            ("json", wanted) => (spelled(value), wanted.to_string()),
            (_, Value::Bool(wanted)) => (value.to_owned(), wanted.to_string()),
            // NUL is not kept in text, but in its companion.
            ("string", wanted) => (value.to_owned(), wanted.as_str().unwrap().replace('\0', "\u{fffd}")),
            (_, wanted) => (value.to_owned(), wanted.as_str().unwrap().to_owned()),
        };
        assert_eq!(found, wanted, "{what}, column {column}");
        let wanted = match arg[3].as_str().unwrap() {
            "indexed_hash" => "bytes32",
            _ if arg[1].as_str().unwrap().contains(['[', '(']) => "json",
            _ => arg[1].as_str().unwrap(),
        };
        assert_eq!(ty, wanted, "{what}, column {column}");
    }
}
