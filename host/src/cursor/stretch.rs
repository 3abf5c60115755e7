//! Windows of final blocks, gathered into one commit: rows go into segments where a cut is due, into the hot half
//! where none is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CursorError;
use super::agreement::{Contradiction, interrupted};
use super::backfill::Window;
use super::lanes::Lane;
use super::window::Rows;
use crate::model::{BlockRef, ChainId, DatasetId, TableId};
use crate::segments::{NewRows, Placed, SealError, Sealer};
use crate::store::{Commit, CursorState, DatasetCommit, HotStore};

/// How long rows wait for others before they are committed.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Hot rows of a dataset up to which a place that takes no files holds nothing up. Beyond it rows wait for the place,
/// so that the hot store stays small however deep a backfill is.
const MOST_HOT: u64 = 1 << 18;

/// Windows that follow each other.
#[derive(Default)]
pub(super) struct Stretch {
    windows: Vec<Window>,
    memory: usize,
    rows: BTreeMap<(DatasetId, TableId), u64>,
    due_at: Option<Instant>,
}

impl Stretch {
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Bytes that its rows hold.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// When its rows have waited long enough.
    pub fn due_at(&self) -> Option<Instant> {
        self.due_at
    }

    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        self.windows.iter().map(|window| &window.lane)
    }

    /// Whether a window goes on with the same datasets. One that does not waits for the next stretch.
    pub fn takes(&self, lane: &Lane) -> bool {
        self.windows.last().is_none_or(|last| last.lane.datasets == lane.datasets)
    }

    /// Whether it is to be committed now: it fills a segment or the memory, has waited long enough, or ends in a fault.
    pub fn is_due(&self, segment_rows: u64, memory: usize) -> bool {
        let Some(last) = self.windows.last() else { return false };
        self.memory >= memory
            || self.rows.values().any(|rows| *rows >= segment_rows)
            || self.due_at.is_some_and(|at| at <= Instant::now())
            || last.rows.iter().any(|rows| rows.fault.is_some())
    }

    /// Adds the next window. The endpoints contradict each other where it stands on another block than the last one.
    pub fn push(&mut self, window: Window) -> Result<(), Contradiction> {
        let before = self.windows.last().map(|window| window.last);
        if let Some((ours, theirs)) = before.zip(window.parent).filter(|(ours, theirs)| ours != theirs) {
            return Err(Contradiction { ours, theirs });
        }
        for rows in &window.rows {
            self.memory += rows.memory();
            for (table, batch) in &rows.tables {
                *self.rows.entry((rows.dataset, *table)).or_default() += batch.num_rows() as u64;
            }
        }
        self.due_at.get_or_insert_with(|| Instant::now() + LONGEST_WAIT);
        self.windows.push(window);
        Ok(())
    }

    /// Rows of each dataset in one, and where it stands after them.
    fn gathered(&self) -> BTreeMap<DatasetId, Gathered> {
        let mut all: BTreeMap<DatasetId, Gathered> = BTreeMap::new();
        for window in &self.windows {
            for rows in &window.rows {
                let own = all.entry(rows.dataset).or_default();
                let mut ends = window.stops.iter().chain([&window.last]);
                if let Some(end) = rows.last.and_then(|last| ends.find(|end| end.number == last)) {
                    own.done_to = Some(*end);
                }
                for (table, batch) in &rows.tables {
                    own.tables.entry(*table).or_default().push(batch.clone());
                }
                let total = own.rows.get_or_insert_with(|| Rows::nothing_of(rows.dataset));
                total.logs += rows.logs;
                total.rows += rows.rows;
                total.last = rows.last.or(total.last);
                total.fault.clone_from(&rows.fault);
            }
        }
        all
    }
}

#[derive(Default)]
struct Gathered {
    done_to: Option<BlockRef>,
    tables: NewRows,
    rows: Option<Rows>,
}

/// A stretch, ready to commit: what goes into files is uploaded.
pub(super) struct Closed {
    /// Its datasets and blocks.
    pub lane: Lane,
    /// The block before it; none before block 0.
    pub parent: Option<BlockRef>,
    moves: Vec<(DatasetId, BlockRef, Placed)>,
    /// What it brings, and the faults in it; without the rows themselves.
    pub rows: Vec<Rows>,
    /// Why rows that were due for a file became hot.
    pub unsealed: Option<String>,
}

/// What to do with rows that are due for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uploads {
    /// Try.
    Tried,
    /// The place failed just now; let them become hot.
    Rest,
}

impl Closed {
    /// Its commit, and what to count of it.
    pub fn commit(self, state: &CursorState) -> (Commit, Vec<Rows>) {
        let standing = |id: DatasetId| state.datasets.iter().find(|dataset| dataset.id == id);
        let moves = self.moves.into_iter().filter_map(|(dataset, done_to, placed)| {
            let from = standing(dataset)?.done_to;
            Some(DatasetCommit { dataset, from, done_to, chunks: placed.hot, sealed: placed.sealed })
        });
        (Commit { datasets: moves.collect(), ..Commit::default() }, self.rows)
    }
}

/// Where rows go.
#[derive(Clone)]
pub(super) struct Target {
    pub store: Arc<dyn HotStore>,
    pub sealer: Option<Sealer>,
}

impl Target {
    /// Rows that fill a segment.
    pub fn segment_rows(&self) -> u64 {
        self.sealer.as_ref().map_or(u64::MAX, Sealer::segment_rows)
    }

    /// Makes a commit of a stretch: cuts, writes and uploads what is due. Changes nothing in the store.
    pub async fn close(self, chain: ChainId, stretch: Arc<Stretch>, uploads: Uploads) -> Result<Closed, CursorError> {
        let (Some(first), Some(last)) = (stretch.windows.first(), stretch.windows.last()) else {
            return Err(interrupted(chain, "a stretch without windows".to_owned()));
        };
        let range = first.lane.range.through(last.lane.range.last);
        let lane = Lane { datasets: first.lane.datasets.clone(), range };
        let state = self.store.read().await?.state().await?;
        let (mut moves, mut counted, mut unsealed) = (Vec::new(), Vec::new(), None);
        for (dataset, Gathered { done_to, tables, rows }) in stretch.gathered() {
            counted.extend(rows);
            let standing = state.datasets.iter().find(|standing| standing.id == dataset);
            let (Some(done_to), Some(standing)) = (done_to, standing) else { continue };
            let Some(sealer) = &self.sealer else {
                moves.push((dataset, done_to, all_hot(dataset, tables).await?));
                continue;
            };
            let may_be_hot = self.hot_rows(dataset).await? < MOST_HOT;
            let placed = match uploads {
                Uploads::Rest if may_be_hot => all_hot(dataset, tables).await?,
                Uploads::Rest | Uploads::Tried => {
                    let kept = tables.clone();
                    match sealer.straight(&*self.store, standing, tables, done_to.number).await {
                        Err(SealError::Place(error)) if may_be_hot => {
                            unsealed = Some(error.to_string());
                            all_hot(dataset, kept).await?
                        }
                        placed => placed?,
                    }
                }
            };
            moves.push((dataset, done_to, placed));
        }
        Ok(Closed { lane, parent: first.parent, moves, rows: counted, unsealed })
    }

    async fn hot_rows(&self, dataset: DatasetId) -> Result<u64, CursorError> {
        let chunks = self.store.read().await?.chunks(dataset).await?;
        Ok(chunks.iter().map(|chunk| chunk.rows).sum())
    }
}

async fn all_hot(dataset: DatasetId, tables: NewRows) -> Result<Placed, CursorError> {
    let tables = tables.into_iter().flat_map(|(table, batches)| batches.into_iter().map(move |batch| (table, batch)));
    let hot = Rows { tables: tables.collect(), ..Rows::nothing_of(dataset) }.chunks().await?;
    Ok(Placed { hot, sealed: Vec::new() })
}
