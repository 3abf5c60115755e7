//! The rules of the decoder, one by one, through its three functions.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use nuthatch_sdk::{Decoder, Failure};
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

fn failure(config: &Value) -> Failure {
    plan(config).unwrap_err()
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
