//! Reading segments: each named in the error where one cannot be read.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::execution::cache::cache_manager::FileMetadataCache;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::FutureExt;
use futures::future::BoxFuture;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;

use crate::model::ContentHash;
use crate::segments::Place;
use crate::store::SegmentMeta;

/// Why a segment's rows cannot be had. The query fails: fewer rows would be a wrong answer.
#[derive(Debug, thiserror::Error)]
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
    inner: CachedParquetFileReaderFactory,
    verified: Arc<Mutex<HashSet<String>>>,
}

impl fmt::Debug for SegmentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentFiles({})", self.place)
    }
}

impl SegmentFiles {
    /// The files of this place, with their footers in this cache.
    pub fn new(place: Place, footers: Arc<FileMetadataCache>) -> Self {
        let inner = CachedParquetFileReaderFactory::new(place.objects(), footers);
        SegmentFiles { place, inner, verified: Arc::default() }
    }
}

impl ParquetFileReaderFactory for SegmentFiles {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        metadata_size_hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> datafusion::common::Result<Box<dyn AsyncFileReader + Send>> {
        let segment = file.extension::<SegmentMeta>().cloned();
        let inner = self.inner.create_reader(partition, file, metadata_size_hint, metrics)?;
        let Some(segment) = segment else {
            return Err(datafusion::common::DataFusionError::Internal("a file that is no segment".to_owned()));
        };
        let (place, verified) = (self.place.clone(), Arc::clone(&self.verified));
        Ok(Box::new(SegmentReader { inner, identity: Identity { segment, place, verified } }))
    }
}

struct SegmentReader {
    inner: Box<dyn AsyncFileReader + Send>,
    identity: Identity,
}

/// What a file is to be.
struct Identity {
    segment: SegmentMeta,
    place: Place,
    verified: Arc<Mutex<HashSet<String>>>,
}

impl Identity {
    fn bad(&self, reason: impl fmt::Display) -> ParquetError {
        let (key, reason) = (self.segment.key.clone(), reason.to_string());
        ParquetError::External(Box::new(BadSegment { key, reason }))
    }

    /// Pages carry no checksum of their own, so a file that is near at hand is held against its hash once.
    async fn verify(&self) -> Result<(), ParquetError> {
        if !self.place.is_near() || self.lock().contains(&self.segment.key) {
            return Ok(());
        }
        let bytes = self.place.get(&self.segment.key).await.map_err(|error| self.bad(error))?;
        let hashed = tokio::task::spawn_blocking(move || ContentHash::of(&bytes)).await;
        let (found, wanted) = (hashed.map_err(|error| self.bad(error))?, self.segment.hash);
        if found != wanted {
            return Err(self.bad(format!("it was written with the hash {wanted}, and has {found}")));
        }
        self.lock().insert(self.segment.key.clone());
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsyncFileReader for SegmentReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        async move {
            let read = self.inner.get_bytes(range).await;
            read.map_err(|error| self.identity.bad(error))
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        async move {
            let read = self.inner.get_byte_ranges(ranges).await;
            read.map_err(|error| self.identity.bad(error))
        }
        .boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        async move {
            self.identity.verify().await?;
            let read = self.inner.get_metadata(options).await;
            let metadata = read.map_err(|error| self.identity.bad(error))?;
            let rows = metadata.file_metadata().num_rows();
            let wanted = self.identity.segment.rows;
            if u64::try_from(rows) != Ok(wanted) {
                return Err(self.identity.bad(format!("it holds {rows} rows, and the catalogue says {wanted}")));
            }
            Ok(metadata)
        }
        .boxed()
    }
}
