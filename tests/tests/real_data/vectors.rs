//! The edge vectors: every one ends as it should, and those that leave a choice as the decoder's README says.

use std::collections::BTreeMap;

use nuthatch_tests::real_data as real;
use serde_json::{Value, json};

use super::index::{Contract, Index, Place, index};

/// The vectors, and one of them again with its types spelled short.
fn vectors(folder: &std::path::Path) -> Vec<Value> {
    let mut vectors = real::lines(&folder.join("vectors/decode_edge_vectors.jsonl"));
    let mut short = vectors.iter().find(|vector| vector["id"] == "uint_alias").unwrap().clone();
    for input in short["abi"]["inputs"].as_array_mut().unwrap() {
        input["type"] = json!(input["type"].as_str().unwrap().replace("256", ""));
    }
    short["id"] = json!("uint_alias_short");
    vectors.push(short);
    vectors
}

/// Each vector is a contract of its own with one event and one log, all in one nest.
async fn indexed(vectors: &[Value]) -> Index {
    let mut contracts = Vec::new();
    let mut recording = String::new();
    for (n, vector) in vectors.iter().enumerate() {
        let address = format!("0x{n:040x}");
        let anonymous = vector["abi"]["anonymous"] == json!(true);
        contracts.push(Contract {
            alias: format!("v{n}"),
            addresses: vec![address.clone()],
            abis: vec![json!([vector["abi"]]).to_string()],
            anonymous: anonymous.then(|| vector["abi"]["name"].as_str().unwrap().to_owned()).into_iter().collect(),
        });
        let log = json!({"chainId": 1, "address": address, "topics": vector["topics"], "data": vector["data"],
            "blockNumber": format!("{:#x}", block(n)), "blockHash": null, "blockTimestamp": "0x6553f100",
            "transactionHash": format!("0x{n:064x}"), "transactionIndex": "0x0", "logIndex": "0x0", "removed": false});
        recording += &format!("{log}\n");
    }
    let scratch = tempfile::tempdir().unwrap();
    index(scratch.path(), 1, &contracts, &recording, block(vectors.len() - 1)).await
}

fn block(vector: usize) -> u64 {
    100 + vector as u64
}

/// What other decoders make of these differs. This is what is decided here.
fn policy(id: &str) -> Result<(&str, &str), &str> {
    match id {
        "bool_dirty" => Err("bad-bool"),
        "uint8_dirty" => Err("value-out-of-range"),
        "offset_self" => Ok(("a", "[]")),
        "string_invalid_utf8_ff" => Ok(("s", "\u{fffd}\u{fffd}\u{fffd}")),
        "string_invalid_utf8_overlong" => Ok(("s", "\u{fffd}\u{fffd}")),
        "string_invalid_utf8_cut" => Ok(("s", "abc\u{fffd}")),
        other => panic!("nothing is decided for {other}"),
    }
}

#[tokio::test]
async fn every_vector_ends_as_it_should() {
    let Some(folder) = real::folder() else { return };
    let vectors = vectors(&folder);
    let found = indexed(&vectors).await;
    let mut counts = BTreeMap::new();
    for (n, vector) in vectors.iter().enumerate() {
        let place: Place = (block(n), 0);
        let id = vector["id"].as_str().unwrap();
        let expect = vector["expect"].as_str().unwrap();
        *counts.entry(expect).or_insert(0) += 1;
        let row = found.rows.get(&place);
        let rejected = found.rejected.get(&place);
        assert_eq!(row.is_some(), rejected.is_none(), "{id} is one of the two");
        let code = rejected.map(|kept| kept["code"].as_str().unwrap());
        match (expect, row) {
            ("ok" | "ok-lenient", Some(row)) => {
                let cells: Vec<_> = row.cells.iter().map(|(name, ty, value)| (&**name, &**ty, value)).collect();
                real::assert_equals(&cells, &vector["args"], &id);
            }
            ("error" | "mismatch", None) => {}
            ("policy", _) => match policy(id) {
                Err(wanted) => assert_eq!(code, Some(wanted), "{id}"),
                Ok((column, wanted)) => {
                    let (.., value) = row.unwrap().cells.iter().find(|(name, ..)| name == column).unwrap();
                    assert_eq!(value, wanted, "{id}");
                }
            },
            (expect, row) => panic!("{id}: {expect} expected, {row:?} found, rejected as {code:?}"),
        }
        let exact = row.and_then(|row| row.cells.iter().find(|(name, ..)| name == "s__raw"));
        let wanted = match id {
            "string_nul" => json!("0x610062"),
            "string_invalid_utf8_ff" => json!("0xfffe80"),
            "string_invalid_utf8_overlong" => json!("0xc0af"),
            "string_invalid_utf8_cut" => json!("0x616263e282"),
            _ => Value::Null,
        };
        // Exact bytes stand beside altered text only.
        assert_eq!(exact.map_or(&Value::Null, |(.., bytes)| bytes), &wanted, "{id}");
    }
    let wanted = [("error", 2), ("mismatch", 1), ("ok", 71), ("ok-lenient", 1), ("policy", 6)];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), wanted);
}
