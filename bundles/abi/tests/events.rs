//! The rules of the decoder, one by one, through its three functions.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_sdk::{Decoder, ManifestPart};
use serde_json::{Value, json};

fn word(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}

fn topic(text: &str) -> [u8; 32] {
    unhex(text).try_into().unwrap()
}

fn transfer() -> [u8; 32] {
    topic("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
}

fn transfer_abi(indexed: usize) -> Value {
    let input = |place: usize, name: &str, ty: &str| json!({"name": name, "type": ty, "indexed": place < indexed});
    let inputs = [input(0, "from", "address"), input(1, "to", "address"), input(2, "value", "uint256")];
    json!({"type": "event", "name": "Transfer", "inputs": inputs})
}

fn describe(config: &Value) -> ManifestPart {
    StandardDecoder::describe(&plan(config).unwrap()).unwrap()
}

fn tables(config: &Value) -> Vec<String> {
    describe(config).tables.into_iter().map(|table| table.name).collect()
}

fn event(name: &str, inputs: &[(&str, &str, bool)]) -> Value {
    let input = |(name, ty, indexed): &(&str, &str, bool)| json!({"name": name, "type": ty, "indexed": indexed});
    json!({"type": "event", "name": name, "inputs": inputs.iter().map(input).collect::<Vec<_>>()})
}

fn anonymous(mut event: Value) -> Value {
    event["anonymous"] = json!(true);
    event
}

fn signature(text: &str) -> [u8; 32] {
    alloy_primitives::keccak256(text).0
}

#[test]
fn an_erc20_transfer_is_a_row() {
    let plan = plan(&config(json!([transfer_abi(2)]))).unwrap();
    let logs = [
        TestLog::new(vec![transfer(), word(&[1; 20]), word(&[2; 20])], word(&[7]).to_vec()),
        TestLog { address: [0xbb; 20], ..TestLog::new(vec![transfer()], vec![]) },
        TestLog::new(vec![[9; 32]], vec![]),
        TestLog::new(vec![], vec![1]),
        TestLog::new(vec![transfer(), word(&[1; 20]), word(&[2; 20])], vec![0xff; 32]),
    ];
    let found = decode(&plan, &logs);
    assert_eq!(found[0].table(), "c__transfer");
    assert_eq!(found[0].value("from_"), Some("0x0101010101010101010101010101010101010101"));
    assert_eq!(found[0].value("to_"), Some("0x0202020202020202020202020202020202020202"));
    assert_eq!(found[0].value("value"), Some("7"));
    assert_eq!(found[1..4], [Outcome::Ignored, Outcome::Ignored, Outcome::Ignored]);
    let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert_eq!(found[4].value("value"), Some(most));
}

#[test]
fn a_log_goes_to_the_form_that_fits_its_topics() {
    let plan = plan(&config(json!([transfer_abi(2), transfer_abi(3)]))).unwrap();
    let topics = |count: usize| [transfer()].into_iter().chain((1..count as u8).map(|n| word(&[n]))).collect();
    let found = decode(&plan, &[1, 2, 3, 4].map(|count| TestLog::new(topics(count), vec![0; 96])));
    assert_eq!((found[0].code(), found[1].code()), ("topic-count-mismatch", "topic-count-mismatch"));
    assert_eq!((found[2].table(), found[3].table()), ("c__transfer_ix2", "c__transfer_ix3"));
    assert_eq!(found[3].value("value"), Some("3"));
    let Outcome::Rejected(_, detail) = &found[0] else { panic!("{:?}", found[0]) };
    assert!(detail.ends_with("the log has 1 topics") && detail.contains("address indexed from"), "{detail}");
}

#[test]
fn events_of_one_name_are_told_apart_by_signature() {
    let long = event(
        "Transfer",
        &[("from", "address", true), ("to", "address", true), ("value", "uint256", false), ("data", "bytes", false)],
    );
    let lower = event("transfer", &[]);
    let other = event("Approval", &[]);
    let events = [transfer_abi(2), long, lower, other, transfer_abi(3)];
    let wanted = [
        "c__transfer_ddf252ad_ix2",
        "c__transfer_e19260af",
        "c__transfer_8a4068dd",
        "c__approval",
        "c__transfer_ddf252ad_ix3",
    ];
    assert_eq!(tables(&config(json!(events))), wanted);
    let backwards: Vec<&Value> = events.iter().rev().collect();
    let mut turned = tables(&config(json!(backwards)));
    turned.reverse();
    assert_eq!(turned, wanted);

    // Neither do the names depend on which of them are wanted.
    let mut narrowed = config(json!(events));
    narrowed["contracts"][0]["events"] = json!(["Transfer(address,address,uint256,bytes)", "Approval"]);
    assert_eq!(tables(&narrowed), ["c__transfer_e19260af", "c__approval"]);
}

#[test]
fn merged_abis_declare_each_event_once() {
    let mut two = config(json!([transfer_abi(2)]));
    let mut renamed = transfer_abi(2);
    renamed["inputs"][2]["name"] = json!("wad");
    two["contracts"][0]["abis"] = json!([[transfer_abi(2), transfer_abi(2)], {"abi": [renamed, event("B", &[])]}]);
    let part = describe(&two);
    assert_eq!(part.tables.len(), 2);
    assert_eq!(part.tables[0].columns[2].name, "value");
}

#[test]
fn tables_and_filters_are_described() {
    let abi = json!([
        event(
            "Swap",
            &[
                ("amount0In", "uint112", false),
                ("from", "address", true),
                ("tag", "string", true),
                ("note", "string", false),
                ("f", "function", false),
                ("ids", "uint256[]", false),
                ("names", "string[2]", false)
            ]
        ),
        event("Ping", &[]),
        transfer_abi(2),
    ]);
    let mut config = config(abi);
    let part = describe(&config);
    let columns: Vec<_> =
        part.tables[0].columns.iter().map(|c| (c.name.as_str(), c.type_.as_str(), c.nullable)).collect();
    assert_eq!(
        columns,
        [
            ("amount0_in", "uint112", false),
            ("from_", "address", false),
            ("tag_hash", "bytes32", false),
            ("note", "string", false),
            ("note__raw", "bytes", true),
            ("f", "bytes24", false),
            ("ids", "json", false),
            ("names", "json", false),
            ("names__raw", "bytes", true),
        ]
    );
    assert_eq!(part.tables[1].doc, "Ping()");
    assert_eq!(part.tables[2].doc, "Transfer(address indexed from, address indexed to, uint256 value)");
    assert_eq!(part.filters.len(), 1);
    assert_eq!((part.filters[0].addresses.as_slice(), part.filters[0].start_block), (&[ADDRESS.to_vec()][..], 0));
    assert!(part.filters[0].topics.is_empty());

    config["contracts"][0]["events"] = json!(["Transfer", "Ping"]);
    config["contracts"][0]["start_block"] = json!(7);
    let filter = &describe(&config).filters[0];
    let mut topics = vec![transfer().to_vec(), signature("Ping()").to_vec()];
    topics.sort();
    assert_eq!((&filter.topics, filter.start_block), (&topics, 7));
}

#[test]
fn logs_before_the_start_block_are_ignored() {
    let mut config = config(json!([event("Ping", &[])]));
    config["contracts"][0]["start_block"] = json!(100);
    let plan = plan(&config).unwrap();
    let log = |block| TestLog { block, ..TestLog::new(vec![signature("Ping()")], vec![]) };
    let found = decode(&plan, &[log(99), log(100)]);
    assert_eq!((&found[0], found[1].table()), (&Outcome::Ignored, "c__ping"));
}

#[test]
fn each_contract_has_its_own_events_and_addresses() {
    let config = json!({"contracts": [
        {"alias": "a", "addresses": [hex(&[1; 20]), hex(&[2; 20])], "start_block": 0, "abis": [[event("P", &[])]]},
        {"alias": "b", "addresses": [hex(&[3; 20])], "start_block": 0, "abis": [[event("P", &[]), event("Q", &[])]]},
    ]});
    let plan = plan(&config).unwrap();
    let log =
        |address: u8, event: &str| TestLog { address: [address; 20], ..TestLog::new(vec![signature(event)], vec![]) };
    let logs = [(1, "P()"), (3, "P()"), (2, "P()"), (3, "Q()"), (1, "Q()"), (4, "P()"), (3, "P()")];
    let found = decode(&plan, &logs.map(|(address, event)| log(address, event)));
    assert_eq!([0, 1, 2, 3, 6].map(|log| found[log].table()), ["a__p", "b__p", "a__p", "b__q", "b__p"]);
    assert_eq!((&found[4], &found[5]), (&Outcome::Ignored, &Outcome::Ignored));
}

#[test]
fn anonymous_events_are_matched_by_shape_after_signatures() {
    let abi = json!([
        transfer_abi(2),
        anonymous(event("One", &[("a", "uint256", false)])),
        anonymous(event("Two", &[("a", "uint256", false), ("b", "bool", false)])),
        anonymous(event("Small", &[("k", "uint8", true), ("t", "string", false)])),
    ]);
    let mut config = config(abi);
    let unasked = plan(&config).unwrap();
    let data = |words: &[u8]| words.iter().flat_map(|n| word(&[*n])).collect::<Vec<u8>>();
    let mut text = data(&[32, 2]);
    text.extend(b"hi");
    let logs = [
        TestLog::new(vec![], data(&[5])),
        TestLog::new(vec![], data(&[5, 1])),
        TestLog::new(vec![], data(&[5, 7])),
        TestLog::new(vec![], vec![1; 31]),
        TestLog::new(vec![word(&[9])], text.clone()),
        TestLog::new(vec![[9; 32]], text),
        TestLog::new(vec![transfer()], data(&[5])),
    ];
    let found = decode(&unasked, &logs);
    assert!(found[..6].iter().all(|outcome| *outcome == Outcome::Ignored), "{found:?}");
    assert!(StandardDecoder::describe(&unasked).unwrap().tables.len() == 1);

    config["contracts"][0]["anonymous"] = json!(["One", "Two", "Small"]);
    config["contracts"][0]["events"] = json!(["Transfer"]);
    let found = decode(&plan(&config).unwrap(), &logs);
    assert_eq!(found[0].table(), "c__one");
    // Both fit; the data end where the second one does.
    assert_eq!((found[1].table(), found[1].value("b")), ("c__two", Some("true")));
    // Not a bool: the first one, with data that go on.
    assert_eq!((found[2].table(), found[2].value("a")), ("c__one", Some("5")));
    assert_eq!(found[3], Outcome::Ignored);
    assert_eq!((found[4].table(), found[4].value("t"), found[4].value("k")), ("c__small", Some("hi"), Some("9")));
    // The topic is no uint8.
    assert_eq!(found[5], Outcome::Ignored);
    assert_eq!(found[6].code(), "topic-count-mismatch");
    assert!(describe(&config).filters[0].topics.is_empty(), "anonymous logs have no topic to ask for");
}

/// The outcome of `data` for an event of one parameter of this type.
fn value(ty: Value, data: &[u8]) -> Outcome {
    let mut input = ty;
    if let Value::String(ty) = input {
        input = json!({"type": ty});
    }
    input["name"] = json!("v");
    let abi = json!([{"type": "event", "name": "E", "inputs": [input]}]);
    let plan = plan(&config(abi.clone())).unwrap();
    let events = nuthatch_bundle_abi::abi::events(&abi.to_string()).unwrap();
    decode(&plan, &[TestLog::new(vec![events[0].as_ref().unwrap().topic0()], data.to_vec())]).remove(0)
}

fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| word(&number.to_be_bytes())).collect()
}

#[test]
fn words_that_are_no_value_are_rejected() {
    let dirty: [u8; 32] = std::array::from_fn(|at| if at == 0 || at == 31 { 1 } else { 0 });
    for (ty, code) in [
        ("bool", "bad-bool"),
        ("uint8", "value-out-of-range"),
        ("int248", "value-out-of-range"),
        ("address", "value-out-of-range"),
        ("bytes31", "dirty-padding"),
        ("function", "dirty-padding"),
    ] {
        let found = value(json!(ty), &dirty);
        assert_eq!(found.code(), code, "{ty}");
        let Outcome::Rejected(_, detail) = found else { unreachable!() };
        assert!(detail.starts_with(&format!("{ty} v: 0x01")), "{detail}");

        // The same in a topic, and inside of an array.
        let abi = json!([event("E", &[("v", ty, true)])]);
        let plan = plan(&config(abi)).unwrap();
        let log = TestLog::new(vec![signature(&format!("E({ty})")), dirty], vec![]);
        assert_eq!(decode(&plan, &[log])[0].code(), code, "{ty}");
        assert_eq!(value(json!(format!("{ty}[1]")), &dirty).code(), code, "{ty}");
        assert_eq!(value(json!(format!("{ty}[]")), &[&words(&[32, 1])[..], &dirty].concat()).code(), code, "{ty}");
    }
}

#[test]
fn data_that_end_early_or_late() {
    assert_eq!(value(json!("uint256"), &[0; 31]).code(), "data-too-short");
    assert_eq!(value(json!("uint256"), &[]).code(), "data-too-short");
    assert_eq!(value(json!("uint256[2]"), &[0; 63]).code(), "data-too-short");
    assert_eq!(value(json!("uint256"), &words(&[1, 2])).value("v"), Some("1"));
    // A tail need not be padded; it has to be there.
    let tail = [&words(&[32, 3])[..], b"abc"].concat();
    assert_eq!(value(json!("bytes"), &tail).value("v"), Some("0x616263"));
    assert_eq!(value(json!("string"), &tail).value("v"), Some("abc"));
    assert_eq!(value(json!("string"), &tail[..66]).code(), "length-out-of-range");
    assert_eq!(value(json!("string"), &tail[..63]).code(), "data-too-short");
    // Padding that is not 0 is not part of the value.
    assert_eq!(value(json!("bytes"), &[&tail[..], &[0xff; 29]].concat()).value("v"), Some("0x616263"));
}

#[test]
fn offsets_must_point_into_the_data() {
    let huge = [&[0xff; 32][..], &words(&[0])].concat();
    let above = [&word(&[1, 0, 0, 0, 0])[..], &words(&[0])].concat();
    for ty in ["bytes", "string", "uint8[]", "string[2]"] {
        for data in [&huge, &above, &words(&[64, 0])] {
            assert_eq!(value(json!(ty), data).code(), "offset-out-of-range", "{ty}");
        }
        assert_eq!(value(json!(ty), &words(&[33, 0])).code(), "data-too-short", "{ty}");
    }
    // One that points back, or at a tail of another, is followed.
    assert_eq!(value(json!("uint256[][]"), &words(&[0, 1, 0])).value("v"), Some("[]"));
    let shared = words(&[32, 2, 64, 64, 1, 7]);
    assert_eq!(value(json!("uint256[][]"), &shared).value("v"), Some(r#"[["7"],["7"]]"#));
}

#[test]
fn lengths_that_lie_are_rejected_before_anything_is_made_of_them() {
    for length in [33, 1 << 20, u64::from(u32::MAX), u64::MAX] {
        for ty in ["bytes", "uint8[]", "string[]", "uint8[2][]", "bytes[][]"] {
            assert_eq!(value(json!(ty), &words(&[32, length, 0])).code(), "length-out-of-range", "{ty} {length}");
        }
        let tuple = json!({"type": "tuple[]", "components": [{"name": "x", "type": "uint256[]"}]});
        assert_eq!(value(tuple, &words(&[32, length, 0, 0])).code(), "length-out-of-range", "{length}");
    }
}

#[test]
fn data_that_unfold_without_end_are_rejected() {
    // Each level is a list whose items all are the one list of the next level: 40^4 numbers out of 6 KB.
    let width = 40;
    let mut data = words(&[32]);
    for _ in 0..4 {
        data.extend(words(&[width]));
        data.extend(words(&vec![width * 32; width as usize]));
    }
    data.extend(words(&[0]));
    assert_eq!(value(json!("uint256[][][][][]"), &data).code(), "data-inflated");

    // Every item the same long tail.
    let items = 300;
    let mut data = words(&[32, items]);
    data.extend(words(&vec![items * 32; items as usize]));
    data.extend(words(&[items * 32]));
    data.extend(vec![7; items as usize * 32]);
    assert_eq!(value(json!("bytes[]"), &data).code(), "data-inflated");
}

#[test]
fn json_has_names_where_the_abi_has() {
    let components = |names: [&str; 2]| json!({"type": "tuple[]", "components": [{"name": names[0], "type": "int16"}, {"name": names[1], "type": "bool"}]});
    let data = [&words(&[32, 2, 5, 1])[..], &[0xff; 32], &words(&[0])].concat();
    let named = r#"[{"some\"Key":"5","on":true},{"some\"Key":"-1","on":false}]"#;
    assert_eq!(value(components(["some\"Key", "on"]), &data).value("v"), Some(named));
    let bare = r#"[["5",true],["-1",false]]"#;
    assert_eq!(value(components(["some", ""]), &data).value("v"), Some(bare));
    assert_eq!(value(components(["some", "some"]), &data).value("v"), Some(bare));
    let address = [&words(&[32, 1])[..], &word(&[0xab; 20])].concat();
    let wanted = format!("[\"0x{}\"]", "ab".repeat(20));
    assert_eq!(value(json!("address[]"), &address).value("v"), Some(wanted.as_str()));
    assert_eq!(
        value(json!("bytes4[1]"), &[[1, 2, 3, 4, 0, 0, 0, 0], [0; 8], [0; 8], [0; 8]].concat()).value("v"),
        Some(r#"["0x01020304"]"#)
    );
}

#[test]
fn json_with_altered_text_keeps_the_data() {
    let good = [&words(&[32, 32, 2])[..], b"ok"].concat();
    let found = value(json!("string[1]"), &good);
    assert_eq!((found.value("v"), found.value("v__raw")), (Some(r#"["ok"]"#), None));
    let bad = [&words(&[32, 32, 2])[..], b"\0\xff"].concat();
    let found = value(json!("string[1]"), &bad);
    assert_eq!(found.value("v"), Some("[\"\u{fffd}\u{fffd}\"]"));
    assert_eq!(found.value("v__raw"), Some(hex(&bad).as_str()));
}

#[test]
fn a_bad_log_takes_no_other_with_it() {
    let abi = json!([event(
        "E",
        &[
            ("n", "uint8", false),
            ("s", "string", false),
            ("b", "bool", false),
            ("a", "uint16[]", false),
            ("w", "int128", false),
            ("i", "int8", true)
        ]
    )]);
    let plan = plan(&config(abi)).unwrap();
    let good = |n: u64| {
        let data = words(&[n, 160, n % 2, 224, n, 2, 0, 1, n]);
        let mut data = data;
        data[192..194].copy_from_slice(b"hi");
        TestLog::new(vec![signature("E(uint8,string,bool,uint16[],int128,int8)"), word(&[n as u8 % 100])], data)
    };
    let spoil = |mut log: TestLog, at: usize, byte: u8| {
        log.data[at] = byte;
        log
    };
    let mut logs: Vec<TestLog> = (0..40).map(good).collect();
    logs[3] = spoil(logs[3].clone(), 0, 1);
    logs[8] = spoil(logs[8].clone(), 95, 9);
    logs[9] = spoil(logs[9].clone(), 190, 1);
    logs[20] = spoil(spoil(logs[20].clone(), 0, 1), 95, 9);
    logs[21] = spoil(logs[21].clone(), 256, 1);
    logs[39].topics[1][0] = 1;
    let found = decode(&plan, &logs);
    let bad = [
        (3, "value-out-of-range"),
        (8, "bad-bool"),
        (9, "length-out-of-range"),
        (20, "value-out-of-range"),
        (21, "value-out-of-range"),
        (39, "value-out-of-range"),
    ];
    for (log, outcome) in found.iter().enumerate() {
        match bad.iter().find(|(bad, _)| *bad == log) {
            Some((_, code)) => assert_eq!(outcome.code(), *code, "log {log}"),
            None => {
                let n = log.to_string();
                assert_eq!((outcome.value("n"), outcome.value("w")), (Some(n.as_str()), Some(n.as_str())));
                assert_eq!(outcome.value("a"), Some(format!("[\"{n}\"]").as_str()));
                assert_eq!((outcome.value("s"), outcome.value("b")), (Some("hi"), Some(["false", "true"][log % 2])));
            }
        }
        // I10: alone it ends the same way.
        assert_eq!(&decode(&plan, &logs[log..=log])[0], outcome);
    }
    let Outcome::Rejected(_, detail) = &found[20] else { unreachable!() };
    assert!(detail.starts_with("uint8 n:"), "the first parameter is named: {detail}");
}

#[test]
fn what_cannot_be_planned_says_why() {
    let base = || config(json!([transfer_abi(2)]));
    let set = |pointer: &str, value: Value| {
        let mut config = base();
        *config.pointer_mut(pointer).unwrap() = value;
        config
    };
    let first = |key: &str, value: Value| set(&format!("/contracts/0/{key}"), value);
    let abi = |events: Value| first("abis", json!([events]));
    let mut second = base()["contracts"][0].clone();
    second["alias"] = json!("d");
    let mut swapped = transfer_abi(2);
    swapped["inputs"][1]["indexed"] = json!(false);
    swapped["inputs"][2]["indexed"] = json!(true);
    let anonymous_twins =
        json!([anonymous(event("A", &[("x", "bool", false)])), anonymous(event("B", &[("y", "bool", false)]))]);
    let mut twins = abi(anonymous_twins);
    twins["contracts"][0]["anonymous"] = json!(["A", "B"]);
    for (config, code, words) in [
        (json!({}), "bad-config", "contracts"),
        (json!({"contracts": [], "x": 1}), "bad-config", "unknown field"),
        (json!({"contracts": []}), "no-contracts", "no contract"),
        (first("alias", json!("C")), "bad-config", "'C' is not an alias"),
        (first("alias", json!("a__b")), "bad-config", "'a__b' is not an alias"),
        (first("addresses", json!([])), "bad-config", "no address"),
        (first("addresses", json!(["0x12"])), "bad-config", "'0x12' is not an address"),
        (first("abis", json!([])), "bad-abi", "no ABI"),
        (first("abis", json!([{"x": 1}])), "bad-abi", "ABI 1: an ABI is a JSON list"),
        (abi(json!([])), "no-events", "declares no event"),
        (abi(json!([anonymous(event("A", &[]))])), "no-events", "listed under `anonymous`"),
        (first("events", json!(["Approval"])), "unknown-event", "names 'Approval'"),
        (first("events", json!(["Transfer(bool)"])), "unknown-event", "it declares Transfer"),
        (first("anonymous", json!(["Transfer"])), "unknown-event", "it declares none"),
        (abi(json!([event("E", &[("p", "fixed128x18", false)])])), "unsupported-event", "fixed-point"),
        (abi(json!([event("$", &[])])), "unsupported-event", "no table name"),
        (abi(json!([transfer_abi(2), swapped])), "indistinguishable-events", "cannot be told from"),
        (twins, "indistinguishable-events", "cannot be told from"),
        (set("/contracts", json!([base()["contracts"][0], second])), "bad-config", "under 'c' and under 'd'"),
        (set("/contracts", json!([base()["contracts"][0], base()["contracts"][0]])), "bad-config", "alias 'c'"),
    ] {
        let failure = plan(&config).unwrap_err();
        assert_eq!(failure.code, code, "{config}: {}", failure.message);
        assert!(failure.message.contains(words), "'{}' lacks '{words}'", failure.message);
    }
}

#[test]
fn an_event_that_cannot_be_decoded_can_be_left_out() {
    let mut config = config(json!([transfer_abi(2), event("E", &[("p", "ufixed8x1", false)])]));
    assert_eq!(plan(&config).unwrap_err().code, "unsupported-event");
    config["contracts"][0]["events"] = json!(["Transfer"]);
    assert_eq!(tables(&config), ["c__transfer"]);
}

#[test]
fn an_address_may_be_written_in_either_case_and_twice() {
    let mut config = config(json!([event("P", &[])]));
    config["contracts"][0]["addresses"] = json!([hex(&ADDRESS), hex(&ADDRESS).replace('a', "A")]);
    assert_eq!(describe(&config).filters[0].addresses, [ADDRESS.to_vec()]);
}
