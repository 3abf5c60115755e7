//! What the whole-system tests share: the mock chain, the fault lab, hostile guests, processes under test.

pub mod anvil;
pub mod process;
//! Whole-system tests of nuthatch, and what they stand on.

pub mod demo_chain;
