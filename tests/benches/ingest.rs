//! From a recorded window to committed rows in SQLite: token transfers from the replay source through cursor, component
//! and store, as `nuthatch dev` runs them.
//!
//! Beside the whole it prints what two parts of it take alone in the same run: reading and parsing the recording, and
//! decoding.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nuthatch::chain::{LogFilters, ReplayOptions, ReplaySource, Source};
use nuthatch::cursor::{Cursor, Nest, Settings, Until};
use nuthatch::model::{BlockNumber, BlockRange};
use nuthatch::plugin::nest_folder;
use nuthatch::plugin::{Budget, Decoder, PluginHost, PluginLimits};
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteReader, SqliteStore};
use nuthatch::store::{HotReader, HotStore};
use nuthatch_tests::long_chain::{LongChain, write_nest};
use tokio_util::sync::CancellationToken;

type Any<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const BLOCKS: u64 = 5_000;
const CHAIN: LongChain = LongChain { logs_per_block: 100 };
const LOGS: u64 = BLOCKS * CHAIN.logs_per_block;
const ROUNDS: usize = 5;

fn nest(host: &PluginHost, folder: &std::path::Path) -> Any<Nest> {
    let built = nest_folder::build(host, folder)?;
    let manifest = built.bundle.manifest();
    let plan = built.bundle.plan().to_vec();
    let decoder = Decoder::new(built.plugin.clone(), &manifest.name, plan, manifest.tables.clone(), Budget::DEFAULT);
    Ok(Nest {
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
    })
}

fn rate(what: &str, mut times: Vec<Duration>) -> f64 {
    times.sort();
    let median = times[times.len() / 2].as_secs_f64();
    let rate = LOGS as f64 / median;
    println!("  {what:<28} {rate:>12.0} logs/s   (median of {}: {median:.2} s)", times.len());
    rate
}

#[tokio::main]
async fn main() -> Any<()> {
    let scratch = tempfile::TempDir::new()?;
    let recording = scratch.path().join("logs.jsonl");
    CHAIN.record(&recording, BLOCKS)?;
    let host = PluginHost::new(PluginLimits::default())?;
    let nest = Arc::new(nest(&host, &write_nest(scratch.path())?)?);
    let filters = LogFilters::parse(&nest.filters)?;
    let open = || ReplaySource::open(&recording, ReplayOptions::default());

    let (mut reading, mut decoding, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let source = open()?;
        let (mut read, mut decoded) = (Duration::ZERO, Duration::ZERO);
        for first in (1..BLOCKS).step_by(200) {
            let range = BlockRange { first: BlockNumber(first), last: BlockNumber(first + 199) };
            let started = Instant::now();
            let logs = Arc::new(source.logs(&filters, range).await?);
            read += started.elapsed();
            let started = Instant::now();
            std::hint::black_box(nest.decoder.decode(logs).await?);
            decoded += started.elapsed();
        }
        reading.push(read);
        decoding.push(decoded);

        let source: Arc<dyn Source> = Arc::new(open()?);
        let data = scratch.path().join(format!("data-{round}"));
        let lock = DataLock::acquire(&data)?;
        let store: Arc<dyn HotStore> =
            Arc::new(SqliteStore::open(&lock, source.chain_id(), SqliteOptions::default()).await?);
        let started = Instant::now();
        let (cursor, _handle, status) =
            Cursor::start(source.clone(), store, vec![nest.clone()], Settings::default()).await?;
        cursor.run(Until::Exhausted, CancellationToken::new()).await?;
        whole.push(started.elapsed());
        let rows = status.borrow().rows;
        assert_eq!(rows, LOGS, "every log is a row");
        let state = SqliteReader::open(&data, source.chain_id()).await?.read().await?.state().await?;
        assert_eq!(state.datasets[0].done_to.map(|done| done.number.0), Some(BLOCKS));
    }
    println!("{LOGS} token transfers, {} a block", CHAIN.logs_per_block);
    let read = rate("read and parsed alone", reading);
    let decoded = rate("decoded alone", decoding);
    let whole = rate("window to committed rows", whole);
    println!("  whole / read {:.2}, whole / decoded {:.2}", whole / read, whole / decoded);
    Ok(())
}
