//! The standard decoder: turns the logs of any event of its nest's ABIs into rows. `plan` works out once, when a bundle
//! is built, what `decode` needs; `decode` reads no JSON and allocates nothing per log. README.md beside this crate has
//! the rules that a nest's author or reader needs: names, types, what is rejected and why.
#![deny(missing_docs)]

pub mod abi;
pub mod config;
mod decode;
mod hex;
mod keccak;
pub mod naming;
pub mod plan;
pub mod types;

use nuthatch_sdk::{Decoded, Decoder, Failure, LogBatch, Logs, ManifestPart, failure};

use plan::{BadPlan, Plan};

/// The decoder as the component exports it.
pub struct StandardDecoder;

impl Decoder for StandardDecoder {
    fn plan(config: &[u8]) -> Result<Vec<u8>, Failure> {
        let config = serde_json::from_slice(config)
            .map_err(|error| failure("bad-config", format!("the contracts given to `plan` cannot be read: {error}")))?;
        Ok(plan::build(&config)?.write())
    }

    fn describe(plan: &[u8]) -> Result<ManifestPart, Failure> {
        plan::describe(&read(plan)?).map_err(bad_plan)
    }

    fn decode(plan: &[u8], batch: &LogBatch) -> Result<Decoded, Failure> {
        Ok(decode::decode(&read(plan)?, &Logs::new(batch)?))
    }
}

fn read(plan: &[u8]) -> Result<Plan<'_>, Failure> {
    Plan::read(plan).map_err(bad_plan)
}

fn bad_plan(error: BadPlan) -> Failure {
    failure("bad-plan", format!("the bundle's plan cannot be read: {}; build the bundle again", error.0))
}

#[cfg(feature = "export")]
nuthatch_sdk::export_decoder!(StandardDecoder);
