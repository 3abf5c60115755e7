//! The one JSON spelling of a value: keys sorted by their UTF-8 bytes, no spaces, numbers as plain integers, strings
//! escaped only where JSON demands it. Not RFC 8785: integers above 2^53 are written out in full.

use serde_json::Value;

/// Encodes a value canonically.
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&value.to_string()),
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            // Sorted here, so that no feature of the JSON library which keeps insertion order can matter.
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (place, (key, item)) in entries.into_iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(&Value::String(key.clone()), out);
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn vectors() {
        for (given, expected) in [
            (r#" { } "#, r#"{}"#),
            (r#"[ 1 , 2,3 ]"#, r#"[1,2,3]"#),
            (r#"{"b":1,"a":{"z":null,"y":[true,false]}}"#, r#"{"a":{"y":[true,false],"z":null},"b":1}"#),
            (r#"{"ab":1,"a":2,"B":3,"é":4,"z":5}"#, r#"{"B":3,"a":2,"ab":1,"z":5,"é":4}"#),
            (r#"{"n":18446744073709551615}"#, r#"{"n":18446744073709551615}"#),
            (r#"["\u0041\/\u00e9\ud83d\udc26"]"#, "[\"A/é🐦\"]"),
            (r#"["\u0000\u001f\u007f\b\f\n\r\t\"\\"]"#, "[\"\\u0000\\u001f\u{7f}\\b\\f\\n\\r\\t\\\"\\\\\"]"),
        ] {
            let value: Value = serde_json::from_str(given).unwrap();
            assert_eq!(canonical_json(&value), expected);
        }
    }

    #[test]
    fn canonical_text_is_a_fixed_point() {
        let text = r#"{"a":[{"b":"x","c":1}],"d":""}"#;
        assert_eq!(canonical_json(&serde_json::from_str(text).unwrap()), text);
    }
}
