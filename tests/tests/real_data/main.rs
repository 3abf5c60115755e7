//! Real logs and edge cases, all the way: recorded logs, `nuthatch dev` with the standard decoder's component, the
//! store, SQL over HTTP; what comes back equals what four independent decoders made of the same logs.
#![allow(clippy::unwrap_used)]

mod index;
mod logs;
mod vectors;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
