//! The JSON that a decoder's `plan` takes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::NestContract;
use crate::{ContractAddress, FilePath};

/// A configuration that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum PlanConfigError {
    /// A file that was not given.
    #[error("the ABI '{0}' that nest.toml names is missing; put the file there or correct the path")]
    MissingFile(FilePath),
    /// A file that is not JSON.
    #[error("the ABI '{path}' is not JSON: {error}; fetch the contract's ABI again")]
    NotJson {
        /// Its path.
        path: FilePath,
        /// What the parser says.
        error: serde_json::Error,
    },
    /// The whole cannot be written.
    #[error("the decoder's configuration cannot be written: {0}; report this")]
    Encode(serde_json::Error),
}

#[derive(Serialize)]
struct Config<'a> {
    contracts: Vec<Contract<'a>>,
}

#[derive(Serialize)]
struct Contract<'a> {
    alias: &'a str,
    addresses: &'a [ContractAddress],
    start_block: u64,
    /// As found: the order of keys and of entries may mean something.
    abis: Vec<&'a RawValue>,
    events: Option<&'a [String]>,
    anonymous: &'a [String],
}

pub(super) fn plan_config(
    contracts: &[NestContract],
    files: &BTreeMap<FilePath, Vec<u8>>,
) -> Result<Vec<u8>, PlanConfigError> {
    let abi = |path: &FilePath| -> Result<_, PlanConfigError> {
        let bytes = files.get(path).ok_or_else(|| PlanConfigError::MissingFile(path.clone()))?;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        serde_json::from_slice::<&RawValue>(bytes)
            .map_err(|error| PlanConfigError::NotJson { path: path.clone(), error })
    };
    let contract =
        |contract: &'_ NestContract| -> Result<_, PlanConfigError> { contract.abis.iter().map(abi).collect() };
    let abis = contracts.iter().map(contract).collect::<Result<Vec<Vec<_>>, _>>()?;
    let contracts = contracts
        .iter()
        .zip(abis)
        .map(|(contract, abis)| Contract {
            alias: &contract.alias,
            addresses: &contract.addresses,
            start_block: contract.start_block,
            abis,
            events: contract.events.as_deref(),
            anonymous: &contract.anonymous,
        })
        .collect();
    serde_json::to_vec(&Config { contracts }).map_err(PlanConfigError::Encode)
}
