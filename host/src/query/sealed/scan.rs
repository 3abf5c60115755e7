//! The plan that reads one table's segments.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, Result, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfigBuilder, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::ExecutionPlan;
use object_store::ObjectMeta;
use object_store::path::Path;

use super::files::{Factory, SegmentFiles};
use super::filter::to_file;
use super::widen::Widen;
use crate::query::bigint::Signedness;
use crate::query::tables::Table;
use crate::segments::file_schema;
use crate::store::SegmentMeta;

/// What to read of a table's segments.
pub struct SealedScan<'a> {
    /// The table.
    pub table: &'a Table,
    /// Where its files are read.
    pub files: &'a Arc<SegmentFiles>,
    /// Segments of each partition, in block order.
    pub parts: Vec<Vec<SegmentMeta>>,
    /// Places of the output columns in the table.
    pub columns: &'a [usize],
    /// They only leave out what cannot match.
    pub filters: &'a [Expr],
    /// Rows that are enough.
    pub limit: Option<usize>,
    /// The order in which rows come.
    pub equivalence: EquivalenceProperties,
}

/// The plan of a scan.
pub fn scan(scan: SealedScan<'_>, state: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
    let SealedScan { table, files, parts, columns, filters, limit, equivalence } = scan;
    let stored = file_schema(&table.stored);
    let factory: Arc<dyn ParquetFileReaderFactory> = Arc::new(Factory(Arc::clone(files)));
    let mut source = ParquetSource::new(Arc::clone(&stored))
        .with_parquet_file_reader_factory(factory)
        .with_enable_page_index(true)
        .with_bloom_filter_on_read(true);
    let usable: Vec<Expr> = filters.iter().filter_map(|filter| to_file(filter, table)).collect();
    if let Some(filter) = conjunction(usable) {
        let schema = DFSchema::try_from(Arc::clone(&stored))?;
        source = source.with_predicate(state.create_physical_expr(filter, &schema)?);
    }
    let rows: u64 = parts.iter().flatten().map(|segment| segment.rows).sum();
    let mut statistics = Statistics::new_unknown(&stored);
    statistics.num_rows = Precision::Exact(usize::try_from(rows).unwrap_or(usize::MAX));
    let groups = parts.into_iter().map(|part| FileGroup::new(part.into_iter().map(|it| file(it, &stored)).collect()));
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups.collect())
        .with_statistics(statistics)
        .with_projection_indices(Some(columns.to_vec()))?
        .with_limit(limit)
        .with_preserve_order(true)
        .build();
    let wide = columns.iter().map(|&place| Signedness::of(table.columns[place].0)).collect();
    let schema = Arc::new(table.schema.project(columns)?);
    Ok(Arc::new(Widen::new(DataSourceExec::from_data_source(config), schema, wide, equivalence)))
}

/// A segment's file as listings show it. A key is written once, so nothing it stands for ever changes.
pub(super) fn object(segment: &SegmentMeta) -> ObjectMeta {
    ObjectMeta {
        location: Path::from(segment.key.as_str()),
        last_modified: Default::default(),
        size: segment.bytes,
        e_tag: None,
        version: None,
    }
}

fn file(segment: SegmentMeta, stored: &Schema) -> PartitionedFile {
    let meta = object(&segment);
    let mut statistics = Statistics::new_unknown(stored);
    statistics.num_rows = Precision::Exact(usize::try_from(segment.rows).unwrap_or(usize::MAX));
    PartitionedFile::new_from_meta(meta).with_statistics(Arc::new(statistics)).with_extension(segment)
}
