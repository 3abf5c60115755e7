//! The one way to ask: queue, snapshot, plan, run.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{FutureExt, StreamExt};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::answer::{Answer, Meta};
use super::bigint;
use super::cache::ChunkCache;
use super::catalogs::{Catalogs, Halves, Opened};
use super::classify::{Ended, classify};
use super::describe;
use super::error::{BadQuery, Flaw, QueryError};
use super::guard::{self, Request, Tokens};
use super::information::{self, TableInfo};
use super::limits::QueryLimits;
use super::page::{self, Cut, Next, Page, PageKey, PageRequest};
use super::planner::Planner;
use super::queue::Queue;
use super::scan::ChunkScan;
use super::sealed::SegmentFiles;
use super::session;
use super::source::ChunkSource;
use super::tables::Catalog;
use crate::model::{Endpoint, NestName};
use crate::segments::Place;
use crate::store::{CursorState, HotReader};

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

impl Inner {
    fn source(&self, store: Halves) -> Arc<ChunkSource> {
        Arc::new(ChunkSource::new(store.reader, Arc::clone(&self.cache)).with_files(store.files))
    }
}

/// One cursor's store and the place of its segments.
#[derive(Clone)]
pub struct Served {
    /// The hot store.
    pub reader: Arc<dyn HotReader>,
    /// Where its segments lie. Without it a query that needs one fails.
    pub segments: Option<Place>,
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

/// What an endpoint offers, and how far its rows reach.
#[derive(Clone, Debug)]
pub struct Description {
    /// Where rows come from.
    pub meta: Meta,
    /// Tables and views.
    pub tables: Vec<TableInfo>,
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
    /// An engine over these stores, one a chain, that have no segments.
    pub fn new(readers: Vec<Arc<dyn HotReader>>, limits: QueryLimits) -> Result<Self, QueryError> {
        QueryEngine::over(readers.into_iter().map(|reader| Served { reader, segments: None }).collect(), limits)
    }

    /// An engine over these stores, one a chain, and their segments.
    pub fn over(stores: Vec<Served>, limits: QueryLimits) -> Result<Self, QueryError> {
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("query")
            .thread_stack_size(STACK)
            .enable_all()
            .build()
            .map_err(|error| QueryError::Internal(format!("no threads for queries: {error}")))?;
        let state = session::template(&limits, threads).map_err(|error| QueryError::Internal(error.to_string()))?;
        let footers = state.runtime_env().cache_manager.get_file_metadata_cache();
        let halves = |store: Served| Halves {
            files: store
                .segments
                .map(|place| Arc::new(SegmentFiles::new(place, Arc::clone(&store.reader), footers.clone()))),
            reader: store.reader,
        };
        let inner = Inner {
            catalogs: Catalogs::new(stores.into_iter().map(halves).collect()),
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
        let page = self.measured(nest, What::Sql(sql.to_owned())).await?;
        Ok(page.answer)
    }

    /// A page of one table or view.
    pub async fn page(&self, nest: &NestName, request: PageRequest) -> Result<Page, QueryError> {
        self.measured(nest, What::Page(request)).await
    }

    /// What an endpoint offers, and how far its rows reach.
    pub async fn describe(&self, nest: &NestName) -> Result<Description, QueryError> {
        let (inner, nest) = (Arc::clone(&self.inner), nest.clone());
        self.queued(async move {
            let Opened { store, snapshot, catalog, .. } = inner.catalogs.open(&nest).await?;
            let source = inner.source(store);
            let planner = Planner::new(&inner.state, &catalog, &snapshot, &source, &inner.limits);
            Ok(Description { meta: Meta::of(&snapshot), tables: information::describe(&planner) })
        })
        .await
    }

    /// All endpoints, by name.
    pub async fn endpoints(&self) -> Result<Vec<EndpointInfo>, QueryError> {
        let all = self.inner.catalogs.all().await?;
        Ok(all.into_iter().map(|(endpoint, cursor)| EndpointInfo { endpoint, cursor }).collect())
    }

    /// The limits in force.
    pub fn limits(&self) -> &QueryLimits {
        &self.inner.limits
    }

    async fn measured(&self, nest: &NestName, what: What) -> Result<Page, QueryError> {
        let started = Instant::now();
        let page = self.queued(run(Arc::clone(&self.inner), nest.clone(), what)).await;
        let outcome = page.as_ref().map_or_else(QueryError::code, |_| "ok");
        metrics::counter!("nuthatch_queries_total", "outcome" => outcome).increment(1);
        metrics::histogram!("nuthatch_query_seconds").record(started.elapsed().as_secs_f64());
        page
    }

    /// Does a job on the query threads, with a place in the queue, until the deadline.
    async fn queued<T: Send + 'static>(
        &self,
        job: impl Future<Output = Result<T, QueryError>> + Send + 'static,
    ) -> Result<T, QueryError> {
        let deadline = self.inner.limits.deadline;
        let within = async {
            let place = self.inner.queue.enter().await?;
            let Some(runtime) = &self.inner.threads.0 else {
                return Err(QueryError::Internal("the query threads have ended".to_owned()));
            };
            let job = async move {
                // Held until the job really ends, which may be after its caller gave up.
                let _place = place;
                job.await
            };
            let mut task = Stopping(runtime.spawn(AssertUnwindSafe(job).catch_unwind()));
            match (&mut task.0).await {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => Err(QueryError::Internal(panic_text(panic.as_ref()))),
                Err(error) => Err(QueryError::Internal(error.to_string())),
            }
        };
        match tokio::time::timeout(deadline, within).await {
            Ok(done) => done,
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

/// What is asked for.
#[derive(Clone, Debug)]
enum What {
    Sql(String),
    Page(PageRequest),
    /// All rows of one log, where they are more than a page.
    WholeLog(PageRequest, PageKey),
}

async fn run(inner: Arc<Inner>, nest: NestName, what: What) -> Result<Page, QueryError> {
    match tries(&inner, &nest, &what).await? {
        Cut::Page(page) => Ok(*page),
        Cut::OneLog(key) => {
            let What::Page(request) = what else {
                return Err(QueryError::Internal("only pages are cut".to_owned()));
            };
            match tries(&inner, &nest, &What::WholeLog(request, key)).await? {
                Cut::Page(page) => Ok(Page { next: Next::After(key), ..*page }),
                Cut::OneLog(_) => Err(QueryError::Internal("one log's rows were cut".to_owned())),
            }
        }
    }
}

/// Runs a query, and once more where a chunk left the store under it.
async fn tries(inner: &Inner, nest: &NestName, what: &What) -> Result<Cut, QueryError> {
    let first = attempt(inner, nest, what).await;
    let second = match first {
        Err(Ended::Gone(reason)) => {
            tracing::debug!(%nest, reason, "query starts again with a new snapshot");
            attempt(inner, nest, what).await
        }
        ended => ended,
    };
    match second {
        Ok(cut) => Ok(cut),
        Err(Ended::Failed(error)) => Err(error),
        Err(Ended::Gone(reason)) => Err(QueryError::Internal(format!("{reason}, twice"))),
    }
}

async fn attempt(inner: &Inner, nest: &NestName, what: &What) -> Result<Cut, Ended> {
    let Opened { store, mut txn, snapshot, catalog } = inner.catalogs.open(nest).await.map_err(Ended::Failed)?;
    let source = inner.source(store);
    let mut state = inner.state.clone();
    state.mark_start_execution();
    let asked = {
        let planner = Planner::new(&state, &catalog, &snapshot, &source, &inner.limits);
        ask(&planner, what, inner)?
    };
    let tokens = &asked.tokens;
    let failed = |error: DataFusionError| classify(error, tokens, &inner.limits);
    let logical = match asked.planned {
        Planned::Run(plan) => plan,
        Planned::Ready(schema, batch) => {
            let answer = Answer::new(&schema, vec![batch], Meta::of(&snapshot));
            return Ok(Cut::Page(Box::new(Page { answer, next: Next::End })));
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
    let answer = Answer::new(&schema, gathered.batches, Meta::of(&snapshot));
    match what {
        What::Page(request) => {
            page::cut(answer, &schema, request.limit).map_err(|error| failed(DataFusionError::from(error)))
        }
        What::Sql(_) | What::WholeLog(..) => Ok(Cut::Page(Box::new(Page { answer, next: Next::End }))),
    }
}

/// A statement, planned.
struct Asked {
    tokens: Tokens,
    planned: Planned,
}

fn ask(planner: &Planner<'_>, what: &What, inner: &Inner) -> Result<Asked, Ended> {
    let bad = |bad: BadQuery| Ended::Failed(QueryError::Bad(bad));
    let paged = |request: &PageRequest, make: &dyn Fn(&Schema) -> Result<String, BadQuery>| {
        // Nobody wrote this statement, so there is no place to point at.
        let schema = planner.schema(&request.table).map_err(|e| classify(e, &Tokens::default(), &inner.limits))?;
        make(&schema).map_err(bad)
    };
    let written;
    let sql = match what {
        What::Sql(sql) => sql,
        What::Page(request) => {
            written = paged(request, &|schema| page::statement(request, schema))?;
            &written
        }
        What::WholeLog(request, key) => {
            written = paged(request, &|schema| page::whole_log(request, schema, *key))?;
            &written
        }
    };
    let mut tokens = guard::tokens(sql, &inner.limits).map_err(bad)?;
    let request = guard::check(&tokens, &inner.limits).map_err(|b| bad(reserved(b, &tokens, planner.catalog)))?;
    if !matches!(what, What::Sql(_)) {
        tokens = Tokens::default();
    }
    match plan(planner, request) {
        Ok(planned) => Ok(Asked { tokens, planned }),
        Err(error) => Err(classify(error, &tokens, &inner.limits)),
    }
}

enum Planned {
    Run(LogicalPlan),
    Ready(SchemaRef, RecordBatch),
}

fn plan(planner: &Planner<'_>, request: Request) -> Result<Planned, DataFusionError> {
    let refuse = |bad: BadQuery| DataFusionError::External(Box::new(bad));
    let query = |mut statement| {
        bigint::rewrite_sql(&mut statement);
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
    let meant = tokens.words_near(place).into_iter().find_map(|word| Some((catalog.reserved_column(&word)?, word)));
    match meant {
        Some((column, word)) => bad.hint(format!("'{word}' is a reserved word; the column is called {column}")),
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
