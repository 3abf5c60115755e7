//! The whole way against a real EVM node: init, dev, sql, reorgs, kill -9.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use nuthatch_tests::anvil::Anvil;
use nuthatch_tests::process::{Dev, number, run};
use nuthatch_tests::token::{ROWS, TOKEN, clean_index, make_nest};
use rustix::process::Signal;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");

async fn chain_with(blocks: u64) -> Anvil {
    let anvil = Anvil::start().await.unwrap();
    anvil.place_emitter(TOKEN).await.unwrap();
    for value in 1..=blocks {
        anvil.emit_transfer(TOKEN, value).await.unwrap();
    }
    anvil
}

#[tokio::test]
async fn init_dev_and_sql_index_a_contract_that_emits_in_every_block() {
    let anvil = chain_with(150).await;
    let scratch = tempfile::tempdir().unwrap();
    let nest = make_nest(EXE, scratch.path(), anvil.url()).await.unwrap();
    let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
    dev.wait_done_to("token", 150).await.unwrap();

    // The head moves on while it runs.
    for value in 151..=170 {
        anvil.emit_transfer(TOKEN, value).await.unwrap();
    }
    dev.wait_done_to("token", 170).await.unwrap();
    let rows = dev.sql("token", ROWS).await.unwrap();
    let seen: Vec<(u64, u64)> =
        rows.iter().map(|row| (number(&row["block_number"]).unwrap(), number(&row["value"]).unwrap())).collect();
    assert_eq!(seen, (1..=170).map(|n| (n, n)).collect::<Vec<_>>());

    let printed = run(
        EXE,
        &nest,
        &["sql", "--url", dev.url(), "--format", "csv", "SELECT sum(value) AS total FROM token__transfer"],
    )
    .await
    .unwrap();
    assert_eq!((printed.code, printed.stdout.trim()), (0, "total\n14535"), "{}", printed.stderr);
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0, "a drained process ends well");

    // Without a process the folder answers the same.
    let printed =
        run(EXE, &nest, &["sql", "--dir", ".", "--format", "csv", "SELECT count(*) AS n FROM token__transfer"])
            .await
            .unwrap();
    assert_eq!((printed.code, printed.stdout.trim()), (0, "n\n170"), "{}", printed.stderr);
}

/// I1, I7: whatever branch was indexed before, the rows are those of a clean index of the final chain.
#[tokio::test]
async fn reorgs_of_depth_1_5_and_20_give_the_rows_of_a_clean_index() {
    let anvil = chain_with(60).await;
    let scratch = tempfile::tempdir().unwrap();
    let nest = make_nest(EXE, scratch.path(), anvil.url()).await.unwrap();
    let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
    dev.wait_done_to("token", 60).await.unwrap();
    let mut height = 60;
    for depth in [1u64, 5, 20] {
        let values: Vec<u64> = (0..depth).map(|i| 1_000 * depth + i).collect();
        anvil.reorg(TOKEN, depth, &values).await.unwrap();
        anvil.emit_transfer(TOKEN, 7).await.unwrap();
        height += 1;
        assert_eq!(anvil.height().await.unwrap(), height);
        let marker = format!("SELECT value FROM token__transfer WHERE value = {}", 1_000 * depth);
        dev.wait_for("token", &marker, |rows| rows.len() == 1).await.unwrap();
        dev.wait_done_to("token", height).await.unwrap();
        let rows = dev.sql("token", ROWS).await.unwrap();
        assert_eq!(rows.len() as u64, height, "one row a block after a reorg of depth {depth}");
        assert_eq!(rows, clean_index(EXE, &nest, scratch.path(), anvil.url(), height).await.unwrap());
    }
    dev.kill().await.unwrap();
}

/// I7: a reorg that happens while no process runs is found at the next start.
#[tokio::test]
async fn a_reorg_during_downtime_is_found_at_the_next_start() {
    let anvil = chain_with(40).await;
    let scratch = tempfile::tempdir().unwrap();
    let nest = make_nest(EXE, scratch.path(), anvil.url()).await.unwrap();
    let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
    dev.wait_done_to("token", 40).await.unwrap();
    dev.kill().await.unwrap();
    anvil.reorg(TOKEN, 6, &[901, 902, 903, 904, 905, 906]).await.unwrap();
    let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
    dev.wait_for("token", "SELECT value FROM token__transfer WHERE value = 906", |rows| rows.len() == 1).await.unwrap();
    let rows = dev.sql("token", ROWS).await.unwrap();
    assert_eq!(rows, clean_index(EXE, &nest, scratch.path(), anvil.url(), 40).await.unwrap());
    dev.kill().await.unwrap();
}

async fn kill_and_restart(points: u32) {
    let anvil = chain_with(30).await;
    let scratch = tempfile::tempdir().unwrap();
    let nest = make_nest(EXE, scratch.path(), anvil.url()).await.unwrap();
    let mut height = 30;
    for point in 0..points {
        let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
        for _ in 0..10 {
            height += 1;
            anvil.emit_transfer(TOKEN, height).await.unwrap();
        }
        if point % 3 == 1 {
            anvil.reorg(TOKEN, 3, &[height - 2, height - 1, height]).await.unwrap();
        }
        // A random point of the work, not a wait for anything.
        tokio::time::sleep(Duration::from_millis(rand::random::<u64>() % 400)).await;
        dev.kill().await.unwrap();
    }
    let dev = Dev::start(EXE, &nest, &["--rpc", anvil.url()]).await.unwrap();
    let newest = anvil.call("eth_getBlockByNumber", serde_json::json!(["latest", false])).await.unwrap();
    let hash = newest["hash"].as_str().unwrap().to_owned();
    let at_newest = format!("SELECT 1 AS here FROM token__transfer WHERE block_hash = '{hash}'");
    dev.wait_for("token", &at_newest, |rows| rows.len() == 1).await.unwrap();
    let rows = dev.sql("token", ROWS).await.unwrap();
    assert_eq!(rows, clean_index(EXE, &nest, scratch.path(), anvil.url(), height).await.unwrap());
    assert_eq!(rows.len() as u64, height);
    dev.kill().await.unwrap();
}

/// I7: `kill -9` at random points, five times; then the rows of an undisturbed run.
#[tokio::test]
async fn kill_9_loses_and_doubles_nothing() {
    kill_and_restart(5).await;
}

/// The same, fifty times. Runs under `--profile slow`.
#[tokio::test]
async fn slow_kill_9_loses_and_doubles_nothing_50_times() {
    kill_and_restart(50).await;
}
