//! Random events against an independent decoder's encoder, and random bytes against the rules that hold for any.
#![allow(clippy::unwrap_used)]

mod common;

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, FixedBytes, I256, U256, keccak256};
use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A type, its components all named or all not.
fn types() -> impl Strategy<Value = DynSolType> {
    let width = (1usize..=32).prop_map(|bytes| bytes * 8);
    let leaf = prop_oneof![
        Just(DynSolType::Bool),
        Just(DynSolType::Address),
        Just(DynSolType::Bytes),
        Just(DynSolType::String),
        width.clone().prop_map(DynSolType::Uint),
        width.prop_map(DynSolType::Int),
        (1usize..=32).prop_map(DynSolType::FixedBytes),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|element| DynSolType::Array(Box::new(element))),
            (inner.clone(), 1usize..4).prop_map(|(element, len)| DynSolType::FixedArray(Box::new(element), len)),
            vec(inner, 1..4).prop_map(DynSolType::Tuple),
        ]
    })
}

/// A value of the type. Integers lean to their ends.
fn values(ty: &DynSolType) -> BoxedStrategy<DynSolValue> {
    let word = || prop_oneof![Just([0; 32]), Just([0xff; 32]), any::<[u8; 32]>()];
    match ty.clone() {
        DynSolType::Bool => any::<bool>().prop_map(DynSolValue::Bool).boxed(),
        DynSolType::Address => any::<[u8; 20]>().prop_map(|bytes| DynSolValue::Address(Address::from(bytes))).boxed(),
        DynSolType::Bytes => vec(any::<u8>(), 0..70).prop_map(DynSolValue::Bytes).boxed(),
        DynSolType::String => "\\PC{0,12}|[\\x01-\\x7f]{0,40}".prop_map(DynSolValue::String).boxed(),
        DynSolType::Uint(bits) => {
            word().prop_map(move |word| DynSolValue::Uint(U256::from_be_bytes(word) >> (256 - bits), bits)).boxed()
        }
        DynSolType::Int(bits) => {
            word().prop_map(move |word| DynSolValue::Int(I256::from_be_bytes(word).asr(256 - bits), bits)).boxed()
        }
        DynSolType::FixedBytes(width) => word()
            .prop_map(move |mut word| {
                word[width..].fill(0);
                DynSolValue::FixedBytes(FixedBytes(word), width)
            })
            .boxed(),
        DynSolType::Array(element) => vec(values(&element), 0..4).prop_map(DynSolValue::Array).boxed(),
        DynSolType::FixedArray(element, len) => vec(values(&element), len).prop_map(DynSolValue::FixedArray).boxed(),
        DynSolType::Tuple(fields) => fields.iter().map(values).collect::<Vec<_>>().prop_map(DynSolValue::Tuple).boxed(),
        other => panic!("{other:?} is not made here"),
    }
}

/// The type as an ABI spells it: `tuple` and its components.
fn spelled(ty: &DynSolType) -> Value {
    match ty {
        DynSolType::Array(element) => suffixed(element, "[]".to_owned()),
        DynSolType::FixedArray(element, len) => suffixed(element, format!("[{len}]")),
        DynSolType::Tuple(fields) => {
            let components = fields.iter().enumerate().map(|(place, field)| {
                let mut component = spelled(field);
                component["name"] = json!(format!("f{place}"));
                component
            });
            json!({"type": "tuple", "components": components.collect::<Vec<_>>()})
        }
        other => json!({"type": other.to_string()}),
    }
}

/// The type as a signature spells it. The other decoder puts a comma after a lone component.
fn canonical(ty: &DynSolType) -> String {
    match ty {
        DynSolType::Array(element) => format!("{}[]", canonical(element)),
        DynSolType::FixedArray(element, len) => format!("{}[{len}]", canonical(element)),
        DynSolType::Tuple(fields) => format!("({})", fields.iter().map(canonical).collect::<Vec<_>>().join(",")),
        word => word.to_string(),
    }
}

fn suffixed(element: &DynSolType, suffix: String) -> Value {
    let mut inner = spelled(element);
    inner["type"] = json!(format!("{}{suffix}", inner["type"].as_str().unwrap()));
    inner
}

/// The value as the oracle of the real data spells it.
fn oracle(value: &DynSolValue) -> Value {
    match value {
        DynSolValue::Bool(value) => json!(value),
        DynSolValue::Int(value, _) => json!(value.to_string()),
        DynSolValue::Uint(value, _) => json!(value.to_string()),
        DynSolValue::FixedBytes(word, width) => json!(hex(&word[..*width])),
        DynSolValue::Address(address) => json!(hex(address.as_slice())),
        DynSolValue::Bytes(bytes) => json!(hex(bytes)),
        DynSolValue::String(text) => json!(text),
        DynSolValue::Array(items) | DynSolValue::FixedArray(items) | DynSolValue::Tuple(items) => {
            items.iter().map(oracle).collect()
        }
        other => panic!("{other:?} is not made here"),
    }
}

/// An event: parameters and whether they are indexed, three at most.
fn events() -> impl Strategy<Value = Vec<(DynSolType, bool)>> {
    vec((types(), any::<bool>()), 0..6).prop_map(|mut params| {
        let mut room = 3;
        for (ty, indexed) in &mut params {
            let word = !matches!(ty, DynSolType::Bytes | DynSolType::String) && !is_group(ty);
            *indexed &= word && room > 0;
            room -= usize::from(*indexed);
        }
        params
    })
}

fn is_group(ty: &DynSolType) -> bool {
    matches!(ty, DynSolType::Array(_) | DynSolType::FixedArray(..) | DynSolType::Tuple(_))
}

fn plan_of(params: &[(DynSolType, bool)]) -> (Vec<u8>, [u8; 32]) {
    let inputs = params.iter().enumerate().map(|(place, (ty, indexed))| {
        let mut input = spelled(ty);
        (input["name"], input["indexed"]) = (json!(format!("p{place}")), json!(indexed));
        input
    });
    let abi = json!([{"type": "event", "name": "E", "inputs": inputs.collect::<Vec<_>>()}]);
    let types: Vec<String> = params.iter().map(|(ty, _)| canonical(ty)).collect();
    (plan(&config(abi)).unwrap(), keccak256(format!("E({})", types.join(","))).0)
}

fn log_of(topic0: [u8; 32], params: &[(DynSolType, bool)], values: &[DynSolValue]) -> TestLog {
    let mut topics = vec![topic0];
    let mut body = Vec::new();
    for ((_, indexed), value) in params.iter().zip(values) {
        match indexed {
            true => topics.push(value.as_word().unwrap().0),
            false => body.push(value.clone()),
        }
    }
    TestLog::new(topics, DynSolValue::Tuple(body).abi_encode_params())
}

fn rows_of_event() -> impl Strategy<Value = (Vec<(DynSolType, bool)>, Vec<Vec<DynSolValue>>)> {
    events().prop_flat_map(|params| {
        let row = params.iter().map(|(ty, _)| values(ty)).collect::<Vec<_>>();
        (Just(params), vec(row, 1..12))
    })
}

/// A change to data: where, by what.
fn spoil(data: &mut Vec<u8>, changes: &[(prop::sample::Index, u8, bool)], cut: Option<prop::sample::Index>) {
    for (at, byte, whole) in changes {
        if data.is_empty() {
            return;
        }
        let at = at.index(data.len());
        data[at] = *byte;
        if *whole {
            // An offset or length that might be followed.
            let word = at / 32 * 32;
            let end = data.len().min(word + 32);
            data[word..end].fill(0);
            data[end - 1] = *byte;
        }
    }
    if let Some(cut) = cut {
        data.truncate(cut.index(data.len() + 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_another_encoder_wrote_is_read((params, rows) in rows_of_event()) {
        let (plan, topic0) = plan_of(&params);
        let logs: Vec<TestLog> = rows.iter().map(|row| log_of(topic0, &params, row)).collect();
        for (outcome, values) in decode(&plan, &logs).iter().zip(&rows) {
            let Outcome::Row(_, row) = outcome else { panic!("{outcome:?} of {values:?}") };
            let args = params.iter().zip(values).map(|((ty, _), value)| {
                json!(["", canonical(ty), oracle(value), "data"])
            });
            spelled::assert_equals(row, &args.collect(), &format!("{params:?}"));
            for (column, _, value) in row.iter().filter(|(column, _, _)| column.ends_with("__raw")) {
                prop_assert!(value.is_none(), "{} is set", column);
            }
        }
    }

    /// I10, I16: whatever the bytes, each log has one outcome, which the others of its batch do not change.
    #[test]
    fn spoilt_data_have_an_outcome_of_their_own(
        (params, rows) in rows_of_event(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 0..6),
        cuts in vec(proptest::option::of(any::<prop::sample::Index>()), 12),
        split in any::<prop::sample::Index>(),
    ) {
        let (plan, topic0) = plan_of(&params);
        let mut logs: Vec<TestLog> = rows.iter().map(|row| log_of(topic0, &params, row)).collect();
        for (log, cut) in logs.iter_mut().zip(&cuts) {
            spoil(&mut log.data, &changes, *cut);
        }
        let whole = decode(&plan, &logs);
        let single: Vec<Outcome> = logs.chunks(1).flat_map(|log| decode(&plan, log)).collect();
        prop_assert_eq!(&whole, &single);
        let (left, right) = logs.split_at(split.index(logs.len()));
        let halves: Vec<Outcome> = [left, right]
            .into_iter()
            .filter(|half| !half.is_empty())
            .flat_map(|half| decode(&plan, half))
            .collect();
        prop_assert_eq!(&whole, &halves);
    }

    #[test]
    fn bytes_that_are_no_plan_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        let framed = [b"nhp\x02", bytes.as_slice()].concat();
        for bytes in [bytes, framed] {
            if let Ok(plan) = nuthatch_bundle_abi::plan::Plan::read(&bytes) {
                prop_assert_eq!(plan.write(), bytes);
            }
        }
    }
}
