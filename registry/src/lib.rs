//! Nest bundles: format, address, data identity, manifest and compatibility.
#![deny(missing_docs)]

mod hash;
mod schema;

pub use hash::{BadHash, BadName, BundleHash, DataIdentity, NestName};
pub use schema::{ColumnSchema, ColumnType, LogFilter, PROVENANCE, TableSchema, UnknownType};
