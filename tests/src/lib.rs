//! What the tests share.

pub mod chain_lab;
pub mod mock_rpc;
