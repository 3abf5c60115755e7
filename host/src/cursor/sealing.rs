//! Sealing beside the loop: an upload holds up neither the head nor a command.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::CursorError;
use super::trouble::Trouble;
use crate::model::DatasetId;
use crate::segments::{SealError, Sealer};
use crate::store::{HotStore, SegmentMeta};

/// The cuts of hot rows, one at a time.
#[derive(Default)]
pub(super) struct Sealing {
    sealer: Option<Sealer>,
    task: Option<Task>,
    trouble: Option<Trouble>,
}

/// What came of it.
pub(super) enum Sealed {
    /// No cut is due.
    Nothing,
    /// A segment is in the catalogue.
    Segment(SegmentMeta),
    /// One is being made, or rests after trouble.
    OnItsWay,
}

struct Task(JoinHandle<Result<Option<SegmentMeta>, SealError>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Sealing {
    /// Seals with this sealer; without one rows stay hot.
    pub fn with(sealer: Sealer) -> Self {
        Sealing { sealer: Some(sealer), task: None, trouble: None }
    }

    /// Gives up what is under way. An upload that is not named yet goes with gc.
    pub fn clear(&mut self) {
        self.task = None;
    }

    /// Whether a segment is being made.
    pub fn is_busy(&self) -> bool {
        self.task.is_some()
    }

    /// What keeps rows from being sealed, until one cut is.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(Trouble::text)
    }

    /// Goes on with the cut under way, or with the next one that is due in other datasets than these; waits for it so
    /// long. Dropping the wait loses nothing.
    pub async fn step(
        &mut self,
        store: &Arc<dyn HotStore>,
        but: HashSet<DatasetId>,
        patience: Duration,
        longest_rest: Duration,
    ) -> Result<Sealed, CursorError> {
        let Some(sealer) = &self.sealer else { return Ok(Sealed::Nothing) };
        if let Some(trouble) = self.trouble.as_ref().filter(|trouble| trouble.rests() && self.task.is_none()) {
            let _ = tokio::time::timeout(patience, tokio::time::sleep_until(trouble.rests_until())).await;
            return Ok(Sealed::OnItsWay);
        }
        let task = self.task.get_or_insert_with(|| {
            let (sealer, store) = (sealer.clone(), Arc::clone(store));
            Task(tokio::spawn(async move { sealer.seal_next(&*store, &but).await }))
        });
        let Ok(done) = tokio::time::timeout(patience, &mut task.0).await else { return Ok(Sealed::OnItsWay) };
        self.task = None;
        let done = done.map_err(|broken| SealError::Rows { table: "?".to_owned(), reason: broken.to_string() });
        match done.and_then(|done| done).map_err(CursorError::from) {
            Ok(sealed) => {
                self.trouble = None;
                Ok(sealed.map_or(Sealed::Nothing, Sealed::Segment))
            }
            // The tip lane goes on meanwhile, its rows hot.
            Err(error) if error.is_passing() => {
                self.trouble = Some(Trouble::after(self.trouble.as_ref(), error.to_string(), longest_rest));
                Ok(Sealed::OnItsWay)
            }
            Err(error) => Err(error),
        }
    }
}
