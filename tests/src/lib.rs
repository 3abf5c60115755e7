//! What the tests share.

pub mod mock_rpc;
