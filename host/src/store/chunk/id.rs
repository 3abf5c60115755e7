//! The content address of a chunk.

use crate::model::{BlockRange, DatasetId, DatasetKey, TableId};
use crate::store::ChunkId;

/// Whose rows a chunk holds, as far as its address goes. The key keeps the chunks of two stores apart, the number
/// those of a dataset and the one that replaced it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkOwner {
    pub key: DatasetKey,
    pub number: DatasetId,
    pub table: TableId,
    pub range: BlockRange,
}

impl ChunkOwner {
    /// The address of these bytes here.
    pub(crate) fn id(&self, bytes: &[u8]) -> ChunkId {
        let mut hasher = blake3::Hasher::new_derive_key("nuthatch hot chunk v1");
        // Fields of fixed width, so no two of them can be read as one another.
        hasher.update(self.key.identity.as_bytes());
        hasher.update(&self.key.first_block.0.to_le_bytes());
        hasher.update(&self.number.0.to_le_bytes());
        hasher.update(&self.table.to_i64().to_le_bytes());
        hasher.update(&self.range.first.0.to_le_bytes());
        hasher.update(&self.range.last.0.to_le_bytes());
        hasher.update(bytes);
        ChunkId(*hasher.finalize().as_bytes())
    }
}
