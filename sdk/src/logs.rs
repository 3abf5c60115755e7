//! A reader over the columns of a batch of logs.

use crate::{Failure, LogBatch, failure};

/// A batch whose lengths and offsets have been checked, so that reading a log is slicing.
#[derive(Clone, Copy, Debug)]
pub struct Logs<'a> {
    batch: &'a LogBatch,
    len: usize,
    address: &'a [[u8; 20]],
    tx_hash: &'a [[u8; 32]],
    topics: &'a [[u8; 32]],
}

/// One log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log<'a> {
    /// Place in the batch: what a row's `source`, a rejection and the ignored list name.
    pub index: u32,
    /// Height of its block.
    pub block_number: u64,
    /// Unix seconds of its block.
    pub block_timestamp: u64,
    /// Index of its transaction in the block.
    pub tx_index: u32,
    /// Index in the block.
    pub log_index: u64,
    /// Its transaction.
    pub tx_hash: &'a [u8; 32],
    /// The contract that emitted it.
    pub address: &'a [u8; 20],
    /// Topics in order; none to four on a real chain.
    pub topics: &'a [[u8; 32]],
    /// Data.
    pub data: &'a [u8],
}

impl<'a> Logs<'a> {
    /// Checks lengths and offsets. A batch that does not fit together is a `bad-batch` failure.
    pub fn new(batch: &'a LogBatch) -> Result<Self, Failure> {
        let len = batch.len as usize;
        let bad = |what: &str| failure("bad-batch", format!("the batch says {len} logs; {what}"));
        let numbers = [
            ("block-number", batch.block_number.len()),
            ("block-timestamp", batch.block_timestamp.len()),
            ("tx-index", batch.tx_index.len()),
            ("log-index", batch.log_index.len()),
        ];
        for (column, found) in numbers {
            if found != len {
                return Err(bad(&format!("{column} has {found}")));
            }
        }
        let (address, rest) = batch.address.as_chunks();
        if address.len() != len || !rest.is_empty() {
            return Err(bad(&format!("address has {} bytes", batch.address.len())));
        }
        let (tx_hash, rest) = batch.tx_hash.as_chunks();
        if tx_hash.len() != len || !rest.is_empty() {
            return Err(bad(&format!("tx-hash has {} bytes", batch.tx_hash.len())));
        }
        let (topics, rest) = batch.topics.as_chunks();
        if !rest.is_empty() {
            return Err(bad(&format!("topics has {} bytes, not a multiple of 32", batch.topics.len())));
        }
        if !fits(&batch.topic_offsets, len, topics.len()) {
            return Err(bad("topic-offsets does not rise from 0 to the number of topics"));
        }
        if !fits(&batch.data_offsets, len, batch.data.len()) {
            return Err(bad("data-offsets does not rise from 0 to the length of the data"));
        }
        Ok(Logs { batch, len, address, tx_hash, topics })
    }

    /// Number of logs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no log.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Chain of every log.
    pub fn chain_id(&self) -> u64 {
        self.batch.chain_id
    }

    /// The log at this place.
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn get(&self, index: usize) -> Log<'a> {
        Log {
            index: index as u32,
            block_number: self.batch.block_number[index],
            block_timestamp: self.batch.block_timestamp[index],
            tx_index: self.batch.tx_index[index],
            log_index: self.batch.log_index[index],
            tx_hash: &self.tx_hash[index],
            address: &self.address[index],
            topics: self.topics(index),
            data: self.data(index),
        }
    }

    /// Height of one log's block.
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn block_number(&self, index: usize) -> u64 {
        self.batch.block_number[index]
    }

    /// The contract that emitted one log.
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn address(&self, index: usize) -> &'a [u8; 20] {
        &self.address[index]
    }

    /// The topics of one log.
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn topics(&self, index: usize) -> &'a [[u8; 32]] {
        let offsets = &self.batch.topic_offsets;
        &self.topics[offsets[index] as usize..offsets[index + 1] as usize]
    }

    /// The data of one log.
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn data(&self, index: usize) -> &'a [u8] {
        let offsets = &self.batch.data_offsets;
        &self.batch.data[offsets[index] as usize..offsets[index + 1] as usize]
    }

    /// The topics of all logs, one after the other: for loops that look at one place of many logs.
    pub fn all_topics(&self) -> &'a [[u8; 32]] {
        self.topics
    }

    /// Where the topics of one log begin in [`Logs::all_topics`].
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn topics_start(&self, index: usize) -> u32 {
        self.batch.topic_offsets[index]
    }

    /// The data of all logs, one after the other: for loops that look at one place of many logs.
    pub fn all_data(&self) -> &'a [u8] {
        &self.batch.data
    }

    /// Where the data of one log begin in [`Logs::all_data`].
    ///
    /// # Panics
    /// Past the end, as slices do.
    #[inline]
    pub fn data_start(&self, index: usize) -> u32 {
        self.batch.data_offsets[index]
    }

    /// All logs in order.
    pub fn iter(&self) -> impl Iterator<Item = Log<'a>> + use<'a, '_> {
        (0..self.len).map(|index| self.get(index))
    }
}

fn fits(offsets: &[u32], len: usize, end: usize) -> bool {
    offsets.len() == len + 1
        && offsets[0] == 0
        && offsets[len] as usize == end
        && offsets.windows(2).all(|pair| pair[0] <= pair[1])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn two_logs() -> LogBatch {
        LogBatch {
            chain_id: 1,
            len: 2,
            block_number: vec![10, 11],
            block_timestamp: vec![100, 110],
            tx_index: vec![0, 1],
            log_index: vec![5, 0],
            tx_hash: vec![7; 64],
            address: [[1; 20], [2; 20]].concat(),
            topics: [[3; 32], [4; 32], [5; 32]].concat(),
            topic_offsets: vec![0, 3, 3],
            data: b"abc".to_vec(),
            data_offsets: vec![0, 1, 3],
        }
    }

    #[test]
    fn logs_are_read_as_they_were_laid() {
        let batch = two_logs();
        let logs = Logs::new(&batch).unwrap();
        let read: Vec<_> = logs.iter().collect();
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].index, read[0].block_number, read[0].log_index), (0, 10, 5));
        assert_eq!((read[0].address, read[0].topics.len(), read[0].data), (&[1; 20], 3, &b"a"[..]));
        assert_eq!(read[0].topics[2], [5; 32]);
        assert_eq!((read[1].address, read[1].topics.len(), read[1].data), (&[2; 20], 0, &b"bc"[..]));
    }

    #[test]
    fn a_batch_that_does_not_fit_together_is_refused() {
        let breaks: [fn(&mut LogBatch); 12] = [
            |b| b.len = 3,
            |b| b.block_number.truncate(1),
            |b| b.block_timestamp.push(1),
            |b| b.tx_index.clear(),
            |b| b.log_index.push(0),
            |b| b.tx_hash.truncate(63),
            |b| b.address.push(0),
            |b| b.topics.truncate(95),
            |b| b.topic_offsets = vec![0, 4, 3],
            |b| b.topic_offsets = vec![0, 3],
            |b| b.data_offsets = vec![1, 1, 3],
            |b| b.data.push(0),
        ];
        for (place, spoil) in breaks.iter().enumerate() {
            let mut batch = two_logs();
            spoil(&mut batch);
            let failure = Logs::new(&batch).expect_err(&format!("case {place} was accepted"));
            assert_eq!(failure.code, "bad-batch");
        }
    }
}
