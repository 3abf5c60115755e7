//! Reading segments: every byte held against the hash that the catalogue has, each file named in the error where it
//! cannot be read.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use datafusion::common::HashMap;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::execution::cache::cache_manager::{CachedFileMetadataEntry, FileMetadata, FileMetadataCache};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt;
use futures::future::BoxFuture;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};

use crate::query::source::SourceError;
use crate::segments::{HashTree, Place};
use crate::store::{HotReader, SegmentMeta};

/// Bytes from the end of a file that hold its footer, page index included, most of the time.
const FOOTER_BYTES: usize = 64 << 10;

/// Why a segment's rows cannot be had. The query fails: fewer rows would be a wrong answer.
#[derive(Clone, Debug, thiserror::Error)]
#[error("segment {key} cannot be read: {reason}; `nuthatch segments verify` names every damaged or missing one")]
pub struct BadSegment {
    /// Its key.
    pub key: String,
    /// Why.
    pub reason: String,
}

/// The files of one place. Footers are kept between queries, by key.
pub struct SegmentFiles {
    place: Place,
    reader: Arc<dyn HotReader>,
    footers: Arc<FileMetadataCache>,
}

impl fmt::Debug for SegmentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentFiles({})", self.place)
    }
}

impl SegmentFiles {
    /// The files of this place that this store names, with their footers in this cache.
    pub fn new(place: Place, reader: Arc<dyn HotReader>, footers: Arc<FileMetadataCache>) -> Self {
        SegmentFiles { place, reader, footers }
    }
}

/// [`SegmentFiles`] as a plan opens them.
#[derive(Debug)]
pub struct Factory(pub Arc<SegmentFiles>);

impl ParquetFileReaderFactory for Factory {
    fn create_reader(
        &self,
        _: usize,
        file: PartitionedFile,
        _: Option<usize>,
        _: &ExecutionPlanMetricsSet,
    ) -> datafusion::common::Result<Box<dyn AsyncFileReader + Send>> {
        let Some(segment) = file.extension::<SegmentMeta>().cloned() else {
            return Err(datafusion::common::DataFusionError::Internal("a file that is no segment".to_owned()));
        };
        let (files, path) = (Arc::clone(&self.0), file.object_meta.location.clone());
        Ok(Box::new(SegmentReader { objects: files.place.objects(), files, path, segment, tree: None }))
    }
}

/// What is kept of a file.
struct Footer {
    metadata: Arc<ParquetMetaData>,
    tree: Arc<HashTree>,
}

impl FileMetadata for Footer {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.metadata.memory_size() + self.tree.memory()
    }

    fn extra_info(&self) -> HashMap<String, String> {
        HashMap::new()
    }
}

struct SegmentReader {
    files: Arc<SegmentFiles>,
    objects: Arc<dyn ObjectStore>,
    path: Path,
    segment: SegmentMeta,
    tree: Option<Arc<HashTree>>,
}

impl SegmentReader {
    fn bad(&self, reason: impl fmt::Display) -> ParquetError {
        let (key, reason) = (self.segment.key.clone(), reason.to_string());
        ParquetError::External(Box::new(BadSegment { key, reason }))
    }

    /// The inner hashes, as the catalogue has them.
    async fn tree(&mut self) -> Result<Arc<HashTree>, ParquetError> {
        if let Some(tree) = &self.tree {
            return Ok(Arc::clone(tree));
        }
        let external = |error: SourceError| ParquetError::External(Box::new(error));
        let found = async { self.files.reader.read().await?.segment_tree(&self.segment.key).await };
        let found = found.await.map_err(|error| external(SourceError::Store(error)))?;
        let leaves = found.ok_or_else(|| external(SourceError::SegmentGone(self.segment.key.clone())))?;
        let tree = HashTree::parse(self.segment.hash, self.segment.bytes, leaves).map_err(|error| self.bad(error))?;
        let tree = Arc::new(tree);
        self.tree = Some(Arc::clone(&tree));
        Ok(tree)
    }

    /// Reads ranges of whole leaves around those that are asked for, and gives out what was asked for.
    async fn ranges(&mut self, wanted: &[Range<u64>]) -> Result<Vec<Bytes>, ParquetError> {
        let tree = self.tree().await?;
        let size = self.segment.bytes;
        if let Some(out) = wanted.iter().find(|range| range.start > range.end || range.end > size) {
            return Err(self.bad(format!("bytes {} to {} of {size} were asked for", out.start, out.end)));
        }
        let whole = joined(wanted.iter().map(|range| tree.covering(range)).collect());
        let read = match whole.as_slice() {
            [one] => self.objects.get_range(&self.path, one.clone()).await.map(|bytes| vec![bytes]),
            many => self.objects.get_ranges(&self.path, many).await,
        };
        let read = read.map_err(|error| self.bad(self.files.place.unread(&self.segment.key, &error)))?;
        for (range, bytes) in whole.iter().zip(&read) {
            if bytes.len() as u64 != range.end - range.start {
                let (got, wanted) = (bytes.len(), range.end - range.start);
                return Err(self.bad(format!("{got} bytes came where {wanted} were written")));
            }
            tree.check(range.start, bytes).map_err(|error| self.bad(error))?;
        }
        let parts = wanted.iter().map(|range| {
            let place = whole.partition_point(|whole| whole.end <= range.start).min(whole.len().saturating_sub(1));
            match whole.get(place).zip(read.get(place)) {
                Some((held, bytes)) if range.start < range.end => {
                    bytes.slice((range.start - held.start) as usize..(range.end - held.start) as usize)
                }
                _ => Bytes::new(),
            }
        });
        Ok(parts.collect())
    }

    async fn footer(&mut self) -> Result<Arc<ParquetMetaData>, ParquetError> {
        let kept = self.files.footers.get(&self.path);
        if let Some(footer) = kept.as_ref().and_then(|entry| entry.file_metadata.as_any().downcast_ref::<Footer>()) {
            self.tree = Some(Arc::clone(&footer.tree));
            return Ok(Arc::clone(&footer.metadata));
        }
        let tree = self.tree().await?;
        let size = self.segment.bytes;
        let reader = ParquetMetaDataReader::new()
            .with_page_index_policy(PageIndexPolicy::Required)
            .with_prefetch_hint(Some(FOOTER_BYTES));
        let metadata = reader.load_and_finish(&mut *self, size).await;
        let metadata = Arc::new(metadata.map_err(|error| match error {
            ParquetError::External(ours) => ParquetError::External(ours),
            other => self.bad(other),
        })?);
        let rows = metadata.file_metadata().num_rows();
        if u64::try_from(rows) != Ok(self.segment.rows) {
            return Err(self.bad(format!("it holds {rows} rows, and the catalogue says {}", self.segment.rows)));
        }
        // A key is written once, so what was read of it stays true.
        let meta = super::scan::object(&self.segment);
        let footer = Footer { metadata: Arc::clone(&metadata), tree };
        self.files.footers.put(&self.path, CachedFileMetadataEntry::new(meta, Arc::new(footer)));
        Ok(metadata)
    }
}

/// Ranges in order, those that touch made one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

impl AsyncFileReader for SegmentReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move { Ok(self.ranges(&[range]).await?.pop().unwrap_or_default()) }.boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        async move { self.ranges(&ranges).await }.boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        _: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        self.footer().boxed()
    }
}
