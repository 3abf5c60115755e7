//! Foreign bytes as an answer to `eth_getLogs`: no panic, and what is accepted has columns that fit together.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rooms::chain::parse_logs_answer;
use rooms::model::ChainId;

fuzz_target!(|body: &[u8]| {
    let Ok(batch) = parse_logs_answer(body, ChainId(1)) else { return };
    let logs = batch.len();
    assert_eq!(batch.iter().count(), logs);
    let columns = [
        batch.block_hash.len(),
        batch.block_timestamp.len(),
        batch.tx_index.len(),
        batch.log_index.len(),
        batch.tx_hash.len(),
        batch.address.len(),
        batch.topic_offsets.len() - 1,
        batch.data_offsets.len() - 1,
    ];
    assert!(columns.iter().all(|column| *column == logs));
    assert_eq!(batch.topic_offsets.last().copied(), Some(batch.topics.len() as u32));
    assert_eq!(batch.data_offsets.last().copied(), Some(batch.data.len() as u32));
    assert!(batch.iter().all(|log| log.topics.len() <= 4));
});
