//! One dataset's part of a window: its logs through its decoder, ready to commit.

use std::sync::Arc;

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
    /// Last block whose rows are in `chunks`; none where the fault lies in the first block.
    pub last: Option<BlockNumber>,
    pub chunks: Vec<NewChunk>,
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
            Ok(decoded) => self.rows(decoded, range, None).await,
            Err(DecodeError::Fault(fault)) => {
                let before = fault.block.number.prev().and_then(|last| BlockRange::new(range.first, last));
                let Some(before) = before else {
                    return Ok(self.nothing(fault));
                };
                match self.nest.decoder.decode(Arc::new(own.within(before))).await {
                    Ok(decoded) => self.rows(decoded, before, Some(fault)).await,
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
        Rows { dataset: self.dataset, last: None, chunks: Vec::new(), logs: 0, rows: 0, fault: Some(fault) }
    }

    /// Encodes where it does not hold up what waits.
    async fn rows(&self, decoded: Decoded, range: BlockRange, fault: Option<Fault>) -> Result<Rows, CursorError> {
        let (logs, rows) = (decoded.counts.logs as u64, decoded.counts.rows as u64);
        let encoded = tokio::task::spawn_blocking(move || encode(&decoded)).await;
        let encoded = encoded.map_err(|error| self.host(error))?;
        let chunks =
            encoded.map_err(|error| CursorError::Rows { nest: self.nest.name.clone(), reason: error.to_string() })?;
        Ok(Rows { dataset: self.dataset, last: Some(range.last), chunks, logs, rows, fault })
    }
}

/// A chunk for each table that has rows, from the block of the first one to that of the last.
fn encode(decoded: &Decoded) -> Result<Vec<NewChunk>, chunk::BadChunk> {
    let events = decoded.tables.iter().map(|(place, batch)| (TableId::Event(*place), batch));
    let rejected = decoded.rejected.iter().map(|batch| (TableId::Rejected, batch));
    let ignored = decoded.ignored.iter().map(|batch| (TableId::Ignored, batch));
    events.chain(rejected).chain(ignored).filter_map(|(table, batch)| chunk::of(table, batch).transpose()).collect()
}
