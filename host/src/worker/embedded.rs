//! All cursors of one process over one data folder.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::progress;
use super::socket::{self, SocketError};
use crate::chain::{ChainSpec, Source};
use crate::cursor::{Cursor, CursorError, CursorHandle, CursorStatus, Nest, Settings, Until};
use crate::model::{ChainId, Progress};
use crate::query::Served;
use crate::segments::{CutRule, Place, PlaceError, SEGMENT_ROWS, Sealer, default_place};
use crate::store::sqlite::{DataLock, SqliteOptions, SqliteStore};
use crate::store::{HotReader, HotStore, StoreError};

/// One chain of a plan.
pub struct ChainPlan {
    /// Where its logs come from.
    pub source: Arc<dyn Source>,
    /// The nests that ride it.
    pub nests: Vec<Arc<Nest>>,
}

/// How final rows are sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealing {
    /// Where segments go, as [`Place::open`] takes it; none for `segments` in the data folder.
    pub place: Option<String>,
    /// Rows that fill one; [`SEGMENT_ROWS`], or the files are not those of others.
    pub rows: u64,
}

impl Default for Sealing {
    fn default() -> Self {
        Sealing { place: None, rows: SEGMENT_ROWS }
    }
}

/// What a process is to run.
pub struct EmbeddedPlan {
    /// Data folder: one database a chain.
    pub data: PathBuf,
    /// Chains, each once.
    pub chains: Vec<ChainPlan>,
    /// How cursors work.
    pub settings: Settings,
    /// Where final rows go.
    pub sealing: Sealing,
    /// Whether the folder may hold nests that are not in the plan: true of a shared `--data`, false of a nest's own.
    pub folder: Folder,
    /// When the cursors end by themselves.
    pub until: Until,
}

/// Whose a data folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// One nest's own: rows of another nest in it are a mistake.
    OfOneNest,
    /// Shared: nests may come and go.
    Shared,
}

/// What ends a process of cursors.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no place for segments.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// A cursor ended.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// The control socket could not be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A cursor's task broke down: a defect.
    #[error("the cursor of chain {chain} broke down: {reason}")]
    Broken {
        /// Chain.
        chain: ChainId,
        /// What is known.
        reason: String,
    },
}

/// One running chain.
pub struct RunningChain {
    /// Chain.
    pub chain: ChainId,
    /// Its store, to read from.
    pub store: Arc<SqliteStore>,
    /// Takes commands.
    pub handle: CursorHandle,
    /// Its last known state.
    pub status: watch::Receiver<CursorStatus>,
}

/// Cursors that run.
pub struct Embedded {
    chains: Arc<Vec<RunningChain>>,
    place: Place,
    tasks: JoinSet<(ChainId, Result<(), CursorError>)>,
    stop: CancellationToken,
    progress: watch::Receiver<Progress>,
    // Held until every cursor has ended; the kernel frees it at death.
    _lock: Arc<DataLock>,
}

impl Embedded {
    /// Takes the folder, opens its stores, brings the nests, starts the cursors and the control socket. They run
    /// until `stop`.
    pub async fn start(plan: EmbeddedPlan, stop: CancellationToken) -> Result<Self, WorkerError> {
        let lock = DataLock::acquire(&plan.data)?;
        let place = match &plan.sealing.place {
            Some(named) => Place::open(named)?,
            None => Place::folder(&default_place(lock.data()))?,
        };
        let mut chains = Vec::new();
        let mut ready = Vec::new();
        for chain in plan.chains {
            let id = chain.source.chain_id();
            let store = Arc::new(SqliteStore::open(&lock, id, SqliteOptions::default()).await?);
            if plan.folder == Folder::OfOneNest {
                let endpoints = store.read().await?.endpoints().await?;
                let folder = plan.data.display().to_string();
                crate::cursor::check_folder(&folder, &endpoints, &chain.nests)?;
            }
            let writer: Arc<dyn HotStore> = store.clone();
            let (cursor, handle, status) = Cursor::start(chain.source, writer, chain.nests, plan.settings).await?;
            let rule = CutRule::of_span(ChainSpec::of(id).span).filled_by(plan.sealing.rows);
            ready.push((id, cursor.sealing(Sealer::new(place.clone(), rule))));
            chains.push(RunningChain { chain: id, store, handle, status });
        }
        let chains = Arc::new(chains);
        socket::serve(&plan.data, chains.clone(), stop.clone())?;
        let progress = progress::watch(chains.clone(), stop.clone());
        let mut tasks = JoinSet::new();
        for (id, cursor) in ready {
            let stop = stop.clone();
            tasks.spawn(async move { (id, cursor.run(plan.until, stop).await) });
        }
        Ok(Embedded { chains, place, tasks, stop, progress, _lock: lock })
    }

    /// The running chains.
    pub fn chains(&self) -> Arc<Vec<RunningChain>> {
        self.chains.clone()
    }

    /// Read access to every store and its segments.
    pub fn served(&self) -> Vec<Served> {
        let served = |chain: &RunningChain| Served { reader: chain.store.clone(), segments: Some(self.place.clone()) };
        self.chains.iter().map(served).collect()
    }

    /// How far all chains are, a few times a second.
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }

    /// Waits until every cursor has ended, then ends what hangs on the stop token. The first cursor that fails stops
    /// the others.
    pub async fn finished(self) -> Result<(), WorkerError> {
        let stop = self.stop.clone();
        let outcome = self.finished_quietly().await;
        stop.cancel();
        outcome
    }

    /// As [`Embedded::finished`], but a good end of all cursors leaves the stop token alone.
    pub async fn finished_quietly(mut self) -> Result<(), WorkerError> {
        let mut outcome = Ok(());
        while let Some(joined) = self.tasks.join_next().await {
            let failed = match joined {
                Ok((_, Ok(()))) => continue,
                Ok((_, Err(error))) => WorkerError::Cursor(error),
                Err(error) => WorkerError::Broken { chain: ChainId(0), reason: error.to_string() },
            };
            self.stop.cancel();
            if outcome.is_ok() {
                outcome = Err(failed);
            }
        }
        outcome
    }
}
