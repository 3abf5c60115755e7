//! What a write may do, apart from how a backend does it: pure functions over what the store holds.

mod chain;
mod merge;
mod window;

pub(crate) use chain::{Advance, Stand};
pub(crate) use merge::plan_merges;
pub(crate) use window::{Standing, Verdict, check_window, reaches_above};
