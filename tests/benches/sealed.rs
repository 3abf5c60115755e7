//! Questions to ten million sealed rows, beside DuckDB on the same files in the same run.
//!
//! Warm: the median of some rounds in one process. Cold: the first answer of a new process whose files are not in the
//! page cache (where this may be dropped, which takes root; else said). DuckDB comes from PyPI: `NUTHATCH_PYTHON`
//! names a Python that has it, as `tests/run` installs it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nuthatch::model::ChainId;
use nuthatch::query::{QueryEngine, QueryLimits, Served};
use nuthatch::segments::Place;
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use nuthatch_tests::sealed_store::{NEST, SEGMENT_BLOCKS, SEGMENT_ROWS, TABLE, fill, sender, transaction};
use serde_json::{Value, json};

const CHAIN: ChainId = ChainId(1);
const ROUNDS: usize = 11;

struct Question {
    name: &'static str,
    ours: String,
    theirs: String,
}

fn questions(segments: u64) -> Vec<Question> {
    let blocks = segments * SEGMENT_BLOCKS;
    let row = segments * SEGMENT_ROWS * 5 / 8 + 77;
    let (from, to) = (blocks / 3, blocks / 3 + blocks / 10);
    let both = |name, sql: &str| {
        let (ours, theirs) = (sql.replace("FROM t", &format!("FROM {TABLE}")), sql.to_owned());
        Question { name, ours, theirs }
    };
    let lookup = |name, column: &str, value: Vec<u8>| Question {
        name,
        ours: format!("SELECT * FROM {TABLE} WHERE {column} = '0x{}'", hex::encode(&value)),
        theirs: format!("SELECT * FROM t WHERE {column} = unhex('{}')", hex::encode(&value)),
    };
    vec![
        both("count(*)", "SELECT count(*) AS n FROM t"),
        both(
            "count in a block range",
            &format!("SELECT count(*) AS n FROM t WHERE block_number BETWEEN {from} AND {to}"),
        ),
        both(
            "sum of a uint64 by address, top 10",
            "SELECT address, sum(amount) AS s FROM t GROUP BY address ORDER BY s DESC LIMIT 10",
        ),
        lookup("one sender", "from_", sender(row)),
        lookup("one transaction", "tx_hash", transaction(row)),
    ]
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// Whether the page cache could be emptied.
fn forget_pages() -> bool {
    let _ = Command::new("sync").status();
    std::fs::write("/proc/sys/vm/drop_caches", "1").is_ok()
}

async fn engine(data: &Path) -> anyhow::Result<QueryEngine> {
    let reader = Arc::new(SqliteReader::open(data, CHAIN).await?);
    let segments = Some(Place::existing_folder(&data.join("segments"))?);
    Ok(QueryEngine::over(vec![Served { reader, segments }], QueryLimits::default())?)
}

async fn ask(engine: &QueryEngine, sql: &str) -> anyhow::Result<(f64, usize)> {
    let started = Instant::now();
    let answer = engine.query(&NEST.parse()?, sql).await?;
    Ok((started.elapsed().as_secs_f64(), answer.rows()))
}

fn duckdb(python: &str, files: &[PathBuf], statements: &[&str], rounds: usize) -> anyhow::Result<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/duckdb.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let job = json!({"files": files, "statements": statements, "rounds": rounds});
    if let Some(mut input) = child.stdin.take() {
        input.write_all(job.to_string().as_bytes())?;
    }
    let done = child.wait_with_output()?;
    anyhow::ensure!(done.status.success(), "DuckDB failed");
    Ok(serde_json::from_slice(&done.stdout)?)
}

fn seconds(answer: &Value) -> Vec<f64> {
    answer["seconds"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => files(&path, found)?,
            false => found.push(path),
        }
    }
    found.sort();
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let segments: u64 = std::env::var("NUTHATCH_BENCH_SEGMENTS").ok().and_then(|it| it.parse().ok()).unwrap_or(77);
    let Ok(python) = std::env::var("NUTHATCH_PYTHON") else {
        anyhow::bail!("NUTHATCH_PYTHON names no Python with duckdb; tests/run installs one");
    };
    let scratch = tempfile::tempdir()?;
    let data = scratch.path();
    let lock = DataLock::acquire(data)?;
    let place = Place::folder(&data.join("segments"))?;
    let started = Instant::now();
    let store = SqliteStore::open(&lock, CHAIN, SqliteOptions::default()).await?;
    fill(&store, &place, segments).await?;
    drop((store, lock));
    let mut all = Vec::new();
    files(&data.join("segments"), &mut all)?;
    let bytes: u64 = all.iter().map(|file| file.metadata().map(|it| it.len()).unwrap_or(0)).sum();
    println!(
        "{} rows in {} files of {:.1} MB, made in {:.1?}",
        segments * SEGMENT_ROWS,
        all.len(),
        bytes as f64 / all.len() as f64 / 1e6,
        started.elapsed()
    );

    let questions = questions(segments);
    let statements: Vec<&str> = questions.iter().map(|it| it.theirs.as_str()).collect();
    let theirs = duckdb(&python, &all, &statements, ROUNDS)?;
    let warm = engine(data).await?;
    println!("warm, median of {ROUNDS}:            nuthatch     DuckDB   nuthatch / DuckDB");
    for (question, theirs) in questions.iter().zip(&theirs) {
        let (mut times, mut rows) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            let (took, found) = ask(&warm, &question.ours).await?;
            times.push(took);
            rows = found;
        }
        anyhow::ensure!(theirs["rows"] == json!(rows), "{}: {rows} rows, DuckDB has {theirs}", question.name);
        row(question.name, median(times), median(seconds(theirs)));
    }
    drop(warm);

    println!(
        "cold, {}:",
        if forget_pages() { "pages dropped from the cache before each" } else { "pages still cached" }
    );
    for question in &questions {
        forget_pages();
        let theirs = duckdb(&python, &all, &[question.theirs.as_str()], 1)?;
        forget_pages();
        let (took, _) = ask(&engine(data).await?, &question.ours).await?;
        row(question.name, took, median(seconds(&theirs[0])));
    }
    Ok(())
}

fn row(name: &str, ours: f64, theirs: f64) {
    let time = |seconds: f64| format!("{:.2?}", Duration::from_secs_f64(seconds));
    println!("  {name:<36} {:>10} {:>10} {:>8.2}", time(ours), time(theirs), ours / theirs);
}
