//! Plain types that the rooms share. Nothing here does I/O.

mod arrow_schema;
mod block;
mod dataset;
mod fence;
mod flat;
mod logs;
mod progress;

pub use arrow_schema::{TYPE_KEY, arrow_schema, data_type, ignored_schema, nest_type, rejected_schema};
pub use block::{Address, B256, BlockHash, BlockNumber, BlockRange, BlockRef, ChainId, Header};
pub use dataset::{Contract, DatasetId, DatasetKey, Endpoint, Fault, TableId};
pub use fence::{Branch, Fence};
pub use flat::{address_bytes, hash_bytes};
pub use logs::{LogBatch, LogView};
pub use nuthatch_registry::{
    BundleHash, ColumnSchema, ColumnType, ContentHash, DataIdentity, LogFilter, NestName, PROVENANCE, TableSchema,
};
pub use progress::{ChainProgress, Phase, Progress};
