//! The one way to ask: queue, snapshot, plan, run.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{FutureExt, StreamExt};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::answer::{Answer, Meta};
use super::cache::ChunkCache;
use super::catalogs::{Catalogs, Opened};
use super::classify::{Ended, classify};
use super::describe;
use super::error::{BadQuery, Flaw, QueryError};
use super::guard::{self, Request, Tokens};
use super::limits::QueryLimits;
use super::planner::Planner;
use super::queue::{Place, Queue};
use super::scan::ChunkScan;
use super::session;
use super::source::ChunkSource;
use super::tables::Catalog;
use super::wide;
use crate::model::{Endpoint, NestName};
use crate::store::{CursorState, HotReader, Snapshot};

/// Stack of the threads that plan and run queries: statements nest deeper than a default stack holds.
const STACK: usize = 16 << 20;

/// Answers SQL over the stores of all cursors. Clones share everything.
#[derive(Clone)]
pub struct QueryEngine {
    inner: Arc<Inner>,
}

struct Inner {
    catalogs: Catalogs,
    limits: QueryLimits,
    queue: Queue,
    cache: Arc<ChunkCache>,
    state: SessionState,
    threads: Threads,
}

/// Threads of their own, so that a heavy query takes no turn from indexing or serving.
struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // A runtime must not wait for its threads inside another one.
            runtime.shutdown_background();
        }
    }
}

/// An endpoint and the state of its cursor.
#[derive(Clone, Debug)]
pub struct EndpointInfo {
    /// The endpoint row.
    pub endpoint: Endpoint,
    /// Its cursor.
    pub cursor: Arc<CursorState>,
}

impl QueryEngine {
    /// An engine over these stores, one a chain.
    pub fn new(readers: Vec<Arc<dyn HotReader>>, limits: QueryLimits) -> Result<Self, QueryError> {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("query")
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|error| QueryError::Internal(format!("no threads for queries: {error}")))?;
        let state = session::template(&limits, threads).map_err(|error| QueryError::Internal(error.to_string()))?;
        let inner = Inner {
            catalogs: Catalogs::new(readers),
            queue: Queue::new(&limits),
            cache: Arc::new(ChunkCache::new(limits.cache)),
            state,
            threads: Threads(Some(runtime)),
            limits,
        };
        Ok(QueryEngine { inner: Arc::new(inner) })
    }

    /// The answer to one statement over one endpoint's tables.
    pub async fn query(&self, nest: &NestName, sql: &str) -> Result<Answer, QueryError> {
        let started = Instant::now();
        let answer = self.ask(nest, sql).await;
        let outcome = answer.as_ref().map_or_else(QueryError::code, |_| "ok");
        metrics::counter!("nuthatch_queries_total", "outcome" => outcome).increment(1);
        metrics::histogram!("nuthatch_query_seconds").record(started.elapsed().as_secs_f64());
        answer
    }

    /// All endpoints, by name.
    pub async fn endpoints(&self) -> Result<Vec<EndpointInfo>, QueryError> {
        let all = self.inner.catalogs.all().await?;
        Ok(all.into_iter().map(|(endpoint, cursor)| EndpointInfo { endpoint, cursor }).collect())
    }

    /// What an endpoint offers and how far its rows reach.
    pub async fn snapshot(&self, nest: &NestName) -> Result<(Snapshot, Arc<Catalog>), QueryError> {
        let opened = self.inner.catalogs.open(nest).await?;
        Ok((opened.snapshot, opened.catalog))
    }

    /// The limits in force.
    pub fn limits(&self) -> &QueryLimits {
        &self.inner.limits
    }

    async fn ask(&self, nest: &NestName, sql: &str) -> Result<Answer, QueryError> {
        let deadline = self.inner.limits.deadline;
        let within = async {
            let place = self.inner.queue.enter().await?;
            let Some(runtime) = &self.inner.threads.0 else {
                return Err(QueryError::Internal("the query threads have ended".to_owned()));
            };
            let job = run(Arc::clone(&self.inner), nest.clone(), sql.to_owned(), place);
            let mut task = Stopping(runtime.spawn(AssertUnwindSafe(job).catch_unwind()));
            match (&mut task.0).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(panic)) => Err(QueryError::Internal(panic_text(panic.as_ref()))),
                Err(error) => Err(QueryError::Internal(error.to_string())),
            }
        };
        match tokio::time::timeout(deadline, within).await {
            Ok(answer) => answer,
            Err(_) => Err(QueryError::Timeout { after: deadline }),
        }
    }
}

/// A task that ends with whoever waits for it.
struct Stopping<T>(JoinHandle<T>);

impl<T> Drop for Stopping<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}

/// Runs a query, and once more where a chunk left the store under it.
async fn run(inner: Arc<Inner>, nest: NestName, sql: String, place: Place) -> Result<Answer, QueryError> {
    // Held until the task really ends, which may be after its caller gave up.
    let _place = place;
    let tokens = guard::tokens(&sql, &inner.limits)?;
    match attempt(&inner, &nest, &tokens).await {
        Err(Ended::Gone(reason)) => {
            tracing::debug!(%nest, reason, "query starts again with a new snapshot");
            match attempt(&inner, &nest, &tokens).await {
                Err(Ended::Gone(reason)) => Err(QueryError::Internal(format!("{reason}, twice"))),
                Err(Ended::Failed(error)) => Err(error),
                Ok(answer) => Ok(answer),
            }
        }
        Err(Ended::Failed(error)) => Err(error),
        Ok(answer) => Ok(answer),
    }
}

async fn attempt(inner: &Inner, nest: &NestName, tokens: &Tokens) -> Result<Answer, Ended> {
    let Opened { reader, mut txn, snapshot, catalog } = inner.catalogs.open(nest).await.map_err(Ended::Failed)?;
    let failed = |error: DataFusionError| classify(error, tokens, &inner.limits);
    let source = Arc::new(ChunkSource::new(reader, Arc::clone(&inner.cache)));
    let mut state = inner.state.clone();
    state.mark_start_execution();

    let request = guard::check(tokens).map_err(|bad| Ended::Failed(reserved(bad, tokens, &catalog).into()))?;
    let logical = {
        let planner = Planner::new(&state, &catalog, &snapshot, &source, &inner.limits);
        match plan(&planner, request) {
            Ok(Planned::Run(plan)) => plan,
            Ok(Planned::Ready(schema, batch)) => {
                return Ok(Answer::new(&schema, vec![batch], Meta::of(&snapshot)));
            }
            Err(error) => return Err(failed(error)),
        }
    };
    let optimized = state.optimize(&logical).map_err(failed)?;
    let schema = Arc::clone(optimized.schema().inner());
    let physical = state.query_planner().create_physical_plan(&optimized, &state).await.map_err(failed)?;
    let mut scans = Vec::new();
    find_scans(&physical, &mut scans);
    let needs: Vec<_> = scans.into_iter().flat_map(ChunkScan::needs).collect();
    let read = source.read_ahead(txn.as_mut(), needs, inner.limits.read_ahead).await;
    drop(txn);
    read.map_err(|error| failed(DataFusionError::External(Box::new(error))))?;

    let mut stream = execute_stream(physical, state.task_ctx()).map_err(failed)?;
    let mut gathered = Gathered::new(&inner.limits);
    while let Some(batch) = stream.next().await {
        gathered.add(batch.map_err(failed)?).map_err(Ended::Failed)?;
    }
    Ok(Answer::new(&schema, gathered.batches, Meta::of(&snapshot)))
}

enum Planned {
    Run(LogicalPlan),
    Ready(SchemaRef, RecordBatch),
}

fn plan(planner: &Planner<'_>, request: Request) -> Result<Planned, DataFusionError> {
    let refuse = |bad: BadQuery| DataFusionError::External(Box::new(bad));
    let query = |mut statement| {
        wide::rewrite_statement(&mut statement).map_err(refuse)?;
        planner.weigh(&statement).map_err(refuse)?;
        planner.plan(statement)
    };
    match request {
        Request::Run(statement) => query(statement).map(Planned::Run),
        Request::Describe(statement) => {
            let (schema, batch) = describe::columns(query(statement)?.schema().as_arrow())?;
            Ok(Planned::Ready(schema, batch))
        }
        Request::ShowTables { pattern } => query(describe::show_tables(pattern.as_deref())?).map(Planned::Run),
        Request::ShowColumns { table, pattern } => {
            let name = planner.resolve(&table)?;
            query(describe::show_columns(&name, pattern.as_deref())?).map(Planned::Run)
        }
    }
}

fn find_scans<'a>(plan: &'a Arc<dyn ExecutionPlan>, found: &mut Vec<&'a ChunkScan>) {
    found.extend(plan.downcast_ref::<ChunkScan>());
    for child in plan.children() {
        find_scans(child, found);
    }
}

/// Adds to a syntax error that a reserved word near it is a column's name with `_` behind.
fn reserved(bad: BadQuery, tokens: &Tokens, catalog: &Catalog) -> BadQuery {
    let Some(place) = bad.position.filter(|_| bad.flaw == Flaw::Syntax && bad.hint.is_none()) else { return bad };
    let is_column = |name: &str| catalog.tables.iter().any(|table| table.schema.index_of(name).is_ok());
    let meant = tokens.words_near(place).into_iter().find(|word| is_column(&format!("{word}_")));
    match meant {
        Some(word) => bad.hint(format!("'{word}' is a reserved word; the column is called {word}_")),
        None => bad,
    }
}

/// The rows of an answer, up to its caps.
struct Gathered<'a> {
    limits: &'a QueryLimits,
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl<'a> Gathered<'a> {
    fn new(limits: &'a QueryLimits) -> Self {
        Gathered { limits, batches: Vec::new(), rows: 0, bytes: 0 }
    }

    fn add(&mut self, batch: RecordBatch) -> Result<(), QueryError> {
        self.rows += batch.num_rows();
        if self.rows > self.limits.rows {
            return Err(QueryError::TooLarge { limit: format!("{} rows", self.limits.rows) });
        }
        // Of a slice only what it shows counts, not the array behind it.
        self.bytes += batch.columns().iter().map(|c| c.to_data().get_slice_memory_size().unwrap_or(0)).sum::<usize>();
        if self.bytes > self.limits.bytes {
            return Err(QueryError::TooLarge { limit: format!("{} MiB", self.limits.bytes >> 20) });
        }
        self.batches.push(batch);
        Ok(())
    }
}
