#![allow(clippy::unwrap_used)]
use alloy_primitives::hex as digits;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::model::{Address, B256, BlockNumber, BlockRef, ChainId, LogBatch, LogView};

const CHAIN: ChainId = ChainId(7);

fn log_json(log: &LogView<'_>) -> Value {
    json!({
        "address": format!("{:#x}", log.address),
        "topics": log.topics.iter().map(|t| format!("{t:#x}")).collect::<Vec<_>>(),
        "data": digits::encode_prefixed(log.data),
        "blockNumber": format!("{:#x}", log.block.number.0),
        "blockHash": format!("{:#x}", log.block.hash),
        "blockTimestamp": format!("{:#x}", log.timestamp),
        "transactionHash": format!("{:#x}", log.tx_hash),
        "transactionIndex": format!("{:#x}", log.tx_index),
        "logIndex": format!("{:#x}", log.log_index),
        "removed": false,
        "l1BatchNumber": null,
    })
}

fn body(logs: &[Value]) -> Vec<u8> {
    json!({ "jsonrpc": "2.0", "id": 1, "result": logs }).to_string().into_bytes()
}

fn parse(body: &[u8]) -> Result<Reply<ParsedLogs>, BadJson> {
    parse_logs(body, CHAIN)
}

fn batch_of(body: &[u8]) -> LogBatch {
    match parse(body).unwrap() {
        Reply::Result(logs) => logs.batch,
        Reply::Error(error) => panic!("{error:?}"),
    }
}

fn sample() -> Value {
    let block = BlockRef { number: BlockNumber(0x10), hash: B256::repeat_byte(0xaa) };
    log_json(&LogView {
        block,
        timestamp: 0x6000,
        tx_index: 3,
        log_index: 9,
        tx_hash: B256::repeat_byte(0xbb),
        address: Address::repeat_byte(0xcc),
        topics: &[B256::repeat_byte(1), B256::repeat_byte(2)],
        data: &[1, 2, 3],
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut log = sample();
    log[key] = value;
    log
}

prop_compose! {
    fn any_log()(
        number in any::<u64>(), hash in any::<[u8; 32]>(), timestamp in any::<u64>(), tx_index in any::<u32>(),
        log_index in any::<u64>(), tx_hash in any::<[u8; 32]>(), address in any::<[u8; 20]>(),
        topics in prop::collection::vec(any::<[u8; 32]>(), 0..=4), data in prop::collection::vec(any::<u8>(), 0..200),
    ) -> LogBatch {
        let topics: Vec<B256> = topics.into_iter().map(B256::from).collect();
        let mut batch = LogBatch::new(CHAIN);
        batch.push(LogView {
            block: BlockRef { number: BlockNumber(number), hash: hash.into() },
            timestamp, tx_index, log_index, tx_hash: tx_hash.into(), address: address.into(), topics: &topics, data: &data,
        });
        batch
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(logs in prop::collection::vec(any_log(), 0..20)) {
        let mut all = LogBatch::new(CHAIN);
        logs.iter().for_each(|log| all.append(log));
        let text = body(&all.iter().map(|log| log_json(&log)).collect::<Vec<_>>());
        prop_assert_eq!(batch_of(&text), all);
    }

    #[test]
    fn any_bytes_give_an_answer_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes);
        let _ = batch(&bytes);
    }

    #[test]
    fn a_changed_byte_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = body(&[sample(), sample()]);
        let at = at.index(text.len());
        text[at] = byte;
        let _ = parse(&text);
    }

    #[test]
    fn numbers_are_read_as_they_are_written(number in any::<u64>(), zeros in 0_usize..4) {
        prop_assert_eq!(hex::quantity(&format!("0x{}{number:x}", "0".repeat(zeros))), Ok(number));
        prop_assert_eq!(hex::quantity(&format!("0x{number:X}")), Ok(number));
    }
}

#[test]
fn a_body_cut_off_anywhere_is_an_error() {
    let text = body(&[sample(), sample()]);
    for cut in 0..text.len() {
        assert!(parse(&text[..cut]).is_err(), "cut at {cut}");
    }
    let error = parse(&text[..text.len() / 2]).unwrap_err().to_string();
    assert!(error.contains("ends too early"), "{error}");
}

#[test]
fn missing_zero_and_null_timestamps_are_zero() {
    let mut without = sample();
    without.as_object_mut().unwrap().remove("blockTimestamp");
    for log in [without, with("blockTimestamp", json!("0x0")), with("blockTimestamp", Value::Null)] {
        assert_eq!(batch_of(&body(&[log])).block_timestamp, [0]);
    }
    // Plain numbers are unusual and unambiguous.
    assert_eq!(batch_of(&body(&[with("blockTimestamp", json!(5))])).block_timestamp, [5]);
}

#[test]
fn removed_logs_leave_nothing_behind() {
    let text = body(&[sample(), with("removed", json!(true)), with("logIndex", json!("0xa"))]);
    let Reply::Result(logs) = parse(&text).unwrap() else { panic!("an error came") };
    assert_eq!((logs.removed, logs.batch.len()), (1, 2));
    assert_eq!(logs.batch, batch_of(&body(&[sample(), with("logIndex", json!("0xa"))])));
}

#[test]
fn each_wrong_field_is_an_error_that_says_so() {
    let h = "0x".to_owned() + &"ab".repeat(33);
    let wide = "0x".to_owned() + &"ff".repeat(9);
    let cases = [
        ("address", json!("0x1234"), "length"),
        ("address", Value::Null, "address is null"),
        ("address", json!("cccccccccccccccccccccccccccccccccccccccc"), "without 0x"),
        ("topics", json!([h]), "length"),
        ("topics", json!(vec![format!("{:#x}", B256::ZERO); 5]), "more than four topics"),
        ("topics", json!([null]), "null"),
        ("topics", Value::Null, "null"),
        ("topics", json!("0x"), "topics"),
        ("data", json!("0x123"), "odd"),
        ("data", json!("0xzz"), "no digit"),
        ("data", json!("0x0x12"), "no digit"),
        ("data", json!("1234"), "without 0x"),
        ("data", Value::Null, "null"),
        ("blockNumber", json!("0x"), "without digits"),
        ("blockNumber", json!(wide), "above 64 bits"),
        ("blockNumber", json!("0x1g"), "no digit"),
        ("blockNumber", json!(-1), "expected a number"),
        ("blockNumber", json!(1.5), "expected a number"),
        ("blockNumber", Value::Null, "blockNumber is null"),
        ("blockHash", Value::Null, "blockHash is null"),
        ("transactionHash", Value::Null, "transactionHash is null"),
        ("transactionIndex", json!("0x100000000"), "above 32 bits"),
        ("transactionIndex", Value::Null, "transactionIndex is null"),
        ("logIndex", Value::Null, "logIndex is null"),
        ("removed", json!("yes"), "expected a boolean"),
    ];
    for (key, value, words) in cases {
        let error = parse(&body(&[with(key, value.clone())])).unwrap_err().to_string();
        assert!(error.contains(words), "{key}: {value}: {error}");
    }
    for key in
        ["address", "topics", "data", "blockNumber", "blockHash", "transactionHash", "transactionIndex", "logIndex"]
    {
        let mut log = sample();
        log.as_object_mut().unwrap().remove(key);
        let error = parse(&body(&[log])).unwrap_err().to_string();
        assert!(error.contains(&format!("missing field `{key}`")), "{error}");
    }
    let twice = sample().to_string().replace("\"address\"", "\"data\":\"0x\",\"address\"");
    let error = parse(format!("{{\"result\":[{twice}]}}").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
}

#[test]
fn an_error_wins_over_a_null_result_whichever_comes_first() {
    let wanted = RpcError { code: -32005, message: "too much: try [0x1, 0x2]".into() };
    for text in [
        r#"{"id":1,"result":null,"error":{"code":-32005,"message":"too much","data":"try [0x1, 0x2]"}}"#,
        r#"{"error":{"code":-32005,"message":"too much","data":"try [0x1, 0x2]"},"result":null}"#,
        r#"{"error":{"code":-32005,"message":"too much","data":"try [0x1, 0x2]"}}"#,
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap(), Reply::Error(wanted.clone()), "{text}");
    }
    let odd = [(r#"{"error":"no"}"#, 0, "no"), (r#"{"error":{"code":"x","message":"m"}}"#, 0, "m")];
    for (text, code, message) in odd {
        assert_eq!(parse(text.as_bytes()).unwrap(), Reply::Error(RpcError { code, message: message.into() }), "{text}");
    }
    assert_eq!(batch_of(br#"{"error":null,"result":[]}"#).len(), 0);
}

#[test]
fn what_is_no_answer_is_an_error() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "<html>busy</html>",
        r#"{"result":null}"#,
        r#"{"result":{}}"#,
        r#"{"result":"0x"}"#,
        r#"{"result":[],"result":[]}"#,
        r#"{"result":[]} trailing"#,
        r#"{"result":[1]}"#,
    ] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn batches_are_matched_by_id_in_any_order() {
    let text = br#"[{"id":1,"result":"b"},{"id":0,"result":null},{"id":2,"error":{"code":5,"message":"no"}}]"#;
    let BatchReply::Each(each) = batch(text).unwrap() else { panic!("refused") };
    let raw = |id| match &each[&id] {
        Reply::Result(raw) => raw.get().to_owned(),
        Reply::Error(error) => error.message.clone(),
    };
    assert_eq!((raw(0), raw(1), raw(2)), ("null".into(), "\"b\"".into(), "no".into()));
    let refused = br#"{"id":null,"error":{"code":-32600,"message":"no batches"}}"#;
    assert!(matches!(batch(refused).unwrap(), BatchReply::Refused(error) if error.message == "no batches"));
    assert!(batch(br#"[{"id":1,"result":1},{"id":1,"result":2}]"#).is_err());
    assert!(batch(br#"{"id":1,"result":1}"#).is_err());
}

#[test]
fn headers_are_read_and_a_wrong_bloom_is_refused() {
    let hash = |byte| format!("{:#x}", B256::repeat_byte(byte));
    let header = json!({
        "number": "0x10", "hash": hash(1), "parentHash": hash(2), "timestamp": "0x5", "logsBloom": null, "extra": [1],
    });
    let read = |value: &Value| serde_json::from_str::<OptionalHeader>(&value.to_string());
    let found = read(&header).unwrap().0.unwrap();
    assert_eq!((found.number.0, found.hash, found.timestamp), (16, B256::repeat_byte(1), 5));
    assert!(read(&Value::Null).unwrap().0.is_none());
    let mut short = header.clone();
    short["logsBloom"] = json!("0x00");
    assert!(read(&short).err().unwrap().to_string().contains("logsBloom"));
    let mut pending = header;
    pending["hash"] = Value::Null;
    assert!(read(&pending).is_err());
}
