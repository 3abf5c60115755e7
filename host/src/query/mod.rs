//! SQL over hot and sealed rows: tables, views, 256-bit integers, guards.
//!
//! A query is parsed and held to reading, planned over one snapshot of the store, and run with a deadline, caps and a
//! share of one memory pool. The snapshot's read ends before the plan runs; rows come from segments and
//! chunks, which never change.

pub mod answer;
pub mod bigint;
mod cache;
mod catalogs;
mod chunk;
mod classify;
mod describe;
mod engine;
mod error;
mod guard;
mod hex;
mod information;
mod limits;
mod names;
mod page;
mod planner;
mod provider;
mod queue;
mod scan;
mod sealed;
mod session;
mod source;
mod status;
mod tables;
#[cfg(test)]
pub(crate) mod tests;
mod yielding;

pub use answer::{Answer, AnswerColumn, Meta};
pub use engine::{Description, EndpointInfo, QueryEngine, Served};
pub use error::{BadQuery, Flaw, Position, QueryError};
pub use information::{ColumnInfo, TableInfo, TableKind};
pub use limits::QueryLimits;
pub use page::{Filter, Next, Page, PageKey, PageOrder, PageRequest};
