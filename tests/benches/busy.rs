//! How much slower a query is on a table that is being written at full speed than on the same table at rest: one
//! `nuthatch dev`, the same query over the same rows, first beside a backfill, then after it.

use std::time::{Duration, Instant};

use nuthatch_tests::long_chain::{LongChain, LongRpc, TABLE, write_nest};
use nuthatch_tests::process::{Dev, number};
use rustix::process::Signal;

type Any<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const BLOCKS: u64 = 40_000;
const BLOCK_ROWS: u64 = 100;
/// Blocks that the query reads: in segments by then, more than one.
const READ: u64 = 4_000;

async fn done_to(dev: &Dev) -> Any<u64> {
    Ok(number(&dev.sql("token", "SELECT block_number FROM _status").await?[0]["block_number"]).unwrap_or_default())
}

async fn ask(dev: &Dev) -> Any<Duration> {
    let sql = format!("SELECT count(*) AS n, sum(value) AS s FROM {TABLE} WHERE block_number <= {READ}");
    let started = Instant::now();
    let rows = dev.sql("token", &sql).await?;
    let took = started.elapsed();
    assert_eq!(number(&rows[0]["n"]), Some(READ * BLOCK_ROWS));
    Ok(took)
}

fn print(name: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("  {name:<12} {} queries: p50 {:.1?}, p90 {:.1?}, p99 {:.1?}", times.len(), at(50), at(90), at(99));
    at(99)
}

#[tokio::main]
async fn main() -> Any<()> {
    let scratch = tempfile::TempDir::new()?;
    let nest = write_nest(scratch.path())?;
    let rpc = LongRpc::start(LongChain { logs_per_block: BLOCK_ROWS }, BLOCKS, 0).await?;
    let dev = Dev::start(EXE, &nest, &["--rpc", rpc.url()]).await?;
    dev.wait_done_to("token", READ).await?;
    let (started, from) = (Instant::now(), done_to(&dev).await?);
    let mut busy = Vec::new();
    let to = loop {
        busy.push(ask(&dev).await?);
        let to = done_to(&dev).await?;
        if to >= BLOCKS {
            break to;
        }
    };
    let rate = ((to - from) * BLOCK_ROWS) as f64 / started.elapsed().as_secs_f64();
    let count = busy.len();
    println!("{READ} blocks of {BLOCK_ROWS} rows read while {rate:.0} rows a second are written");
    let busy = print("being written", busy);
    let mut idle = Vec::new();
    for _ in 0..count.max(200) {
        idle.push(ask(&dev).await?);
    }
    let idle = print("at rest", idle);
    println!("  p99 being written / p99 at rest: {:.2}", busy.as_secs_f64() / idle.as_secs_f64());
    dev.signal(Signal::TERM).await?;
    Ok(())
}
