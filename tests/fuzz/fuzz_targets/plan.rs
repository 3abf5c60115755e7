//! Foreign bytes as a plan: no panic, one spelling, and what passes the check is described.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_bundle_abi::StandardDecoder;
use nuthatch_bundle_abi::plan::Plan;
use nuthatch_sdk::Decoder;

fuzz_target!(|data: &[u8]| {
    for bytes in [data.to_vec(), [b"nhp\x02", data].concat()] {
        let Ok(plan) = Plan::read(&bytes) else { continue };
        assert_eq!(plan.write(), bytes);
        let described = StandardDecoder::describe(&bytes);
        assert_eq!(described.is_ok(), plan.check().is_ok());
        if let Ok(part) = described {
            assert!(part.tables.iter().all(|table| !table.name.is_empty()));
            assert_eq!(part.filters.len(), plan.contracts.len());
        }
    }
});
