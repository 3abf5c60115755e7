//! A table over what a snapshot has of it: segments, then chunks.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;

use super::scan::{ChunkScan, equivalence};
use super::sealed::{self, SealedScan, SegmentFiles};
use super::source::ChunkSource;
use super::tables::Table;
use crate::model::BlockRange;
use crate::store::{ChunkMeta, SegmentMeta};

/// The column by which chunks are left out.
const BLOCK: &str = "block_number";

/// One table of one query.
#[derive(Debug)]
pub struct ChunkTable {
    table: Arc<Table>,
    source: Arc<ChunkSource>,
    /// In block order.
    chunks: Vec<ChunkMeta>,
    sealed: Sealed,
    /// Rows that are worth a partition of their own.
    rows_a_part: u64,
}

/// The sealed half of a table.
#[derive(Debug, Default)]
pub struct Sealed {
    /// In block order, all before the chunks.
    pub segments: Vec<SegmentMeta>,
    /// Where they are read; none where no place for segments is known.
    pub files: Option<Arc<SegmentFiles>>,
}

impl ChunkTable {
    /// A table that has these chunks, and before them these segments.
    pub fn new(
        table: Arc<Table>,
        source: Arc<ChunkSource>,
        mut chunks: Vec<ChunkMeta>,
        sealed: Sealed,
        rows_a_part: u64,
    ) -> Self {
        chunks.sort_by_key(|chunk| chunk.range.first);
        ChunkTable { table, source, chunks, sealed, rows_a_part }
    }

    fn sealed_scan(
        &self,
        state: &dyn Session,
        columns: &[usize],
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let segments = self.sealed.segments.iter();
        let segments: Vec<SegmentMeta> =
            segments.filter(|it| filters.iter().all(|f| may_match(f, it.range))).cloned().collect();
        if segments.is_empty() {
            return Ok(None);
        }
        let Some(files) = &self.sealed.files else {
            return Err(DataFusionError::External(Box::new(sealed::BadSegment {
                key: segments[0].key.clone(),
                reason: "this process was not told where the segments are".to_owned(),
            })));
        };
        let parts = if limit.is_some() { 1 } else { state.config().target_partitions() };
        let parts = divide(segments, parts, self.rows_a_part, |segment| segment.rows);
        let schema = Arc::new(self.table.schema.project(columns)?);
        let equivalence = equivalence(&self.table, &schema, SortOptions::new(false, false));
        let scan = SealedScan { table: &self.table, files, parts, columns, filters, limit, equivalence };
        sealed::scan(scan, state).map(Some)
    }
}

#[async_trait]
impl TableProvider for ChunkTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.table.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // Whole chunks and segments are left out; rows of those that stay are still filtered.
        let pushed = |filter: &&Expr| match sealed::to_file(filter, &self.table).is_some() {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(pushed).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = projection.cloned().unwrap_or_else(|| (0..self.table.columns.len()).collect());
        let chunks: Vec<ChunkMeta> =
            self.chunks.iter().copied().filter(|chunk| filters.iter().all(|f| may_match(f, chunk.range))).collect();
        let parts = if limit.is_some() { 1 } else { state.config().target_partitions() };
        let parts = divide(chunks, parts, self.rows_a_part, |chunk| chunk.rows);
        let sealed = self.sealed_scan(state, &columns, filters, limit)?;
        let hot = ChunkScan::new(Arc::clone(&self.table), Arc::clone(&self.source), columns, parts, limit)?;
        match sealed {
            Some(sealed) => UnionExec::try_new(vec![sealed, Arc::new(hot)]),
            None => Ok(Arc::new(hot)),
        }
    }
}

/// Cuts chunks or segments into at most `most` runs of about the same number of rows; one run where there are few rows.
fn divide<T>(chunks: Vec<T>, most: usize, rows_a_part: u64, rows_of: impl Fn(&T) -> u64) -> Vec<Vec<T>> {
    let rows: u64 = chunks.iter().map(&rows_of).sum();
    let wanted = (rows / rows_a_part.max(1)).clamp(1, most.max(1) as u64);
    let each = rows.div_ceil(wanted).max(1);
    let mut parts = vec![Vec::new()];
    let mut taken = 0;
    for chunk in chunks {
        if taken >= each * parts.len() as u64 {
            parts.push(Vec::new());
        }
        taken += rows_of(&chunk);
        if let Some(part) = parts.last_mut() {
            part.push(chunk);
        }
    }
    parts
}

/// Whether a row of a chunk with this range can pass the filter. True where the filter says nothing about blocks.
fn may_match(filter: &Expr, range: BlockRange) -> bool {
    let (first, last) = (i128::from(range.first.0), i128::from(range.last.0));
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            may_match(left, range) && may_match(right, range)
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            may_match(left, range) || may_match(right, range)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (op, number) = match (is_block(left), integer(right), integer(left), is_block(right)) {
                (true, Some(number), _, _) => (Some(*op), number),
                (_, _, Some(number), true) => (op.swap(), number),
                _ => return true,
            };
            match op {
                Some(Operator::Eq) => first <= number && number <= last,
                Some(Operator::Lt) => first < number,
                Some(Operator::LtEq) => first <= number,
                Some(Operator::Gt) => last > number,
                Some(Operator::GtEq) => last >= number,
                _ => true,
            }
        }
        Expr::Between(between) if !between.negated && is_block(&between.expr) => {
            integer(&between.low).is_none_or(|low| last >= low)
                && integer(&between.high).is_none_or(|high| first <= high)
        }
        Expr::InList(list) if !list.negated && is_block(&list.expr) => {
            list.list.iter().any(|item| integer(item).is_none_or(|number| first <= number && number <= last))
        }
        _ => true,
    }
}

fn is_block(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(column) if column.name == BLOCK)
}

fn integer(expr: &Expr) -> Option<i128> {
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::UInt64(value) => value.map(i128::from),
        ScalarValue::Int64(value) => value.map(i128::from),
        ScalarValue::UInt32(value) => value.map(i128::from),
        ScalarValue::Int32(value) => value.map(i128::from),
        _ => None,
    }
}
