//! What `plan` is given: the contracts of a nest, as JSON.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The whole of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config<'a> {
    /// Contracts in the order of the nest's file.
    #[serde(borrow)]
    pub contracts: Vec<ContractConfig<'a>>,
}

/// One contract.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractConfig<'a> {
    /// First half of its tables' names.
    pub alias: String,
    /// Hex with `0x`, at least one.
    pub addresses: Vec<String>,
    /// Logs of lower blocks do not count.
    #[serde(default)]
    pub start_block: u64,
    /// ABI JSON as found, merged in this order.
    #[serde(borrow)]
    pub abis: Vec<&'a RawValue>,
    /// Names or signatures of the events that are wanted; none: all that are not anonymous.
    #[serde(default)]
    pub events: Option<Vec<String>>,
    /// Names or signatures of the anonymous events that are wanted.
    #[serde(default)]
    pub anonymous: Vec<String>,
}
