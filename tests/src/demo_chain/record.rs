//! The recorded form: what `nuthatch::chain::ReplaySource` plays.

use std::fmt::Write as _;

use super::{Block, CHAIN_ID, Log};

/// The height at which play begins; the rest comes block by block, the reorg among it.
const START: u64 = 2_000;
/// How far the final block lies under the head.
const FINALITY_DEPTH: u64 = 24;

/// The blocks as the lines of a recorded chain.
pub fn record(blocks: &[Block]) -> String {
    let mut text = format!(
        "{{\"format\":\"nuthatch-chain/1\",\"chainId\":{CHAIN_ID},\"start\":{START},\
         \"finalityDepth\":{FINALITY_DEPTH}}}\n"
    );
    let mut head: Option<u64> = None;
    for block in blocks {
        if let Some(depth) = head.and_then(|head| (head + 1).checked_sub(block.number)).filter(|depth| *depth > 0) {
            text.push_str(&format!("{{\"reorg\":{{\"depth\":{depth}}}}}\n"));
        }
        head = Some(block.number);
        push_block(&mut text, block);
    }
    text
}

fn push_block(text: &mut String, block: &Block) {
    let logs: Vec<String> = block.logs.iter().map(|log| log_json(block, log)).collect();
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        r#"{{"block":{{"number":"{:#x}","hash":"{}","parentHash":"{}","timestamp":"{:#x}","logsBloom":"{}"}},"logs":[{}]}}"#,
        block.number,
        block.hash,
        block.parent_hash,
        block.timestamp,
        block.bloom,
        logs.join(",")
    );
}

fn log_json(block: &Block, log: &Log) -> String {
    let topics: Vec<String> = log.topics.iter().map(|topic| format!("\"{topic}\"")).collect();
    format!(
        r#"{{"address":"{:#x}","topics":[{}],"data":"0x{}","blockNumber":"{:#x}","blockHash":"{}","blockTimestamp":"{:#x}","transactionHash":"{}","transactionIndex":"{:#x}","logIndex":"{:#x}","removed":false}}"#,
        log.address,
        topics.join(","),
        hex::encode(&log.data),
        block.number,
        block.hash,
        block.timestamp,
        log.tx_hash,
        log.tx_index,
        log.log_index
    )
}
