//! The sealed half of a table: Parquet files by range reads, with what the catalogue says about each.

mod files;
mod scan;
mod widen;

pub use files::{BadSegment, SegmentFiles};
pub use scan::{SealedScan, is_usable, scan};
