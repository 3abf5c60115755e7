//! Of the store only the form of its chunks.

#[path = "../../../host/src/store/chunk/mod.rs"]
pub mod chunk;

/// As the store has it; chunks name it.
pub struct ChunkId(pub [u8; 32]);
