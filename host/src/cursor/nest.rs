//! A nest that is ready to run: its bundle, its decoder, the logs it wants.

use std::sync::Arc;

use crate::chain::{ChainError, LogFilters};
use crate::model::{BlockNumber, BundleHash, DataIdentity, LogFilter, NestName, TableSchema};
use crate::plugin::Decoder;

/// One nest of a cursor, loaded.
#[derive(Clone)]
pub struct Nest {
    /// Name, which is also its endpoint when embedded.
    pub name: NestName,
    /// Version.
    pub version: semver::Version,
    /// Address of the bundle.
    pub bundle: BundleHash,
    /// What decides its rows.
    pub identity: DataIdentity,
    /// The canonical manifest.
    pub manifest: String,
    /// Tables in the order of the manifest.
    pub tables: Vec<TableSchema>,
    /// The logs it wants.
    pub filters: Vec<LogFilter>,
    /// SQL views, name and text.
    pub views: Vec<(String, String)>,
    /// Fingerprint of the engine that runs it.
    pub engine: String,
    /// Runs the bundle.
    pub decoder: Arc<Decoder>,
    /// `--backfill N`: index only the last N blocks as of the first start.
    pub backfill: Option<u64>,
}

impl Nest {
    /// The smallest start block of its contracts.
    pub fn start_block(&self) -> BlockNumber {
        BlockNumber(self.filters.iter().map(|filter| filter.start_block).min().unwrap_or(0))
    }

    /// Its filters, compiled.
    pub fn log_filters(&self) -> Result<LogFilters, ChainError> {
        LogFilters::parse(&self.filters)
    }
}
