//! `version-record.schema.json` and `notice.schema.json` agree with the readers of records.

use nuthatch_registry::{NestName, Notice, VersionRecord, canonical_json};
use serde_json::{Value, json};

use super::json_schema::Schema;

fn version_record() -> Value {
    json!({
        "name": "usdc", "version": "1.3.0", "hash": "ab".repeat(32), "size": 3, "data_identity": "cd".repeat(32),
        "published_at": "2026-01-02T03:04:05Z",
    })
}

fn notice() -> Value {
    json!({
        "name": "usdc", "seq": 2, "kind": "yank", "version": "1.3.0", "reason": "wrong sign",
        "at": "2026-01-02T03:04:05Z",
    })
}

/// Name and version as the record itself says, so that only the form is held against the schema.
fn place(value: &Value) -> Option<(NestName, semver::Version)> {
    Some((value["name"].as_str()?.parse().ok()?, value["version"].as_str()?.parse().ok()?))
}

fn reads_version(value: &Value) -> bool {
    let json = canonical_json(value);
    place(value).is_some_and(|(name, version)| VersionRecord::parse(json.as_bytes(), &name, &version).is_ok())
}

fn reads_notice(value: &Value) -> bool {
    let json = canonical_json(value);
    let seq = value["seq"].as_u64().and_then(|seq| seq.try_into().ok()).unwrap_or_default();
    place(value).is_some_and(|(name, _)| Notice::parse(json.as_bytes(), &name, seq).is_ok())
}

fn agree(schema: &str, full: &Value, reads: fn(&Value) -> bool, edits: &[(&str, Value)]) {
    let schema = Schema::parse(schema);
    assert!(schema.accepts(full) && reads(full));
    let mut verdicts = [0, 0];
    for (field, value) in edits {
        let mut record = full.clone();
        record[*field] = value.clone();
        assert_eq!(schema.accepts(&record), reads(&record), "{field} = {value}");
        verdicts[usize::from(reads(&record))] += 1;
    }
    assert!(verdicts.iter().all(|count| *count > 0), "{verdicts:?}");
    for field in full.as_object().unwrap().keys() {
        let mut record = full.clone();
        record.as_object_mut().unwrap().remove(field);
        assert!(!schema.accepts(&record) && !reads(&record), "without {field}");
    }
    assert!(!schema.accepts(&json!([])) && !reads(&json!([])));
}

fn names_and_versions() -> Vec<(&'static str, Value)> {
    vec![
        ("name", json!("a")),
        ("name", json!("Usdc")),
        ("name", json!("../usdc")),
        ("name", json!("x".repeat(63))),
        ("name", json!("x".repeat(64))),
        ("name", json!(5)),
        ("version", json!("1.3")),
        ("version", json!("01.3.0")),
        ("version", json!("1.3.0-rc.1")),
        ("version", json!("1.3.0+x")),
        ("version", json!(format!("1.3.0-{}", "x".repeat(58)))),
        ("version", json!(format!("1.3.0-{}", "x".repeat(59)))),
        ("signature", json!("")),
    ]
}

fn moments(field: &'static str) -> Vec<(&'static str, Value)> {
    let texts = [
        "1970-01-01T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "2026-01-02T03:04:05.5Z",
        "2026-01-02T03:04:05+00:00",
        "2026-01-02 03:04:05Z",
        "2026-01-02",
        "2026-13-02T03:04:05Z",
        "2026-01-02T24:04:05Z",
        "2026-01-02T03:60:05Z",
        "2026-01-02T03:04:05z",
        "",
    ];
    texts.map(|text| (field, json!(text))).to_vec()
}

#[test]
fn reader_and_schema_of_version_records_agree_on_every_edit() {
    let mut edits = names_and_versions();
    edits.extend(moments("published_at"));
    edits.extend([
        ("hash", json!("AB".repeat(32))),
        ("hash", json!("ab".repeat(31))),
        ("hash", json!(format!("0x{}", "ab".repeat(32)))),
        ("data_identity", json!("")),
        ("size", json!(0)),
        ("size", json!(1)),
        ("size", json!(33_554_432)),
        ("size", json!(33_554_433)),
        ("size", json!(-1)),
        ("size", json!("3")),
        ("size", json!(1.5)),
    ]);
    let schema = include_str!("../../../schemas/version-record.schema.json");
    agree(schema, &version_record(), reads_version, &edits);
}

#[test]
fn reader_and_schema_of_notices_agree_on_every_edit() {
    let mut edits = names_and_versions();
    edits.extend(moments("at"));
    edits.extend([
        ("seq", json!(0)),
        ("seq", json!(u32::MAX)),
        ("seq", json!(u64::from(u32::MAX) + 1)),
        ("seq", json!("2")),
        ("kind", json!("unyank")),
        ("kind", json!("advisory")),
        ("kind", json!("Yank")),
        ("reason", json!("")),
        ("reason", json!("two\nlines")),
        ("reason", json!("\u{1b}[31m")),
        ("reason", json!("\u{85}")),
        ("reason", json!("x".repeat(1_024))),
        ("reason", json!("x".repeat(1_025))),
        ("reason", json!(null)),
    ]);
    agree(include_str!("../../../schemas/notice.schema.json"), &notice(), reads_notice, &edits);
}
