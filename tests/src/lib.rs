//! What whole-system tests share.

pub mod demo_chain;
pub mod guests;
