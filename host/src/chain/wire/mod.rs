//! Reads JSON-RPC answers. All bytes here are foreign: every length, digit and number is checked.

mod envelope;
mod header;
mod hex;
mod logs;

pub(super) use envelope::{BatchReply, Reply, RpcError, batch, reply};
pub(super) use header::{OptionalHeader, RawHeader};
pub(super) use hex::{Bytes0x, HashText, QuantityText, fixed as fixed_hex};
pub use logs::{BlockHashes, ParsedLogs, derived_block_hash};
pub(super) use logs::{LogsOf, log_line, parse_logs};

/// Bytes that are not what the method promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadJson(pub String);

impl From<serde_json::Error> for BadJson {
    fn from(error: serde_json::Error) -> Self {
        let text = error.to_string();
        BadJson(if error.is_eof() { format!("the body ends too early: {text}") } else { text })
    }
}

#[cfg(test)]
mod tests;
