//! `manifest.schema.json` and the manifest's reader agree.

use nuthatch_registry::{Manifest, canonical_json};
use serde_json::{Value, json};

use super::json_schema::Schema;

fn schema() -> Schema {
    Schema::parse(include_str!("../../../schemas/manifest.schema.json"))
}

fn full() -> Value {
    json!({
        "format": 1, "name": "usdc", "version": "1.3.0", "chain_id": 1, "world": "1.0.0", "code": "standard",
        "contracts": [{ "alias": "usdc", "addresses": ["0x1111111111111111111111111111111111111111"], "start_block": 5 }],
        "filters": [{
            "addresses": ["0x1111111111111111111111111111111111111111"],
            "topics": ["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"],
            "start_block": 5,
        }],
        "tables": [{
            "name": "usdc__transfer",
            "columns": [{ "name": "value", "type": "uint256", "nullable": false, "doc": "Amount" }],
            "doc": "Transfers",
        }],
        "views": [{ "name": "daily", "file": "daily.sql", "doc": "By day" }],
        "secrets": [{ "name": "rpc_url", "purpose": "endpoint" }],
        "files": [{ "path": "daily.sql", "size": 3, "blake3": "ab".repeat(32) }],
        "budget": { "base": 1, "per_log": 2, "per_byte": 3 },
    })
}

fn reader_accepts(value: &Value) -> bool {
    Manifest::from_canonical_json(canonical_json(value).as_bytes()).is_ok()
}

#[test]
fn reader_and_schema_agree_on_every_edit() {
    let schema = schema();
    assert!(schema.accepts(&full()) && reader_accepts(&full()));
    let edits = [
        ("/format", json!(2)),
        ("/name", json!("Usdc")),
        ("/version", json!("1.3")),
        ("/version", json!("1.3.0-rc.1")),
        ("/version", json!("1.3.0+x")),
        ("/chain_id", json!(0)),
        ("/chain_id", json!(u64::MAX)),
        ("/chain_id", json!("1")),
        ("/chain_id", json!(-1)),
        ("/world", json!("1")),
        ("/code", json!("own")),
        ("/code", json!("lua")),
        ("/contracts", json!([])),
        ("/contracts/0/alias", json!("a__b")),
        ("/contracts/0/addresses", json!([])),
        ("/contracts/0/addresses/0", json!("0xAAAA111111111111111111111111111111111111")),
        ("/contracts/0/start_block", json!(u64::MAX)),
        ("/contracts/0/start_block", json!(1.5)),
        ("/filters", json!([])),
        ("/filters/0/addresses", json!([])),
        ("/filters/0/addresses/0", json!("0x1")),
        ("/filters/0/topics", json!([])),
        ("/filters/0/topics/0", json!("0x1")),
        ("/tables", json!([])),
        ("/tables/0/name", json!("_status")),
        ("/tables/0/name", json!("a\"b")),
        ("/tables/0/columns", json!([])),
        ("/tables/0/columns/0/name", json!("_value")),
        ("/tables/0/columns/0/name", json!("Value")),
        ("/tables/0/columns/0/name", json!("block_number")),
        ("/tables/0/columns/0/nullable", json!("no")),
        ("/tables/0/columns/0/doc", json!("\u{1b}")),
        ("/tables/0/doc", json!(5)),
        ("/views", json!([])),
        ("/views/0/name", json!("Daily")),
        ("/views/0/file", json!("../daily.sql")),
        ("/secrets", json!([])),
        ("/secrets/0/name", json!("")),
        ("/secrets/0/purpose", json!("a\u{7f}")),
        ("/files/0/size", json!(4194304)),
        ("/files/0/size", json!(4194305)),
        ("/files/0/blake3", json!("AB".repeat(32))),
        ("/budget", json!({ "base": 1 })),
        ("/budget/base", json!(u64::MAX)),
    ];
    for (pointer, value) in edits {
        let mut manifest = full();
        *manifest.pointer_mut(pointer).unwrap() = value.clone();
        assert_eq!(schema.accepts(&manifest), reader_accepts(&manifest), "{pointer} = {value}");
    }
    for name in full().as_object().unwrap().keys() {
        let mut manifest = full();
        manifest.as_object_mut().unwrap().remove(name);
        // The view needs its file, which a schema cannot say.
        if name == "files" {
            manifest.as_object_mut().unwrap().insert("views".to_owned(), json!([]));
        }
        assert_eq!(schema.accepts(&manifest), reader_accepts(&manifest), "without {name}");
    }
}

#[test]
fn reader_and_schema_agree_on_every_column_type() {
    let schema = schema();
    let mut types: Vec<String> =
        ["bool", "timestamp", "address", "bytes", "string", "json", "int", "uint", "", "float64"]
            .map(str::to_owned)
            .to_vec();
    types.extend((0..=264).flat_map(|bits| [format!("uint{bits}"), format!("int{bits}"), format!("bytes{bits}")]));
    types.extend((0..=78).map(|p| format!("decimal({p},0)")));
    types.extend((0..=78).map(|s| format!("decimal(76,{s})")));
    types.extend(["uint08", "bytes01", "decimal(76)", "decimal(76, 18)", "decimal(,)"].map(str::to_owned));
    for ty in types {
        let mut manifest = full();
        manifest["tables"][0]["columns"][0]["type"] = json!(ty);
        assert_eq!(schema.accepts(&manifest), reader_accepts(&manifest), "{ty}");
    }
}
