//! The recorded form.

use std::fmt::Write as _;

use super::Block;

/// The blocks as the lines of a recorded chain.
pub fn record(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        let _ = write!(
            text,
            r#"{{"header":{{"number":"{:#x}","hash":"{}","parentHash":"{}","timestamp":"{:#x}","logsBloom":"{}"}},"logs":["#,
            block.number, block.hash, block.parent_hash, block.timestamp, block.bloom
        );
        for (place, log) in block.logs.iter().enumerate() {
            let topics: Vec<String> = log.topics.iter().map(|topic| format!("\"{topic}\"")).collect();
            let _ = write!(
                text,
                r#"{}{{"address":"{:#x}","topics":[{}],"data":"0x{}","transactionHash":"{}","transactionIndex":"{:#x}","logIndex":"{:#x}"}}"#,
                if place == 0 { "" } else { "," },
                log.address,
                topics.join(","),
                hex::encode(&log.data),
                log.tx_hash,
                log.tx_index,
                log.log_index
            );
        }
        text.push_str("]}\n");
    }
    text
}
