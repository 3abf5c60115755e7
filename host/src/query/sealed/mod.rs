//! The sealed half of a table: Parquet files by range reads, with what the catalogue says about each.

mod files;
mod filter;
mod scan;
mod widen;

pub use files::{BadSegment, SegmentFiles};
pub use filter::to_file;
pub use scan::{SealedScan, scan};
