//! The rows come through the bundle's component and nothing else: what the component does differently shows in the
//! store, through `nuthatch dev` over the demo's chain.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use num_bigint::BigUint;
use nuthatch::cli::demo;
use nuthatch_tests::demo_chain::HEAD;
use nuthatch_tests::guests::{Change, altered_bundle};
use nuthatch_tests::process::{Dev, number};
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const CHAIN: &str = "chain.jsonl";

/// A folder with the recorded chain in it.
fn scratch() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join(CHAIN), demo::CHAIN).unwrap();
    scratch
}

async fn dev(folder: &Path, from: &str, what: &str, data: &str) -> Dev {
    let chain = folder.join(CHAIN);
    let rpc = format!("file://{}", chain.display());
    Dev::start(EXE, folder, &[from, what, "--data", data, "--rpc", &rpc]).await.unwrap()
}

/// `dev` over a bundle file with this change.
async fn altered(folder: &Path, change: Change) -> Dev {
    let file = format!("{change:?}.nest.wasm");
    std::fs::write(folder.join(&file), altered_bundle(&demo::nest_files(), change)).unwrap();
    dev(folder, "--nest", &file, &format!("data-{change:?}")).await
}

/// Every row of every event table.
async fn all_rows(dev: &Dev) -> Vec<(String, Vec<Value>)> {
    let mut all = Vec::new();
    for table in dev.sql("demo", "SHOW TABLES").await.unwrap() {
        let name = table["table_name"].as_str().unwrap();
        if name.contains("__") {
            let select = format!("SELECT * FROM {name} ORDER BY block_number, log_index");
            all.push((name.to_owned(), dev.sql("demo", &select).await.unwrap()));
        }
    }
    all
}

/// Takes `value` out of rows of these tables that have it as a uint256.
fn split_values(tables: &mut [(String, Vec<Value>)]) -> Vec<BigUint> {
    let rows = tables.iter_mut().flat_map(|(_, rows)| rows);
    let values = rows.filter_map(|row| row.as_object_mut().unwrap().remove("value"));
    values.map(|value| value.as_str().unwrap().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_bundle_that_adds_one_to_value_changes_that_column_alone() {
    let scratch = scratch();
    let folder = scratch.path().join("nest");
    for (path, bytes) in demo::nest_files() {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let mut found = Vec::new();
    for dev in [
        dev(scratch.path(), "--dir", "nest", "data").await,
        altered(scratch.path(), Change::Nothing).await,
        altered(scratch.path(), Change::AddOne).await,
    ] {
        dev.wait_done_to("demo", HEAD).await.unwrap();
        found.push(all_rows(&dev).await);
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    }
    let [mut standard, control, mut plus_one] = <[_; 3]>::try_from(found).unwrap();
    assert_eq!(standard, control);
    assert!(standard.iter().all(|(table, rows)| !rows.is_empty() || table == "pool__flash"), "{standard:?}");

    let (values, plus_ones) = (split_values(&mut standard), split_values(&mut plus_one));
    assert_eq!(standard, plus_one, "all but value is the same");
    let modulus = BigUint::from(1u8) << 256;
    let wanted: Vec<BigUint> = values.iter().map(|value| (value + 1u8) % &modulus).collect();
    assert!(values.len() > 1_000, "{}", values.len());
    assert_eq!(plus_ones, wanted);
}

/// I15: a component whose `decode` traps makes no row, and is quarantined at its first log; the process lives.
#[tokio::test]
async fn without_the_components_decode_no_row_appears() {
    let scratch = scratch();
    let dev = altered(scratch.path(), Change::Trap).await;
    let stopped = |rows: &[Value]| rows.first().is_some_and(|row| row["status"] == "quarantined");
    let status = dev.wait_for("demo", "SELECT status, reason, rows FROM _status", stopped).await.unwrap();
    assert_eq!(number(&status[0]["rows"]), Some(0));
    assert!(status[0]["reason"].as_str().unwrap().contains("unreachable"), "{status:?}");
    assert!(all_rows(&dev).await.iter().all(|(_, rows)| rows.is_empty()));
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
}

/// The host links no decoder of its own: alloy's is an oracle for tests and nothing else.
#[test]
fn the_host_has_no_other_decoder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tree = |package: &str| {
        let arguments = ["tree", "--locked", "--offline", "-e", "normal", "-p", "nuthatch", "-i", package];
        let done = Command::new(env!("CARGO")).args(arguments).current_dir(root).output().unwrap();
        String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap()
    };
    // That a dependency is found where there is one shows that the question is put well.
    assert!(tree("alloy-primitives").contains("nuthatch v"));
    let found = tree("alloy-dyn-abi");
    assert!(found.contains("nothing to print") || found.contains("did not match any packages"), "{found}");
}
