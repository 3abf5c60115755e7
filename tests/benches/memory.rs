//! Peak memory (`VmHWM`) of a real `nuthatch dev` with one token nest, WebAssembly pool included: at the tip of a chain
//! that goes on, and over a backfill of a million logs, both from a node over loopback JSON-RPC.

use std::time::Instant;

use nuthatch_tests::long_chain::{LongChain, LongRpc, write_nest};
use nuthatch_tests::process::{Dev, number};
use rustix::process::Signal;

type Any<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");

fn peak(dev: &Dev) -> Any<f64> {
    let pid = dev.pid().ok_or("it runs")?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmHWM")).ok_or("no VmHWM")?;
    let kilobytes: f64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes / 1024.0)
}

async fn rows(dev: &Dev) -> Any<u64> {
    let answer = dev.sql("token", "SELECT count(*) AS n, sum(value) AS total FROM token__transfer").await?;
    Ok(number(&answer[0]["n"]).unwrap_or_default())
}

async fn at_the_tip() -> Any<()> {
    const HEAD: u64 = 100;
    const BLOCKS: u64 = 500;
    let scratch = tempfile::TempDir::new()?;
    let nest = write_nest(scratch.path())?;
    let rpc = LongRpc::start(LongChain { logs_per_block: 4 }, HEAD, 64).await?;
    let dev = Dev::start(EXE, &nest, &["--rpc", rpc.url()]).await?;
    dev.wait_done_to("token", HEAD).await?;
    for _ in 0..BLOCKS / 5 {
        let head = rpc.advance(5);
        dev.wait_done_to("token", head).await?;
        rows(&dev).await?;
    }
    println!("at the tip: {} rows in {BLOCKS} blocks, a query each 5: VmHWM {:.0} MiB", rows(&dev).await?, peak(&dev)?);
    dev.signal(Signal::TERM).await?;
    Ok(())
}

async fn backfill() -> Any<()> {
    const BLOCKS: u64 = 10_000;
    let scratch = tempfile::TempDir::new()?;
    let nest = write_nest(scratch.path())?;
    let rpc = LongRpc::start(LongChain { logs_per_block: 100 }, BLOCKS, 0).await?;
    let started = Instant::now();
    let dev = Dev::start(EXE, &nest, &["--rpc", rpc.url()]).await?;
    dev.wait_done_to("token", BLOCKS).await?;
    let took = started.elapsed();
    let indexed = peak(&dev)?;
    let rows = rows(&dev).await?;
    println!(
        "backfill: {rows} rows in {took:.1?} ({:.0} a second, start and node on the same cores included): VmHWM \
         {indexed:.0} MiB, {:.0} MiB after a sum over all of them",
        rows as f64 / took.as_secs_f64(),
        peak(&dev)?
    );
    dev.signal(Signal::TERM).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Any<()> {
    at_the_tip().await?;
    backfill().await
}
