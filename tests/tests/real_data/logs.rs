//! Every log of the real data.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use nuthatch_bundle_abi::abi;
use nuthatch_tests::real_data as real;
use serde_json::{Value, json};

use super::index::{Contract, counter, index};

const UNKNOWN: &str = "unknown_topic0";
const MISMATCH: &str = "topic_count_mismatch";

/// Contracts under which each address has the ABIs that the oracle used for it. An address of which it knew nothing has
/// an ABI too, so that its logs are ignored for their topic and not for their address.
fn contracts(folder: &Path, logs: &[Value], decoded: &[Value]) -> Vec<Contract> {
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
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (address, abis) in abis {
        let abis = if abis.is_empty() { BTreeSet::from(["OZ_ERC20".to_owned()]) } else { abis };
        let anonymous = anonymous.get(address).cloned().unwrap_or_default();
        groups.entry((abis, anonymous)).or_default().push(address.to_owned());
    }
    let groups = groups.into_iter().enumerate();
    groups
        .map(|(place, ((abis, anonymous), addresses))| Contract {
            alias: format!("c{place}"),
            addresses,
            abis: abis.iter().map(|abi| read_abi(folder, abi)).collect(),
            anonymous: anonymous.into_iter().map(str::to_owned).collect(),
        })
        .collect()
}

fn read_abi(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(format!("abis/{name}.json"))).unwrap()
}

fn abis_by_topic(folder: &Path) -> HashMap<String, String> {
    let mut by_topic = HashMap::new();
    for path in real::files(&folder.join("abis")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for event in abi::events(&text).unwrap().into_iter().flatten().filter(|event| !event.anonymous) {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            by_topic.entry(format!("0x{}", hex::encode(event.topic0()))).or_insert(name);
        }
    }
    by_topic
}

/// Each file is one nest on one chain. Every row equals the oracle's, provenance included (I16: each log is a row,
/// rejected or ignored, and the counters say the same).
#[tokio::test]
async fn every_row_in_the_store_equals_the_oracle() {
    let Some(folder) = real::folder() else { return };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in real::files(&folder.join("logs")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let logs = real::lines(&path);
        let decoded = real::lines(&folder.join("decoded").join(name));
        assert_eq!(logs.len(), decoded.len());
        let chain = logs[0]["chainId"].as_u64().unwrap();
        let last = logs.iter().map(|log| real::number(&log["blockNumber"])).max().unwrap();
        let recording: String = logs.iter().map(|log| format!("{log}\n")).collect();
        let scratch = tempfile::tempdir().unwrap();
        let found = index(scratch.path(), chain, &contracts(&folder, &logs, &decoded), &recording, last).await;

        let (mut rows, mut rejected, mut ignored) = (0, 0, 0);
        for (log, line) in logs.iter().zip(&decoded) {
            let place = (real::number(&log["blockNumber"]), real::number(&log["logIndex"]));
            let what = format!("{name}, line {}", line["n"]);
            match line["status"].as_str().unwrap() {
                "ok" => {
                    let row = found.rows.get(&place).unwrap_or_else(|| panic!("{what}: no row"));
                    assert_eq!(row.address, line["address"].as_str().unwrap(), "{what}");
                    assert_eq!(row.tx_hash, line["tx_hash"].as_str().unwrap(), "{what}");
                    let cells: Vec<_> = row.cells.iter().map(|(name, ty, value)| (&**name, &**ty, value)).collect();
                    real::assert_equals(&cells, &line["args"], &what);
                    rows += 1;
                }
                MISMATCH => {
                    let kept = found.rejected.get(&place).unwrap_or_else(|| panic!("{what}: not in _rejected"));
                    assert_eq!(kept["code"], "topic-count-mismatch", "{what}");
                    assert_eq!((&kept["topics"], &kept["data"]), (&log["topics"], &log["data"]), "{what}");
                    rejected += 1;
                }
                _ => ignored += 1,
            }
        }
        assert_eq!((found.rows.len(), found.rejected.len(), found.ignored), (rows, rejected, ignored as u64), "{name}");
        let decoded_logs = |outcome| counter(&found.metrics, "nuthatch_decode_logs_total", outcome) as usize;
        assert_eq!(
            (decoded_logs("outcome=\"row\""), decoded_logs("\"rejected\""), decoded_logs("\"ignored\"")),
            (rows, rejected, ignored),
            "{name}"
        );
        assert_eq!(counter(&found.metrics, "nuthatch_committed_logs_total", "") as usize, logs.len(), "{name}");
        *counts.entry("ok").or_default() += rows;
        *counts.entry(MISMATCH).or_default() += rejected;
        *counts.entry(UNKNOWN).or_default() += ignored;
    }
    assert_eq!(counts, BTreeMap::from([("ok", 16_546), (MISMATCH, 12), (UNKNOWN, 1_184)]));
}

#[test]
fn every_abi_gives_a_plan_that_can_be_read() {
    use nuthatch_bundle_abi::StandardDecoder;
    use nuthatch_sdk::Decoder as _;

    let Some(folder) = real::folder() else { return };
    let mut tables = 0;
    for path in real::files(&folder.join("abis")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let abi: Value = serde_json::from_str(&read_abi(&folder, name)).unwrap();
        let address = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        let config = json!({"contracts": [{"alias": "c", "addresses": [address], "start_block": 0, "abis": [abi],
            "events": null, "anonymous": []}]});
        match StandardDecoder::plan(config.to_string().as_bytes()) {
            Ok(plan) => tables += StandardDecoder::describe(&plan).unwrap().tables.len(),
            Err(failure) => assert_eq!(failure.code, "no-events", "{name}: {}", failure.message),
        }
    }
    assert!(tables > 600, "{tables} tables");
}
