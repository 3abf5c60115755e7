//! The chain: heads, logs, headers and finality, over JSON-RPC or from a recording.
//!
//! [`Source`] is what the cursor sees. [`RpcSource`] serves it from a pool of endpoints, [`ReplaySource`] from a file,
//! through the same parser and the same checks.

mod ancestor;
mod error;
mod filters;
mod heads;
mod queries;
mod range;
mod refusal;
mod replay;
mod rpc;
mod settle;
mod source;
mod table;
mod wire;

pub use ancestor::common_ancestor;
pub use error::{Call, ChainError, FinalityDispute, Result, Trouble};
pub use filters::LogFilters;
pub use heads::{Heads, Look};
pub use range::{Next, RangeBounds, RangeController};
pub use refusal::{Refusal, RefusalKind};
pub use replay::{Pace, ReplayOptions, ReplaySource};
pub use rpc::{Backoff, EndpointConfig, EndpointUrl, RetryPolicy, RpcConfig, RpcLimits, RpcSource, probe_chain};
pub use source::{NotLinked, Source, Tip, TipWindow};
pub use table::{ChainSpec, Finality, UnknownChain};
pub use wire::derived_block_hash;

/// Parses the body of an answer to `eth_getLogs`, as the RPC source does. For fuzzing and benches.
#[doc(hidden)]
pub fn parse_logs_answer(
    body: &[u8],
    chain: crate::model::ChainId,
) -> std::result::Result<crate::model::LogBatch, String> {
    match wire::parse_logs(body, chain) {
        Ok(wire::Reply::Result(logs)) => Ok(logs.batch),
        Ok(wire::Reply::Error(error)) => Err(error.message),
        Err(bad) => Err(bad.to_string()),
    }
}

/// Parses the body of an answer to a batch of requests for headers, as the RPC source does. For fuzzing.
#[doc(hidden)]
pub fn parse_headers_answer(body: &[u8]) -> std::result::Result<Vec<crate::model::Header>, String> {
    let replies = match wire::batch(body).map_err(|bad| bad.to_string())? {
        wire::BatchReply::Each(replies) => replies.into_values(),
        wire::BatchReply::Refused(error) => return Err(error.message),
    };
    let headers = replies.map(|reply| match reply {
        wire::Reply::Result(raw) => serde_json::from_str(raw.get()).map_err(|error| error.to_string()),
        wire::Reply::Error(error) => Err(error.message),
    });
    headers.filter_map(|header| header.map(|wire::OptionalHeader(header)| header).transpose()).collect()
}
