//! Which cursors run in this process, and how they are reached from outside it.

mod embedded;
mod progress;
pub mod socket;

pub use embedded::{ChainPlan, Embedded, EmbeddedPlan, Folder, RunningChain, Sealing, WorkerError};
