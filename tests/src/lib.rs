//! What whole-system tests share.

pub mod guests;
