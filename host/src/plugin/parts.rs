//! Cutting a batch: by logs, and by bytes so that one fat log cannot break the memory cap of its neighbours.

use std::ops::Range;

use super::budget::Budget;
use crate::model::{B256, LogBatch, LogView};

/// The logs of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub batch: &'a LogBatch,
    /// First log.
    pub first: usize,
    /// Behind the last log.
    pub last: usize,
}

impl<'a> Part<'a> {
    pub(super) fn new(batch: &'a LogBatch, range: Range<usize>) -> Self {
        Part { batch, first: range.start, last: range.end }
    }

    pub(super) fn len(&self) -> usize {
        self.last - self.first
    }

    /// The log at `index` of the part.
    pub(super) fn log(&self, index: usize) -> LogView<'a> {
        self.batch.get(self.first + index)
    }

    pub(super) fn topics(&self) -> &'a [B256] {
        let offsets = &self.batch.topic_offsets;
        &self.batch.topics[offsets[self.first] as usize..offsets[self.last] as usize]
    }

    pub(super) fn data(&self) -> &'a [u8] {
        let offsets = &self.batch.data_offsets;
        &self.batch.data[offsets[self.first] as usize..offsets[self.last] as usize]
    }

    /// The least budget among the logs.
    pub(super) fn fuel(&self, budget: Budget) -> u64 {
        let least = (self.first..self.last).map(|log| log_bytes(self.batch, log)).min().unwrap_or(0);
        budget.of_log(least)
    }

    /// The two halves of a part with at least two logs.
    pub(super) fn halves(&self) -> Option<(Part<'a>, Part<'a>)> {
        let middle = self.first + self.len() / 2;
        let halves = (Part { last: middle, ..*self }, Part { first: middle, ..*self });
        (self.len() > 1).then_some(halves)
    }
}

/// Bytes of topics and data of one log.
fn log_bytes(batch: &LogBatch, log: usize) -> usize {
    let topics = batch.topic_offsets[log + 1] - batch.topic_offsets[log];
    let data = batch.data_offsets[log + 1] - batch.data_offsets[log];
    topics as usize * 32 + data as usize
}

/// Ranges of at most `logs` logs and `bytes` bytes each; a log that alone has more gets a range of its own.
pub(super) fn cut(batch: &LogBatch, logs: usize, bytes: usize) -> Vec<Range<usize>> {
    // Beside topics and data: number, time, indices, hash, address and two offsets.
    const FIXED: usize = 8 + 8 + 4 + 8 + 32 + 20 + 4 + 4;
    let mut ranges = Vec::new();
    let (mut first, mut held) = (0, 0);
    for log in 0..batch.len() {
        let size = log_bytes(batch, log) + FIXED;
        if log > first && (log - first >= logs || held + size > bytes) {
            ranges.push(first..log);
            (first, held) = (log, 0);
        }
        held += size;
    }
    if first < batch.len() {
        ranges.push(first..batch.len());
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BlockNumber, BlockRef, ChainId};

    fn batch(sizes: &[usize]) -> LogBatch {
        let mut batch = LogBatch::new(ChainId(1));
        for (place, &size) in sizes.iter().enumerate() {
            batch.push(LogView {
                block: BlockRef { number: BlockNumber(place as u64), hash: B256::ZERO },
                timestamp: 0,
                tx_index: 0,
                log_index: 0,
                tx_hash: B256::ZERO,
                address: Default::default(),
                topics: &[B256::ZERO],
                data: &vec![0; size],
            });
        }
        batch
    }

    #[test]
    fn parts_hold_every_log_once_and_keep_the_bounds() {
        let batch = batch(&[10, 10, 10, 5_000, 10, 10]);
        assert_eq!(cut(&batch, 2, 1_000), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!(cut(&batch, 100, usize::MAX).first(), Some(&(0..6)));
        assert_eq!(cut(&batch, 1, 1), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
        assert!(cut(&LogBatch::new(ChainId(1)), 10, 10).is_empty());
    }

    #[test]
    fn a_part_has_the_budget_of_its_least_log() {
        let batch = batch(&[100, 10, 5_000]);
        let budget = Budget { base: 1_000, per_log: 0, per_byte: 1 };
        assert_eq!(Part::new(&batch, 0..3).fuel(budget), 1_000 + 42);
        assert_eq!(Part::new(&batch, 2..3).fuel(budget), 1_000 + 5_032);
    }
}
