#![allow(clippy::unwrap_used)]

mod arithmetic;
mod codec;
mod golden;
mod harness;
mod sql;
