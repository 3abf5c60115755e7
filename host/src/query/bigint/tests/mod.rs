#![allow(clippy::unwrap_used)]

mod codec;
mod harness;
mod sql;
