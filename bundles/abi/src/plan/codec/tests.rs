#![allow(clippy::unwrap_used)]

use super::*;
use crate::config::Config;

fn sample() -> Plan<'static> {
    let inputs = r#"[{"name":"from","type":"address","indexed":true},{"name":"s","type":"string","indexed":true},
        {"name":"a","type":"uint8"},{"name":"b","type":"int256[3][]"},{"name":"c","type":"function"},
        {"name":"d","type":"tuple","components":[{"name":"x","type":"bytes"},{"name":"","type":"bytes7"}]},
        {"name":"e","type":"bool"},{"name":"f","type":"string"}]"#;
    let abi = format!(
        r#"[{{"type":"event","name":"E","inputs":{inputs}}},
            {{"type":"event","name":"Anon","anonymous":true,"inputs":[]}},{{"type":"event","name":"P"}}]"#
    );
    let config = format!(
        r#"{{"contracts":[{{"alias":"a","addresses":["0x{}"],"start_block":18446744073709551615,"abis":[{abi}],
            "anonymous":["Anon"]}},{{"alias":"b","addresses":["0x{}","0x{}"],"abis":[{abi}],"events":["P"]}}]}}"#,
        "11".repeat(20),
        "22".repeat(20),
        "33".repeat(20),
    );
    let config: Config = serde_json::from_str(&config).unwrap();
    super::super::build(&config).unwrap()
}

#[test]
fn what_was_written_is_read() {
    let plan = sample();
    assert_eq!((plan.contracts.len(), plan.contracts[0].forms.len(), plan.contracts[1].narrowed), (2, 3, true));
    let bytes = plan.write();
    let read = Plan::read(&bytes);
    assert_eq!(read.as_ref(), Ok(&plan));
    assert_eq!(read.unwrap().check().unwrap(), [vec![[0x11; 20]], vec![[0x22; 20], [0x33; 20]]]);
}

#[test]
fn every_cut_is_noticed() {
    let bytes = sample().write();
    for len in 0..bytes.len() {
        assert!(Plan::read(&bytes[..len]).is_err(), "{len} of {} bytes", bytes.len());
    }
    assert_eq!(Plan::read(&[&bytes[..], &[0]].concat()), Err(BadPlan("bytes are left after its end")));
}

#[test]
fn a_changed_byte_is_refused_or_another_plan() {
    let plan = sample();
    let bytes = plan.write();
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            if let Ok(other) = Plan::read(&changed) {
                // One plan has one spelling, so that equal data identities mean equal plans.
                assert_eq!(other.write(), changed, "byte {at}");
                assert_ne!(other, plan, "byte {at}");
            }
        }
    }
}

#[test]
fn lists_that_lie_about_their_length_take_no_room() {
    let mut bytes = MAGIC.to_vec();
    number(&mut bytes, u64::MAX);
    assert!(Plan::read(&bytes).is_err());
}

#[test]
fn what_could_not_have_been_built_is_refused() {
    type Spoil = fn(&mut Plan<'static>);
    let spoils: [(&str, Spoil); 13] = [
        ("no address", |plan| plan.owners = Owners::new([([1; 20], 0)])),
        ("an address of no contract", |plan| plan.owners.0.to_mut()[0][20] = 2),
        ("an address twice", |plan| plan.owners.0.to_mut().push([0x33; 24])),
        ("addresses out of order", |plan| plan.owners.0.to_mut().reverse()),
        ("no event", |plan| plan.contracts[0].forms.clear()),
        ("a table twice", |plan| plan.contracts[0].forms[0].table = plan.contracts[1].forms[0].table.clone()),
        ("two forms alike", |plan| {
            let mut twin = plan.contracts[0].forms[0].clone();
            twin.table = "twin".into();
            plan.contracts[0].forms.push(twin);
        }),
        ("a bad table", |plan| plan.contracts[0].forms[0].table = "A".into()),
        ("a bad column", |plan| plan.contracts[0].forms[0].params[0].column = "1a".into()),
        ("an empty alias", |plan| plan.contracts[0].alias = "".into()),
        ("a column twice", |plan| plan.contracts[0].forms[0].params[0].column = "a".into()),
        ("a companion's name", |plan| plan.contracts[0].forms[0].params[0].column = "f__raw".into()),
        ("too many topics", |plan| plan.contracts[0].forms[0].params.iter_mut().for_each(|param| param.indexed = true)),
    ];
    for (what, spoil) in spoils {
        let mut plan = sample();
        spoil(&mut plan);
        let bytes = plan.write();
        assert!(Plan::read(&bytes).and_then(|plan| plan.check()).is_err(), "{what} was accepted");
    }
}

#[test]
fn numbers_have_one_spelling() {
    for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
        let mut bytes = Vec::new();
        number(&mut bytes, value);
        let mut reader = Reader { rest: &bytes };
        assert_eq!((reader.number(), reader.rest.len()), (Ok(value), 0));
    }
    for bytes in [&[0x80, 0][..], &[0xff, 0x80, 0], &[0xff; 10], &[0x80, 0x80]] {
        assert!(Reader { rest: bytes }.number().is_err(), "{bytes:x?}");
    }
}

#[test]
fn types_are_bounded_in_depth() {
    let mut bytes = vec![8; 17];
    bytes.push(0);
    assert!(read_type(&mut Reader { rest: &bytes }, 0).is_err());
    assert!(read_type(&mut Reader { rest: &bytes[1..] }, 0).is_ok());
    assert!(read_type(&mut Reader { rest: &[8; 100_000] }, 0).is_err());
}
