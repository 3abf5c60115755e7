//! What a nest author writes against, lower layer: the bindings of the `decoder` world, a reader over a batch of logs,
//! builders for columns, and panics that say where they happened.
//!
//! A nest's decoder is a type that implements [`Decoder`] and is exported with [`export_decoder!`]. Everything but the
//! export itself is plain Rust, so a nest's tests run natively, without wasm:
//!
//! ```
//! use nuthatch_sdk::{Decoded, Decoder, Failure, LogBatch, Logs, ManifestPart};
//!
//! struct IgnoresAll;
//!
//! impl Decoder for IgnoresAll {
//!     fn describe(_plan: &[u8]) -> Result<ManifestPart, Failure> {
//!         Ok(ManifestPart { tables: vec![], filters: vec![] })
//!     }
//!
//!     fn decode(_plan: &[u8], batch: &LogBatch) -> Result<Decoded, Failure> {
//!         let logs = Logs::new(batch)?;
//!         Ok(Decoded { tables: vec![], rejected: vec![], ignored: logs.iter().map(|log| log.index).collect() })
//!     }
//! }
//!
//! nuthatch_sdk::export_decoder!(IgnoresAll);
//! ```
#![deny(missing_docs)]

/// The bindings that wit-bindgen makes of `schemas/wit/v1`.
#[allow(missing_docs, clippy::all)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../schemas/wit/v1",
        world: "decoder",
        pub_export_macro: true,
        default_bindings_module: "nuthatch_sdk::bindings",
    });
}

pub mod columns;
mod decoder;
pub mod log;
mod logs;
mod panics;

pub use bindings::nuthatch::nest::types::{
    Column, ColumnDef, Decoded, Failure, Filter, FixedWidth, LogBatch, ManifestPart, Rejection, TableDef, TableRows,
    Values, VarWidth,
};
pub use decoder::{Decoder, Exported};
pub use logs::{Log, Logs};
pub use panics::panic_text;

/// A failure with a kebab-case code and a message for people.
pub fn failure(code: &str, message: impl Into<String>) -> Failure {
    Failure { code: code.to_owned(), message: message.into() }
}
