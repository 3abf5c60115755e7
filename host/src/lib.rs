//! Nuthatch turns an EVM contract's history into SQL.
//!
//! One folder a concern, in the order in which data flows; imports point down this list, never up.

pub mod chain;
pub mod cli;
pub mod cursor;
pub mod model;
pub mod plugin;
pub mod query;
pub mod segments;
pub mod serve;
pub mod store;
pub mod worker;
