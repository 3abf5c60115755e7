#![allow(clippy::unwrap_used)]

mod codec;
mod golden;
mod harness;
mod sql;
