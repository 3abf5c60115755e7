//! A table over the chunks of a snapshot.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use super::scan::ChunkScan;
use super::source::ChunkSource;
use super::tables::Table;
use crate::model::BlockRange;
use crate::store::ChunkMeta;

/// The column by which chunks are left out.
const BLOCK: &str = "block_number";

/// Rows that are worth a partition of their own.
const PARTITION_ROWS: u64 = 262_144;

/// One table of one query.
#[derive(Debug)]
pub struct ChunkTable {
    table: Arc<Table>,
    source: Arc<ChunkSource>,
    /// In block order.
    chunks: Vec<ChunkMeta>,
}

impl ChunkTable {
    /// A table that has these chunks.
    pub fn new(table: Arc<Table>, source: Arc<ChunkSource>, mut chunks: Vec<ChunkMeta>) -> Self {
        chunks.sort_by_key(|chunk| chunk.range.first);
        ChunkTable { table, source, chunks }
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
        // Chunks are left out by their range; rows of those that stay are still filtered.
        let pushed = |filter: &&Expr| match filter.column_refs().iter().all(|column| column.name == BLOCK) {
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
        let parts = divide(chunks, parts);
        Ok(Arc::new(ChunkScan::new(Arc::clone(&self.table), Arc::clone(&self.source), columns, parts, limit)?))
    }
}

/// Cuts chunks into at most `most` runs of about the same number of rows; one run where there are few rows.
fn divide(chunks: Vec<ChunkMeta>, most: usize) -> Vec<Vec<ChunkMeta>> {
    let rows: u64 = chunks.iter().map(|chunk| chunk.rows).sum();
    let wanted = (rows / PARTITION_ROWS).clamp(1, most.max(1) as u64);
    let each = rows.div_ceil(wanted).max(1);
    let mut parts = vec![Vec::new()];
    let mut taken = 0;
    for chunk in chunks {
        if taken >= each * parts.len() as u64 {
            parts.push(Vec::new());
        }
        taken += chunk.rows;
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
