//! Decoded chunks, kept between queries up to a number of bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::chunk::Chunk;
use crate::store::ChunkId;

/// Chunks by content address; those used longest ago make room first.
#[derive(Debug)]
pub struct ChunkCache {
    capacity: usize,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    chunks: HashMap<ChunkId, (Arc<Chunk>, u64)>,
    by_use: BTreeMap<u64, ChunkId>,
    uses: u64,
    bytes: usize,
}

impl ChunkCache {
    /// A cache of this many bytes.
    pub fn new(capacity: usize) -> Self {
        ChunkCache { capacity, entries: Mutex::default() }
    }

    /// A chunk, if it is here.
    pub fn get(&self, id: ChunkId) -> Option<Arc<Chunk>> {
        let mut entries = self.lock();
        entries.uses += 1;
        let now = entries.uses;
        let (chunk, used) = entries.chunks.get_mut(&id)?;
        let chunk = Arc::clone(chunk);
        let before = std::mem::replace(used, now);
        entries.by_use.remove(&before);
        entries.by_use.insert(now, id);
        Some(chunk)
    }

    /// Whether a chunk is here.
    pub fn holds(&self, id: ChunkId) -> bool {
        self.lock().chunks.contains_key(&id)
    }

    /// Keeps a chunk, unless it alone is larger than the cache.
    pub fn put(&self, id: ChunkId, chunk: &Arc<Chunk>) {
        let mut entries = self.lock();
        if chunk.bytes() > self.capacity || entries.chunks.contains_key(&id) {
            return;
        }
        entries.uses += 1;
        let now = entries.uses;
        entries.bytes += chunk.bytes();
        entries.by_use.insert(now, id);
        entries.chunks.insert(id, (Arc::clone(chunk), now));
        while entries.bytes > self.capacity
            && let Some((_, oldest)) = entries.by_use.pop_first()
        {
            if let Some((chunk, _)) = entries.chunks.remove(&oldest) {
                entries.bytes -= chunk.bytes();
            }
        }
        metrics::gauge!("nuthatch_query_cache_bytes").set(entries.bytes as f64);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        // Every change leaves the maps consistent, so a panic elsewhere does not spoil them.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::query::tests::mem::decoded;

    fn id(number: u8) -> ChunkId {
        ChunkId([number; 32])
    }

    #[test]
    fn stays_within_its_bytes_and_keeps_what_was_used_last() {
        let chunk = Arc::new(decoded(100));
        let cache = ChunkCache::new(chunk.bytes() * 2);
        cache.put(id(1), &chunk);
        cache.put(id(2), &chunk);
        assert!(cache.get(id(1)).is_some());
        cache.put(id(3), &chunk);
        assert!(cache.holds(id(1)) && cache.holds(id(3)));
        assert!(!cache.holds(id(2)) && cache.get(id(2)).is_none());
        cache.put(id(4), &Arc::new(decoded(1_000)));
        assert!(!cache.holds(id(4)) && cache.holds(id(3)));
        let entries = cache.lock();
        assert!(entries.bytes <= cache.capacity);
        assert_eq!(entries.by_use.len(), entries.chunks.len());
    }
}
