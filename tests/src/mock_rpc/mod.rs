//! A deterministic chain, and a JSON-RPC server for it with a switch for each fault.
//!
//! ```ignore
//! let chain = MockChain::new(7, 400);
//! let rpc = MockRpc::start(&chain).await;
//! rpc.inject(Fault::Status(500).on("eth_getLogs").times(2));
//! // … index from rpc.url() …
//! chain.reorg(5);
//! chain.advance(1);
//! assert!(rpc.calls("eth_getLogs") < 40);
//! ```

mod answer;
mod chain;
mod fault;
mod server;

pub use chain::{APPROVAL, MockChain, TRANSFER};
pub use fault::{Fault, Injection};
pub use server::MockRpc;
