//! The edge vectors: every one ends as it should, and those that leave a choice as the README says.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use serde_json::{Value, json};

/// The log of a vector, and the plan of its event.
fn setup(vector: &Value, spelled: impl Fn(&str) -> String) -> (Vec<u8>, TestLog) {
    let mut abi = vector["abi"].clone();
    for input in abi["inputs"].as_array_mut().unwrap() {
        input["type"] = json!(spelled(input["type"].as_str().unwrap()));
    }
    let mut config = config(json!([abi]));
    if vector["abi"]["anonymous"] == json!(true) {
        config["contracts"][0]["anonymous"] = json!([vector["abi"]["name"]]);
    }
    let topics = vector["topics"].as_array().unwrap().iter();
    let topics = topics.map(|topic| unhex(topic.as_str().unwrap()).try_into().unwrap()).collect();
    (plan(&config).unwrap(), TestLog::new(topics, unhex(vector["data"].as_str().unwrap())))
}

fn text(words: &str) -> Result<Vec<(&str, Option<&str>)>, &str> {
    Ok(vec![("s", Some(words))])
}

#[test]
fn every_vector_ends_as_it_should() {
    let Some(folder) = real::folder() else { return };
    let vectors = real::lines(&folder.join("vectors/decode_edge_vectors.jsonl"));
    let mut counts = std::collections::BTreeMap::new();
    for vector in &vectors {
        let id = vector["id"].as_str().unwrap();
        let expect = vector["expect"].as_str().unwrap();
        *counts.entry(expect).or_insert(0) += 1;
        let (plan, log) = setup(vector, str::to_owned);
        let outcome = decode(&plan, &[log]).remove(0);
        match (expect, &outcome) {
            ("ok" | "ok-lenient", Outcome::Row(_, row)) => real::assert_equals(row, &vector["args"], &id),
            ("error" | "mismatch", Outcome::Rejected(..)) => {}
            ("policy", _) => {
                // What other decoders make of these differs. This is what is decided here.
                let wanted: Result<Vec<(&str, Option<&str>)>, &str> = match id {
                    "bool_dirty" => Err("bad-bool"),
                    "uint8_dirty" => Err("value-out-of-range"),
                    "offset_self" => Ok(vec![("a", Some("[]"))]),
                    "string_invalid_utf8_ff" => text("\u{fffd}\u{fffd}\u{fffd}"),
                    "string_invalid_utf8_overlong" => text("\u{fffd}\u{fffd}"),
                    "string_invalid_utf8_cut" => text("abc\u{fffd}"),
                    other => panic!("nothing is decided for {other}"),
                };
                match wanted {
                    Err(code) => assert_eq!(outcome.code(), code, "{id}"),
                    Ok(values) => values.iter().for_each(|(column, value)| {
                        assert_eq!(outcome.value(column), *value, "{id}");
                    }),
                }
            }
            (expect, outcome) => panic!("{id}: {expect} expected, {outcome:?} found"),
        }
    }
    let wanted = [("error", 2), ("mismatch", 1), ("ok", 70), ("ok-lenient", 1), ("policy", 6)];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), wanted);
}

#[test]
fn exact_bytes_stand_beside_altered_text_only() {
    let Some(folder) = real::folder() else { return };
    for vector in real::lines(&folder.join("vectors/decode_edge_vectors.jsonl")) {
        let id = vector["id"].as_str().unwrap();
        let raw = match id {
            "string_nul" => Some("0x610062"),
            "string_invalid_utf8_ff" => Some("0xfffe80"),
            "string_invalid_utf8_overlong" => Some("0xc0af"),
            "string_invalid_utf8_cut" => Some("0x616263e282"),
            "string_unicode" | "string_quotes" => None,
            _ => continue,
        };
        let (plan, log) = setup(&vector, str::to_owned);
        assert_eq!(decode(&plan, &[log])[0].value("s__raw"), raw, "{id}");
    }
}

#[test]
fn short_spellings_of_types_mean_the_same() {
    let Some(folder) = real::folder() else { return };
    let vectors = real::lines(&folder.join("vectors/decode_edge_vectors.jsonl"));
    let vector = vectors.iter().find(|vector| vector["id"] == "uint_alias").unwrap();
    let (plan, log) = setup(vector, |ty| ty.replace("256", ""));
    match &decode(&plan, &[log])[0] {
        Outcome::Row(_, row) => real::assert_equals(row, &vector["args"], &"uint_alias"),
        other => panic!("{other:?}"),
    }
}
