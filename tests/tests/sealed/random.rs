//! Any way to the same chain gives the same files and the same rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nuthatch::cursor::{Cursor, CursorStatus, Nest, Settings, Until};
use nuthatch::plugin::{Budget, Decoder, PluginHost, PluginLimits, nest_folder};
use nuthatch::query::answer::Answer;
use nuthatch::query::{QueryEngine, QueryLimits, Served};
use nuthatch::segments::{CutRule, Place, Sealer};
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use nuthatch::store::{HotReader, HotStore};
use nuthatch_tests::chain_lab::connect;
use nuthatch_tests::mock_nest::TABLES;
use nuthatch_tests::mock_rpc::{Fault, MockChain, MockRpc};
use nuthatch_tests::process::PATIENCE;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::NEST;

/// Small enough that spans end in these chains.
const SPAN: u64 = 256;

/// What happens on the way.
#[derive(Clone, Debug)]
enum Step {
    Advance(u64),
    /// Above the final block.
    Reorg(u64),
    /// The endpoint answers this many blocks at most.
    Narrow(u64),
    Heal,
    /// The process ends after this many changes of its status, or at the head; then another one comes.
    Kill(u32, Way),
    ToHead,
}

/// How a process works.
#[derive(Clone, Copy, Debug)]
struct Way {
    tip_blocks: u64,
    ahead: usize,
    window_logs: u64,
    memory: usize,
}

impl Way {
    const STRAIGHT: Way = Way { tip_blocks: 64, ahead: 3, window_logs: 20_000, memory: 96 << 20 };

    fn settings(self) -> Settings {
        Settings {
            tip_blocks: self.tip_blocks,
            ahead: self.ahead,
            window_logs: self.window_logs,
            memory: self.memory,
            ..Settings::default()
        }
    }
}

fn way() -> impl Strategy<Value = Way> {
    (1u64..80, 1usize..6, 5u64..400, prop_oneof![Just(1usize), Just(20_000), Just(1 << 26)])
        .prop_map(|(tip_blocks, ahead, window_logs, memory)| Way { tip_blocks, ahead, window_logs, memory })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u64..150).prop_map(Step::Advance),
        2 => (1u64..=15).prop_map(Step::Reorg),
        1 => (1u64..40).prop_map(Step::Narrow),
        1 => Just(Step::Heal),
        3 => (0u32..12, way()).prop_map(|(changes, way)| Step::Kill(changes, way)),
        2 => Just(Step::ToHead),
    ];
    prop::collection::vec(step, 3..10)
}

/// One operator's folder, and the process over it.
struct Operator {
    data: PathBuf,
    nest: Arc<Nest>,
    rule: CutRule,
    process: Option<Process>,
    _scratch: TempDir,
}

struct Process {
    task: tokio::task::JoinHandle<()>,
    status: watch::Receiver<CursorStatus>,
}

/// A catalogue's content: table, first and last block, rows, hash.
type Catalogue = BTreeSet<(i64, u64, u64, u64, String)>;

impl Operator {
    fn new(chain: &MockChain, rule: CutRule) -> Operator {
        let scratch = tempfile::tempdir().unwrap();
        let folder = NEST.write(scratch.path(), chain).unwrap();
        let nest = Arc::new(nest(&folder));
        Operator { data: scratch.path().join("data"), nest, rule, process: None, _scratch: scratch }
    }

    async fn start(&mut self, rpc: &MockRpc, way: Way) {
        let started = Instant::now();
        // What a process held goes when its last task has ended.
        let lock = loop {
            match DataLock::acquire(&self.data) {
                Ok(lock) => break lock,
                Err(error) => assert!(started.elapsed() < PATIENCE, "{error}"),
            }
            tokio::task::yield_now().await;
        };
        let source = Arc::new(connect(&[rpc]).await);
        let store: Arc<dyn HotStore> = Arc::new(
            SqliteStore::open(&lock, nuthatch::model::ChainId(31_337), SqliteOptions::default()).await.unwrap(),
        );
        let sealer = Sealer::new(Place::folder(&self.data.join("segments")).unwrap(), self.rule);
        let nests = vec![Arc::clone(&self.nest)];
        let (cursor, handle, status) = Cursor::start(source, store, nests, way.settings()).await.unwrap();
        let cursor = cursor.sealing(sealer);
        let task = tokio::spawn(async move {
            let _handle = handle;
            cursor.run(Until::Stopped, CancellationToken::new()).await.unwrap();
        });
        self.process = Some(Process { task, status });
    }

    /// Waits until the process stands at the chain's head, or its status has changed so often.
    async fn runs(&mut self, chain: &MockChain, changes: Option<u32>) {
        let process = self.process.as_mut().unwrap();
        let mut left = changes.unwrap_or(u32::MAX);
        let there = async {
            while left > 0 && process.status.borrow_and_update().tip != Some(chain.head()) {
                process.status.changed().await.unwrap();
                left -= 1;
            }
        };
        let reached = tokio::time::timeout(PATIENCE, there).await;
        assert!(reached.is_ok(), "not at {:?}: {:?}", chain.head(), self.process.as_ref().unwrap().status.borrow());
    }

    async fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.task.abort();
            let _ = process.task.await;
        }
    }

    async fn reader(&self) -> SqliteReader {
        SqliteReader::open(&self.data, nuthatch::model::ChainId(31_337)).await.unwrap()
    }

    async fn catalogue(&self) -> Catalogue {
        let mut read = self.reader().await.read().await.unwrap();
        let mut all = Catalogue::new();
        for dataset in read.state().await.unwrap().datasets {
            for it in read.segments(dataset.id).await.unwrap() {
                all.insert((it.table.to_i64(), it.range.first.0, it.range.last.0, it.rows, it.hash.to_string()));
            }
        }
        all
    }

    async fn engine(&self) -> QueryEngine {
        let segments = Some(Place::folder(&self.data.join("segments")).unwrap());
        let reader = Arc::new(self.reader().await);
        QueryEngine::over(vec![Served { reader, segments }], QueryLimits::default()).unwrap()
    }

    async fn rows(&self) -> Vec<String> {
        let engine = self.engine().await;
        let mut all = Vec::new();
        for table in TABLES.into_iter().chain(["_rejected"]) {
            let sql = format!("SELECT * FROM {table} ORDER BY block_number, log_index");
            let answer: Answer = engine.query(&NEST.name.parse().unwrap(), &sql).await.unwrap();
            all.push(answer.to_csv());
        }
        all
    }

    /// Waits until the catalogue is this one.
    async fn settles_as(&mut self, wanted: &Catalogue) {
        let started = Instant::now();
        loop {
            let found = self.catalogue().await;
            if found == *wanted {
                return;
            }
            let more: Vec<_> = found.difference(wanted).collect();
            assert!(more.is_empty(), "other segments: {more:?}; wanted {wanted:?}");
            assert!(started.elapsed() < PATIENCE, "{found:?} instead of {wanted:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn nest(folder: &Path) -> Nest {
    let host = PluginHost::new(PluginLimits::default()).unwrap();
    let built = nest_folder::build(&host, folder).unwrap();
    let manifest = built.bundle.manifest();
    let plan = built.bundle.plan().to_vec();
    let decoder = Decoder::new(built.plugin.clone(), &manifest.name, plan, manifest.tables.clone(), Budget::DEFAULT);
    Nest {
        name: manifest.name.clone(),
        version: manifest.version.clone(),
        bundle: built.bundle.hash(),
        identity: built.bundle.data_identity(),
        manifest: built.bundle.manifest_json().to_owned(),
        tables: manifest.tables.clone(),
        filters: manifest.filters.clone(),
        views: Vec::new(),
        engine: host.fingerprint().to_owned(),
        decoder: Arc::new(decoder),
        backfill: None,
    }
}

/// What a straight run of the chain as it is now has once nothing moves any more.
async fn straight(chain: &MockChain, rule: CutRule) -> (Catalogue, Vec<String>) {
    let rpc = MockRpc::start(chain).await;
    let mut operator = Operator::new(chain, rule);
    operator.start(&rpc, Way::STRAIGHT).await;
    operator.runs(chain, None).await;
    let started = Instant::now();
    let mut before = operator.catalogue().await;
    // Nothing due is left where no hot row of a cut remains; the cursor says so by going to its next look at the head.
    loop {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let now = operator.catalogue().await;
        if now == before && !now.is_empty() {
            break;
        }
        assert!(started.elapsed() < PATIENCE);
        before = now;
    }
    let rows = operator.rows().await;
    operator.kill().await;
    (before, rows)
}

async fn holds(seed: u64, head: u64, fill: u64, first: Way, steps: Vec<Step>) {
    let chain = MockChain::new(seed, head);
    let rule = CutRule::of_span(SPAN).filled_by(fill);
    let rpc = MockRpc::start(&chain).await;
    let mut operator = Operator::new(&chain, rule);
    operator.start(&rpc, first).await;
    for step in steps {
        match step {
            Step::Advance(blocks) => chain.advance(blocks),
            Step::Reorg(depth) => chain.reorg(depth),
            Step::Narrow(blocks) => rpc.inject(Fault::MaxBlocks(blocks)),
            Step::Heal => rpc.heal(),
            Step::ToHead => operator.runs(&chain, None).await,
            Step::Kill(changes, way) => {
                operator.runs(&chain, Some(changes)).await;
                operator.kill().await;
                operator.start(&rpc, way).await;
            }
        }
    }
    // So that all that happened on the way is final.
    chain.advance(chain.finality() + 1);
    rpc.heal();
    operator.runs(&chain, None).await;
    let (catalogue, rows) = straight(&chain, rule).await;
    operator.settles_as(&catalogue).await;
    assert!(operator.rows().await == rows, "rows differ from a straight run's");
    operator.kill().await;
}

fn property(cases: u32) {
    let mut runner = TestRunner::new(ProptestConfig { cases, max_shrink_iters: 40, ..ProptestConfig::default() });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let inputs = (any::<u64>(), 20u64..500, 20u64..160, way(), steps());
    runner
        .run(&inputs, |(seed, head, fill, way, steps)| {
            runtime.block_on(holds(seed, head, fill, way, steps));
            Ok(())
        })
        .unwrap();
}

/// I7, I8: window sizes, concurrency, kills and reorgs above the final block change neither files nor rows.
#[test]
fn any_way_gives_the_files_and_rows_of_a_straight_run() {
    property(6);
}

/// The same, much more often.
#[test]
fn slow_any_way_gives_the_files_and_rows_of_a_straight_run() {
    property(150);
}
