//! The plan node that reads one table's chunks.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt64Array};
use arrow::compute::{SortOptions, concat, take};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ColumnStatistics, DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions, SchedulingType};
use datafusion::physical_plan::sort_pushdown::SortOrderPushdownResult;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};

use super::chunk::Chunk;
use super::source::ChunkSource;
use super::tables::Table;
use crate::store::ChunkMeta;

/// Rows of a table from its chunks, in block order or against it.
#[derive(Debug)]
pub struct ChunkScan {
    table: Arc<Table>,
    source: Arc<ChunkSource>,
    /// Places of the output columns in the table.
    columns: Arc<[usize]>,
    schema: SchemaRef,
    /// Chunks of each partition, in block order.
    parts: Arc<[Vec<ChunkMeta>]>,
    order: Order,
    fetch: Option<usize>,
    properties: Arc<PlanProperties>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
}

/// Leading columns of the order in which rows lie.
const ORDER: [&str; 2] = ["block_number", "log_index"];

impl ChunkScan {
    /// A scan of these chunks, which stand in block order.
    pub fn new(
        table: Arc<Table>,
        source: Arc<ChunkSource>,
        columns: Vec<usize>,
        parts: Vec<Vec<ChunkMeta>>,
        fetch: Option<usize>,
    ) -> Result<Self> {
        let schema = Arc::new(table.schema.project(&columns)?);
        let scan = ChunkScan {
            properties: properties(&table, &schema, parts.len(), SortOptions::new(false, false)),
            table,
            source,
            columns: columns.into(),
            schema,
            parts: parts.into(),
            order: Order::Ascending,
            fetch,
        };
        Ok(scan)
    }

    /// What it will read, as far as that is known before it runs.
    pub fn needs(&self) -> impl Iterator<Item = &ChunkMeta> {
        let read: &[_] = if self.columns.is_empty() { &[] } else { &self.parts };
        read.iter().flat_map(|part| {
            let mut left = self.fetch.map(|fetch| fetch as u64);
            in_order(part, self.order).take_while(move |chunk| match &mut left {
                None => true,
                Some(0) => false,
                Some(rows) => {
                    *rows = rows.saturating_sub(chunk.rows);
                    true
                }
            })
        })
    }

    fn rows(&self, part: &[ChunkMeta]) -> usize {
        let rows = part.iter().map(|chunk| chunk.rows).sum::<u64>();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        self.fetch.map_or(rows, |fetch| rows.min(fetch))
    }
}

fn in_order(part: &[ChunkMeta], order: Order) -> Box<dyn Iterator<Item = &ChunkMeta> + Send + '_> {
    match order {
        Order::Ascending => Box::new(part.iter()),
        Order::Descending => Box::new(part.iter().rev()),
    }
}

/// The order in which rows of a table come, as the planner knows it.
pub fn equivalence(table: &Table, schema: &SchemaRef, options: SortOptions) -> EquivalenceProperties {
    let mut equivalence = EquivalenceProperties::new(Arc::clone(schema));
    if table.is_ordered() {
        let ordering: Vec<PhysicalSortExpr> = ORDER
            .iter()
            .map_while(|name| Some(Arc::new(Column::new(name, schema.index_of(name).ok()?)) as Arc<dyn PhysicalExpr>))
            .map(|expr| PhysicalSortExpr { expr, options })
            .collect();
        if !ordering.is_empty() {
            equivalence = EquivalenceProperties::new_with_orderings(Arc::clone(schema), [ordering]);
        }
    }
    equivalence
}

fn properties(table: &Table, schema: &SchemaRef, parts: usize, options: SortOptions) -> Arc<PlanProperties> {
    let equivalence = equivalence(table, schema, options);
    let partitioning = Partitioning::UnknownPartitioning(parts);
    let properties = PlanProperties::new(equivalence, partitioning, EmissionType::Incremental, Boundedness::Bounded);
    Arc::new(properties.with_scheduling_type(SchedulingType::Cooperative))
}

impl DisplayAs for ChunkScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let chunks: usize = self.parts.iter().map(Vec::len).sum();
        write!(f, "ChunkScan: table={}, columns=[{}], chunks={chunks}", self.table.name, names.join(", "))?;
        if self.order == Order::Descending {
            f.write_str(", newest first")?;
        }
        match self.fetch {
            Some(fetch) => write!(f, ", fetch={fetch}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for ChunkScan {
    fn name(&self) -> &str {
        "ChunkScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let chunks = self.parts.get(partition).map(|part| in_order(part, self.order).copied().collect());
        let reading = Reading {
            table: Arc::clone(&self.table),
            source: Arc::clone(&self.source),
            columns: Arc::clone(&self.columns),
            schema: Arc::clone(&self.schema),
            order: self.order,
            chunks: chunks.unwrap_or_default(),
            ready: VecDeque::new(),
            left: self.fetch.unwrap_or(usize::MAX),
            batch_rows: context.session_config().batch_size(),
        };
        let stream = futures::stream::try_unfold(reading, |mut reading| async move {
            Ok(reading.next().await?.map(|batch| (batch, reading)))
        });
        let stream = RecordBatchStreamAdapter::new(Arc::clone(&self.schema), Box::pin(stream));
        Ok(Box::pin(cooperative(stream)))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let rows = match args.partition() {
            Some(partition) => self.parts.get(partition).map_or(0, |part| self.rows(part)),
            None => {
                let rows = self.parts.iter().map(|part| self.rows(part)).sum();
                self.fetch.map_or(rows, |fetch| fetch.min(rows))
            }
        };
        let columns = self.schema.fields().iter().map(|field| {
            let unknown = ColumnStatistics::new_unknown();
            if field.is_nullable() { unknown } else { unknown.with_null_count(Precision::Exact(0)) }
        });
        Ok(Arc::new(Statistics {
            num_rows: Precision::Exact(rows),
            total_byte_size: Precision::Absent,
            column_statistics: columns.collect(),
        }))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(ChunkScan { fetch, ..self.again() }))
    }

    fn try_pushdown_sort(&self, order: &[PhysicalSortExpr]) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        let newest_first = self.table.is_ordered()
            && self.fetch.is_none()
            && !order.is_empty()
            && order.len() <= ORDER.len()
            && order.iter().zip(ORDER).all(|(sort, name)| {
                sort.options.descending
                    && sort.expr.downcast_ref::<Column>().is_some_and(|column| column.name() == name)
            });
        let Some(first) = order.first().filter(|_| newest_first) else {
            return Ok(SortOrderPushdownResult::Unsupported);
        };
        let properties = properties(&self.table, &self.schema, self.parts.len(), first.options);
        let inner = Arc::new(ChunkScan { order: Order::Descending, properties, ..self.again() });
        Ok(SortOrderPushdownResult::Exact { inner })
    }
}

impl ChunkScan {
    fn again(&self) -> Self {
        ChunkScan {
            table: Arc::clone(&self.table),
            source: Arc::clone(&self.source),
            columns: Arc::clone(&self.columns),
            schema: Arc::clone(&self.schema),
            parts: Arc::clone(&self.parts),
            order: self.order,
            fetch: self.fetch,
            properties: Arc::clone(&self.properties),
        }
    }
}

/// One partition being read.
struct Reading {
    table: Arc<Table>,
    source: Arc<ChunkSource>,
    columns: Arc<[usize]>,
    schema: SchemaRef,
    order: Order,
    chunks: VecDeque<ChunkMeta>,
    ready: VecDeque<RecordBatch>,
    left: usize,
    batch_rows: usize,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.ready.is_empty() {
            self.read().await?;
        }
        let Some(batch) = self.ready.pop_front() else { return Ok(None) };
        let batch = if batch.num_rows() > self.left { batch.slice(0, self.left) } else { batch };
        self.left -= batch.num_rows();
        Ok(Some(batch))
    }

    /// Makes one batch of many small chunks, or many batches of a large one.
    async fn read(&mut self) -> Result<()> {
        let mut chunks = Vec::new();
        let mut rows = 0;
        while rows < self.batch_rows.min(self.left)
            && let Some(chunk) = self.chunks.pop_front()
        {
            rows += usize::try_from(chunk.rows).unwrap_or(usize::MAX);
            chunks.push(chunk);
        }
        if chunks.is_empty() {
            return Ok(());
        }
        let batch = if self.columns.is_empty() {
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), Vec::new(), &options)?
        } else {
            let found = self.source.chunks(&self.table, &chunks).await;
            let found = found.map_err(|error| DataFusionError::External(Box::new(error)))?;
            let columns = self.columns.iter().map(|&place| self.join(&found, place)).collect::<Result<Vec<_>>>()?;
            RecordBatch::try_new(Arc::clone(&self.schema), columns)?
        };
        let mut start = 0;
        while start < batch.num_rows() {
            let rows = self.batch_rows.min(batch.num_rows() - start);
            self.ready.push_back(batch.slice(start, rows));
            start += rows;
        }
        Ok(())
    }

    fn join(&self, chunks: &[Arc<Chunk>], place: usize) -> Result<ArrayRef> {
        let parts: Vec<ArrayRef> = chunks
            .iter()
            .map(|chunk| {
                let column = chunk.column(&self.table, place);
                match self.order {
                    Order::Ascending => Ok(column),
                    Order::Descending => {
                        let back_to_front = UInt64Array::from_iter_values((0..column.len() as u64).rev());
                        take(&column, &back_to_front, None)
                    }
                }
            })
            .collect::<Result<_, _>>()?;
        match parts.as_slice() {
            [one] => Ok(Arc::clone(one)),
            many => Ok(concat(&many.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
        }
    }
}
