//! From rows in memory to a file that can be uploaded.

use arrow::array::RecordBatch;

use super::cut::CutRule;
use super::key;
use super::seal::SealError;
use super::write::{Encoded, encode};
use crate::model::{BlockNumber, DatasetKey, TableId};
use crate::store::chunk::{self, BadChunk};
use crate::store::{SegmentMeta, StoreId};

/// Whose files these are.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub store: StoreId,
    pub dataset: DatasetKey,
    pub table: TableId,
    /// The table's name, for keys and messages.
    pub name: String,
}

/// Rows on both sides of a cut.
pub(super) struct Sides {
    pub sealed: RecordBatch,
    pub sealed_to: BlockNumber,
    pub rest: RecordBatch,
}

impl Owner {
    pub fn failed(&self, reason: impl ToString) -> SealError {
        SealError::Rows { table: self.name.clone(), reason: reason.to_string() }
    }

    /// Cuts rows, which are in order, where the rule says; none where no cut is due.
    pub fn cut(&self, rule: CutRule, rows: &RecordBatch, final_to: BlockNumber) -> Result<Option<Sides>, SealError> {
        let blocks = chunk::blocks(rows).map_err(|error| self.failed(error))?;
        if !blocks.is_sorted() {
            return Err(self.failed("its rows are not in block order"));
        }
        let Some(sealed_to) = rule.last_block(blocks, final_to) else { return Ok(None) };
        let count = blocks.partition_point(|block| *block <= sealed_to.0);
        let rest = rows.slice(count, rows.num_rows() - count);
        Ok(Some(Sides { sealed: rows.slice(0, count), sealed_to, rest }))
    }

    /// The file of these rows, under a new key. Takes a while, so not on a thread that serves others.
    pub fn file(&self, rows: &RecordBatch) -> Result<(Encoded, SegmentMeta), SealError> {
        let bad = |error: BadChunk| self.failed(error);
        let range = chunk::range(rows).map_err(bad)?.ok_or_else(|| self.failed("the cut has no rows"))?;
        let encoded = encode(rows).map_err(|error| self.failed(error))?;
        let meta = SegmentMeta {
            table: self.table,
            range,
            rows: rows.num_rows() as u64,
            bytes: encoded.bytes.len() as u64,
            hash: encoded.hash,
            key: key::key(self.store, self.dataset, &self.name, encoded.hash),
        };
        Ok((encoded, meta))
    }
}
