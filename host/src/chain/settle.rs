//! From answers to one batch, and from headers and logs to one chain: pure checks, no I/O.

use std::collections::HashMap;

use crate::model::{BlockHash, BlockRef, Header, LogBatch};

/// Sorts and drops repetitions. Two different logs at one place, or two hashes of one block, cannot both be true.
pub(super) fn settle(batch: &mut LogBatch) -> Result<(), String> {
    batch.sort();
    for place in 1..batch.len() {
        let (before, log) = (batch.get(place - 1), batch.get(place));
        if before.block.number == log.block.number {
            if before.block.hash != log.block.hash {
                return Err(format!("logs of block {} name two block hashes", log.block.number));
            }
            if before.log_index == log.log_index {
                return Err(format!("two different logs at block {}, log {}", log.block.number, log.log_index));
            }
        }
    }
    Ok(())
}

/// Numbers of the blocks whose logs came without a timestamp, ascending, each once. The batch is sorted.
pub(super) fn blocks_without_time(batch: &LogBatch) -> Vec<u64> {
    let mut blocks: Vec<u64> = (0..batch.len())
        .filter(|&place| batch.block_timestamp[place] == 0)
        .map(|place| batch.block_number[place])
        .collect();
    blocks.dedup();
    blocks
}

/// Sets the timestamps of all logs of these blocks.
pub(super) fn fill_times(batch: &mut LogBatch, headers: &[Header]) -> Result<(), String> {
    let by_number: HashMap<u64, &Header> = headers.iter().map(|header| (header.number.0, header)).collect();
    for place in 0..batch.len() {
        let Some(header) = by_number.get(&batch.block_number[place]) else { continue };
        if batch.block_hash[place] != header.hash {
            return Err(orphan(batch.get(place).block, header.hash));
        }
        batch.block_timestamp[place] = header.timestamp;
    }
    Ok(())
}

/// Whether headers follow each other without gaps, from `first`.
pub(super) fn check_headers(first: u64, headers: &[Header]) -> Result<(), String> {
    for (header, number) in headers.iter().zip(first..) {
        if header.number.0 != number {
            return Err(format!("block {} came where block {number} was asked for", header.number));
        }
    }
    for pair in headers.windows(2) {
        if pair[1].parent_hash != pair[0].hash {
            return Err(format!("block {} is not the parent of block {}", pair[0].block_ref(), pair[1].block_ref()));
        }
    }
    Ok(())
}

/// Whether every log stands in one of these headers' blocks. Takes the timestamps from the headers.
pub(super) fn check_logs_stand_in(headers: &[Header], batch: &mut LogBatch) -> Result<(), String> {
    let Some(first) = headers.first() else {
        return if batch.is_empty() { Ok(()) } else { Err("logs without any header".into()) };
    };
    for place in 0..batch.len() {
        let block = batch.get(place).block;
        let header = block.number.0.checked_sub(first.number.0).and_then(|offset| headers.get(offset as usize));
        match header {
            Some(header) if header.hash == block.hash => batch.block_timestamp[place] = header.timestamp,
            Some(header) => return Err(orphan(block, header.hash)),
            None => return Err(format!("a log of block {block}, which was not asked for")),
        }
    }
    Ok(())
}

fn orphan(log: BlockRef, header: BlockHash) -> String {
    format!("a log names block {log}, and that block's header says {header}")
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
