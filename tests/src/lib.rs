//! Whole-system tests of nuthatch, and what they stand on.

pub mod demo_chain;
