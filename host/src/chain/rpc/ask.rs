//! One `eth_getLogs` request to one endpoint, its answer checked against what was asked.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::chain::error::Trouble;
use crate::chain::queries::{LogQuery, quantity};
use crate::chain::refusal::{Refusal, is_rate_limit};
use crate::chain::settle::settle;
use crate::chain::wire::{self, ParsedLogs, Reply, RpcError};
use crate::model::{BlockRange, BlockRef, ChainId};

use super::endpoint::{Endpoint, says_unknown};
use super::http::GET_LOGS;

/// Answers larger than this are parsed on a blocking thread.
const PARSE_ELSEWHERE: usize = 256 * 1024;

/// Which blocks' logs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Blocks {
    /// By number.
    Range(BlockRange),
    /// One block by hash, so that a node on another branch cannot answer for it.
    Hash(BlockRef),
}

impl Blocks {
    fn range(self) -> BlockRange {
        match self {
            Blocks::Range(range) => range,
            Blocks::Hash(block) => BlockRange { first: block.number, last: block.number },
        }
    }
}

/// Asks, parses and checks: sorted, each once, nothing that was not asked for. Timestamps may be missing.
pub(super) async fn ask(
    endpoint: &Endpoint,
    chain: ChainId,
    query: &LogQuery,
    blocks: Blocks,
) -> Result<ParsedLogs, Trouble> {
    let mut filter = query.to_json();
    match blocks {
        Blocks::Range(range) => {
            filter.insert("fromBlock".into(), quantity(range.first).into());
            filter.insert("toBlock".into(), quantity(range.last).into());
        }
        Blocks::Hash(block) => {
            filter.insert("blockHash".into(), format!("{:#x}", block.hash).into());
        }
    }
    let body = endpoint.post(GET_LOGS, json!([Value::Object(filter)])).await?;
    let bad = |text: String| Trouble::BadAnswer(endpoint.scrub(&text));
    let mut logs = match parse(body, chain).await.map_err(bad)? {
        Reply::Result(logs) => logs,
        Reply::Error(error) => return Err(said_no(endpoint, error, blocks)),
    };
    if let Some(stranger) = query.stranger(&logs.batch, blocks.range()) {
        return Err(bad(stranger));
    }
    settle(&mut logs.batch).map_err(bad)?;
    if let Blocks::Hash(block) = blocks
        && let Some(log) = logs.batch.iter().find(|log| log.block != block)
    {
        return Err(Trouble::Inconsistent(format!("logs of block {} came for block {block}", log.block)));
    }
    Ok(logs)
}

async fn parse(body: Bytes, chain: ChainId) -> Result<Reply<ParsedLogs>, String> {
    if body.len() < PARSE_ELSEWHERE {
        return wire::parse_logs(&body, chain).map_err(|error| error.to_string());
    }
    match tokio::task::spawn_blocking(move || wire::parse_logs(&body, chain)).await {
        Ok(parsed) => parsed.map_err(|error| error.to_string()),
        Err(stopped) => Err(format!("the parser stopped: {stopped}")),
    }
}

fn said_no(endpoint: &Endpoint, error: RpcError, blocks: Blocks) -> Trouble {
    let text = endpoint.scrub(&error.message);
    if is_rate_limit(error.code, &text) || error.code == -32601 {
        return endpoint.rpc_trouble(error);
    }
    match blocks {
        Blocks::Range(_) => Trouble::Refused(Refusal::read(&format!("error {}: {text}", error.code))),
        Blocks::Hash(block) => {
            if says_unknown(&text) {
                Trouble::Behind(format!("block {block}"))
            } else {
                endpoint.refuses_block_hash();
                Trouble::Rpc { code: error.code, message: text }
            }
        }
    }
}
