//! Foreign text as an ABI, and as the whole of what `plan` is given: no panic, and what is accepted makes a plan that is
//! read back, in which each table is described.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_bundle_abi::abi::events;
use nuthatch_bundle_abi::plan::Plan;
use nuthatch_sdk::Decoder;

fn planned(config: &str) {
    let Ok(bytes) = StandardDecoder::plan(config.as_bytes()) else { return };
    let plan = Plan::read(&bytes).expect("what was written is read");
    assert_eq!(plan.write(), bytes);
    let part = StandardDecoder::describe(&bytes).expect("what was built is sound");
    let forms: usize = plan.contracts.iter().map(|contract| contract.forms.len()).sum();
    assert_eq!((part.tables.len(), part.filters.len()), (forms, plan.contracts.len()));
}

fuzz_target!(|text: &str| {
    let found = events(text);
    if serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok() {
        let named = |anonymous: bool| {
            let events = found.iter().flatten().flatten().filter(|event| event.anonymous == anonymous);
            let names: Vec<&str> = events.map(|event| event.name.as_str()).collect();
            serde_json::to_string(&names).expect("names are text")
        };
        let (events, anonymous) = (named(false), named(true));
        let address = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
        planned(&format!(
            r#"{{"contracts":[{{"alias":"c","addresses":["{address}"],"abis":[{text}],"anonymous":{anonymous}}}]}}"#
        ));
        planned(&format!(
            r#"{{"contracts":[{{"alias":"c","addresses":["{address}"],"abis":[{text},{text}],"events":{events}}}]}}"#
        ));
    }
    planned(text);
});
