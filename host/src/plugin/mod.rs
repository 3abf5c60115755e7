//! wasmtime: load, limit, instantiate, call, validate.
//!
//! A [`PluginHost`] holds the one engine of the process. It turns a component's bytes into a [`Plugin`]; a [`Decoder`]
//! is a plugin with a plan and tables, and turns logs into Arrow rows.
//!
//! # Guarantees
//!
//! - Nothing that a component or a call of it does takes the process down: it ends in a [`LoadError`], a
//!   [`GuestFault`] or a [`HostFault`].
//! - A call can use its own fuel, memory, table space and output bytes, and no more.
//! - Each call has a store and an instance of its own, so no call sees what another one left behind.
//! - What comes back is checked whole before an Arrow array is made of it: every log of a batch is a source of rows,
//!   rejected, or ignored, or the output is invalid.

mod budget;
mod bundle;
mod call;
mod decode;
mod describe;
mod engine;
mod fault;
mod inspect;
mod limits;
mod load;
mod log;
pub mod nest_folder;
mod parts;
mod raw;
mod rows;
#[cfg(test)]
mod tests;
mod v1;
mod validate;

pub use budget::Budget;
pub use bundle::{BundleLoadError, LoadedBundle, load_bundle};
pub use call::{CallError, Plugin};
pub use decode::{Counts, DecodeError, Decoded, Decoder};
pub use describe::Description;
pub use engine::{PluginError, PluginHost};
pub use fault::{GuestFault, HostFault};
pub use limits::{ComponentLimits, PluginLimits};
pub use load::LoadError;
pub use log::{LogLevel, LogLine, LogSink, TracingSink};
pub use validate::{ColumnProblem, OutputError};
