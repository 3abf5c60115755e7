//! Logs of real chains: every row equals the one that four independent decoders agree on.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use common::*;
use nuthatch_bundle_abi::abi;
use serde_json::{Value, json};

const UNKNOWN: &str = "unknown_topic0";
const MISMATCH: &str = "topic_count_mismatch";

/// A config under which each address has the ABIs that the oracle used for it. An address of which it knew nothing has
/// an ABI too, so that its logs are ignored for their topic and not for their address.
fn config(folder: &Path, logs: &[Value], decoded: &[Value]) -> Value {
    let by_topic = abis_by_topic(folder);
    let mut abis: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut anonymous: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (log, line) in logs.iter().zip(decoded) {
        let address = log["address"].as_str().unwrap();
        let found = abis.entry(address).or_default();
        match line["status"].as_str().unwrap() {
            "ok" => {
                found.insert(line["abi"].as_str().unwrap().to_owned());
                if line["match"] == json!("address-anonymous") {
                    anonymous.entry(address).or_default().insert(line["event"].as_str().unwrap());
                }
            }
            MISMATCH => {
                let topic0 = log["topics"][0].as_str().unwrap();
                found.insert(by_topic.get(topic0).unwrap_or_else(|| panic!("no ABI has {topic0}")).clone());
            }
            UNKNOWN => {}
            other => panic!("status {other}"),
        }
    }
    let mut groups: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for (address, abis) in abis {
        let abis = if abis.is_empty() { BTreeSet::from(["OZ_ERC20".to_owned()]) } else { abis };
        let anonymous = anonymous.get(address).cloned().unwrap_or_default();
        groups.entry((abis, anonymous)).or_default().push(address);
    }
    let contracts = groups.into_iter().enumerate().map(|(place, ((abis, anonymous), addresses))| {
        let abis: Vec<Value> = abis.iter().map(|abi| read_abi(folder, abi)).collect();
        json!({"alias": format!("c{place}"), "addresses": addresses, "start_block": 0, "abis": abis, "events": null,
            "anonymous": anonymous})
    });
    json!({"contracts": contracts.collect::<Vec<_>>()})
}

fn read_abi(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(format!("abis/{name}.json"))).unwrap()).unwrap()
}

fn abis_by_topic(folder: &Path) -> HashMap<String, String> {
    let mut by_topic = HashMap::new();
    for path in real::files(&folder.join("abis")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for event in abi::events(&text).unwrap().into_iter().flatten().filter(|event| !event.anonymous) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            by_topic.entry(hex(&event.topic0())).or_insert(name);
        }
    }
    by_topic
}

fn number(text: &Value) -> u64 {
    u64::from_str_radix(text.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn log(line: &Value) -> TestLog {
    let bytes = |value: &Value| unhex(value.as_str().unwrap());
    let topics = line["topics"].as_array().unwrap();
    TestLog {
        block: number(&line["blockNumber"]),
        address: bytes(&line["address"]).try_into().unwrap(),
        topics: topics.iter().map(|topic| bytes(topic).try_into().unwrap()).collect(),
        data: bytes(&line["data"]),
    }
}

#[test]
fn every_row_equals_the_oracle() {
    let Some(folder) = real::folder() else { return };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in real::files(&folder.join("logs")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let logs = real::lines(&path);
        let decoded = real::lines(&folder.join("decoded").join(name));
        assert_eq!(logs.len(), decoded.len());
        let plan = plan(&config(&folder, &logs, &decoded)).unwrap();
        let outcomes = decode(&plan, &logs.iter().map(log).collect::<Vec<_>>());
        for ((place, line), outcome) in decoded.iter().enumerate().zip(&outcomes) {
            let what = format!("{name}, line {place}");
            let status = line["status"].as_str().unwrap();
            *counts.entry(status.to_owned()).or_default() += 1;
            match (status, outcome) {
                ("ok", Outcome::Row(_, row)) => real::assert_equals(row, &line["args"], &what),
                (MISMATCH, Outcome::Rejected(code, _)) => assert_eq!(code, "topic-count-mismatch", "{what}"),
                (UNKNOWN, Outcome::Ignored) => {}
                (status, outcome) => panic!("{what}: {status} in the oracle, {outcome:?} here"),
            }
        }
    }
    let wanted = [("ok", 16_546), (MISMATCH, 12), (UNKNOWN, 1_184)];
    assert_eq!(counts, wanted.map(|(status, count)| (status.to_owned(), count)).into());
}

#[test]
fn every_abi_gives_a_plan_that_can_be_read() {
    let Some(folder) = real::folder() else { return };
    let mut tables = 0;
    for path in real::files(&folder.join("abis")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let config = common::config(read_abi(&folder, name));
        match plan(&config) {
            Ok(plan) => {
                let part = <nuthatch_bundle_abi::StandardDecoder as nuthatch_sdk::Decoder>::describe(&plan).unwrap();
                tables += part.tables.len();
            }
            Err(failure) => assert_eq!(failure.code, "no-events", "{name}: {}", failure.message),
        }
    }
    assert!(tables > 600, "{tables} tables");
}
