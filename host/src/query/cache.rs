//! Decoded columns of chunks, kept between queries up to a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, ArrayRef};

use crate::store::ChunkId;

/// Columns of chunks by content address; those used longest ago make room first.
#[derive(Debug)]
pub struct ChunkCache {
    capacity: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    chunks: HashMap<ChunkId, Entry>,
    by_use: BTreeMap<u64, ChunkId>,
    uses: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    columns: Vec<Option<ArrayRef>>,
    bytes: usize,
    used: u64,
}

/// Bookkeeping of one entry and one column, so that many small chunks count as what they take.
const ENTRY_BYTES: usize = 256;
const COLUMN_BYTES: usize = 192;

impl ChunkCache {
    /// A cache of this many bytes.
    pub fn new(capacity: usize) -> Self {
        ChunkCache { capacity, entries: Mutex::default() }
    }

    /// These columns of a chunk, if all of them are here.
    pub fn get(&self, chunk: ChunkId, wanted: &[usize]) -> Option<Vec<ArrayRef>> {
        let mut entries = self.lock();
        let found = entries.chunks.get(&chunk)?;
        let columns = wanted.iter().map(|&place| found.columns.get(place)?.clone()).collect::<Option<Vec<_>>>()?;
        entries.touch(chunk);
        Some(columns)
    }

    /// Whether all these columns of a chunk are here.
    pub fn holds(&self, chunk: ChunkId, wanted: &[usize]) -> bool {
        let entries = self.lock();
        let Some(found) = entries.chunks.get(&chunk) else { return false };
        wanted.iter().all(|&place| matches!(found.columns.get(place), Some(Some(_))))
    }

    /// Keeps columns of a chunk beside those that are here already.
    pub fn put(&self, chunk: ChunkId, width: usize, places: &[usize], columns: &[ArrayRef]) {
        let mut entries = self.lock();
        let mut entry = match entries.remove(chunk) {
            Some(entry) => entry,
            None => Entry { columns: vec![None; width], bytes: ENTRY_BYTES, used: 0 },
        };
        for (&place, column) in places.iter().zip(columns) {
            if let Some(slot @ None) = entry.columns.get_mut(place) {
                entry.bytes += COLUMN_BYTES + column.get_array_memory_size();
                *slot = Some(column.clone());
            }
        }
        if entry.bytes > self.capacity {
            return;
        }
        entries.insert(chunk, entry);
        while entries.bytes > self.capacity && entries.evict() {}
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Entries> {
        // Every change leaves the maps consistent, so a panic elsewhere does not spoil them.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn touch(&mut self, chunk: ChunkId) {
        self.uses += 1;
        if let Some(entry) = self.chunks.get_mut(&chunk) {
            self.by_use.remove(&entry.used);
            entry.used = self.uses;
            self.by_use.insert(self.uses, chunk);
        }
    }

    fn insert(&mut self, chunk: ChunkId, mut entry: Entry) {
        self.uses += 1;
        entry.used = self.uses;
        self.bytes += entry.bytes;
        self.by_use.insert(self.uses, chunk);
        self.chunks.insert(chunk, entry);
    }

    fn remove(&mut self, chunk: ChunkId) -> Option<Entry> {
        let entry = self.chunks.remove(&chunk)?;
        self.by_use.remove(&entry.used);
        self.bytes -= entry.bytes;
        Some(entry)
    }

    fn evict(&mut self) -> bool {
        match self.by_use.first_key_value() {
            Some((_, &oldest)) => self.remove(oldest).is_some(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use arrow::array::UInt64Array;

    use super::*;

    fn column(rows: u64) -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(0..rows))
    }

    fn chunk(number: u8) -> ChunkId {
        ChunkId([number; 32])
    }

    #[test]
    fn answers_only_when_every_wanted_column_is_there() {
        let cache = ChunkCache::new(1 << 20);
        cache.put(chunk(1), 3, &[0, 2], &[column(4), column(4)]);
        assert!(cache.get(chunk(1), &[0, 1]).is_none());
        assert_eq!(cache.get(chunk(1), &[2, 0]).unwrap().len(), 2);
        cache.put(chunk(1), 3, &[1], &[column(4)]);
        assert_eq!(cache.get(chunk(1), &[0, 1, 2]).unwrap().len(), 3);
        assert!(!cache.holds(chunk(2), &[]));
    }

    #[test]
    fn stays_within_its_bytes_and_keeps_what_was_used_last() {
        let one = ENTRY_BYTES + COLUMN_BYTES + column(100).get_array_memory_size();
        let cache = ChunkCache::new(one * 2);
        cache.put(chunk(1), 1, &[0], &[column(100)]);
        cache.put(chunk(2), 1, &[0], &[column(100)]);
        assert!(cache.get(chunk(1), &[0]).is_some());
        cache.put(chunk(3), 1, &[0], &[column(100)]);
        assert!(cache.holds(chunk(1), &[0]) && cache.holds(chunk(3), &[0]));
        assert!(!cache.holds(chunk(2), &[0]));
        assert!(cache.bytes() <= one * 2);
        cache.put(chunk(4), 1, &[0], &[column(100_000)]);
        assert!(!cache.holds(chunk(4), &[0]) && cache.holds(chunk(3), &[0]));
    }
}
