//! One dataset's part of a window: its logs through its decoder, ready to commit.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::{CursorError, Nest};
use crate::chain::LogFilters;
use crate::model::{BlockNumber, BlockRange, DatasetId, Fault, LogBatch, TableId};
use crate::plugin::{DecodeError, Decoded};
use crate::store::{NewChunk, chunk};

/// A dataset that runs here: the nest whose decoder makes its rows.
#[derive(Clone)]
pub(super) struct Runner {
    pub dataset: DatasetId,
    pub nest: Arc<Nest>,
    pub filters: Arc<LogFilters>,
}

/// What came out of a window for one dataset.
pub(super) struct Rows {
    pub dataset: DatasetId,
    /// Last block whose rows are in `tables`; none where the fault lies in the first block.
    pub last: Option<BlockNumber>,
    /// Rows of each table that has any, in block order.
    pub tables: Vec<(TableId, RecordBatch)>,
    pub logs: u64,
    pub rows: u64,
    /// Set when the nest failed in block `last + 1`.
    pub fault: Option<Fault>,
}

impl Runner {
    /// Decodes this dataset's share of the logs of `range`. A faulting log ends the dataset's part at the block before
    /// it, so what is served does not depend on how the range was cut.
    pub async fn decode(&self, logs: &LogBatch, range: BlockRange) -> Result<Rows, CursorError> {
        let own = Arc::new(self.filters.select(logs).within(range));
        match self.nest.decoder.decode(own.clone()).await {
            Ok(decoded) => Ok(self.rows(decoded, range, None)),
            Err(DecodeError::Fault(fault)) => {
                let before = fault.block.number.prev().and_then(|last| BlockRange::new(range.first, last));
                let Some(before) = before else {
                    return Ok(self.nothing(fault));
                };
                match self.nest.decoder.decode(Arc::new(own.within(before))).await {
                    Ok(decoded) => Ok(self.rows(decoded, before, Some(fault))),
                    Err(DecodeError::Fault(_)) => Ok(self.nothing(fault)),
                    Err(DecodeError::Host(reason)) => Err(self.host(reason)),
                }
            }
            Err(DecodeError::Host(reason)) => Err(self.host(reason)),
        }
    }

    fn host(&self, reason: impl std::fmt::Display) -> CursorError {
        CursorError::Host { nest: self.nest.name.clone(), reason: reason.to_string() }
    }

    fn nothing(&self, fault: Fault) -> Rows {
        Rows { fault: Some(fault), ..Rows::nothing_of(self.dataset) }
    }

    fn rows(&self, decoded: Decoded, range: BlockRange, fault: Option<Fault>) -> Rows {
        let (logs, rows) = (decoded.counts.logs as u64, decoded.counts.rows as u64);
        let events = decoded.tables.into_iter().map(|(place, batch)| (TableId::Event(place), batch));
        let rejected = decoded.rejected.into_iter().map(|batch| (TableId::Rejected, batch));
        let ignored = decoded.ignored.into_iter().map(|batch| (TableId::Ignored, batch));
        let tables = events.chain(rejected).chain(ignored).filter(|(_, batch)| batch.num_rows() > 0).collect();
        Rows { dataset: self.dataset, last: Some(range.last), tables, logs, rows, fault }
    }
}

impl Rows {
    /// No rows of this dataset.
    pub fn nothing_of(dataset: DatasetId) -> Rows {
        Rows { dataset, last: None, tables: Vec::new(), logs: 0, rows: 0, fault: None }
    }

    /// A chunk for each table, from the block of its first row to that of its last. Encodes where it holds up nobody.
    pub async fn chunks(&self) -> Result<Vec<NewChunk>, CursorError> {
        let (dataset, tables) = (self.dataset, self.tables.clone());
        let encode = move || {
            tables.iter().filter_map(|(table, batch)| chunk::of(*table, batch).transpose()).collect::<Result<_, _>>()
        };
        let failed = |reason: String| CursorError::Rows { dataset, reason };
        let encoded = tokio::task::spawn_blocking(encode).await.map_err(|error| failed(error.to_string()))?;
        encoded.map_err(|error: chunk::BadChunk| failed(error.to_string()))
    }

    /// Bytes of memory, about.
    pub fn memory(&self) -> usize {
        self.tables.iter().map(|(_, batch)| batch.get_array_memory_size()).sum()
    }
}
