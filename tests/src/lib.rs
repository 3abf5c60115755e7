//! What the whole-system tests share: recorded and real chains, the fault lab, hostile guests, processes under test.

pub mod anvil;
pub mod chain_lab;
pub mod clock;
pub mod cuts;
pub mod demo_chain;
pub mod guests;
pub mod long_chain;
pub mod mock_nest;
pub mod mock_rpc;
pub mod mount;
pub mod process;
pub mod real_data;
pub mod s3;
pub mod sealed_store;
pub mod token;
