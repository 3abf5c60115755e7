//! The time of day that processes under test see.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tempfile::TempDir;

/// A clock. Processes that share one see it jump at the same moment; what they measure is not touched.
#[derive(Debug)]
pub struct Clock(Option<Moved>);

#[derive(Debug)]
struct Moved {
    library: String,
    file: PathBuf,
    _keep: TempDir,
}

impl Clock {
    /// The machine's own.
    pub fn real() -> Clock {
        Clock(None)
    }

    /// One that can be moved. Its library is named by `NUTHATCH_FAKETIME`, which `tests/run` sets.
    pub fn movable() -> Result<Clock> {
        let library = std::env::var("NUTHATCH_FAKETIME");
        let library = library.context("NUTHATCH_FAKETIME is not set; run the tests with tests/run")?;
        let keep = tempfile::tempdir()?;
        let clock = Moved { library, file: keep.path().join("clock"), _keep: keep };
        std::fs::write(&clock.file, "+0\n")?;
        Ok(Clock(Some(clock)))
    }

    /// Goes to so many hours ahead of the machine's.
    ///
    /// # Panics
    ///
    /// Where it is the machine's own.
    pub fn jump(&self, hours: u32) {
        let moved = self.0.as_ref().expect("a clock that can be moved");
        // Whoever reads it meets the old or the new one, never half of it.
        let next = moved.file.with_extension("next");
        std::fs::write(&next, format!("+{hours}h\n")).expect("the clock's folder is there");
        std::fs::rename(next, &moved.file).expect("the clock's folder is there");
    }

    /// Variables by which a process sees it.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        let Some(moved) = &self.0 else { return Vec::new() };
        vec![
            ("LD_PRELOAD", moved.library.clone()),
            ("FAKETIME_TIMESTAMP_FILE", moved.file.display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("NO_FAKE_STAT", "1".to_owned()),
        ]
    }
}
