//! A folder instead of a bucket, on a disk without room.

use nuthatch_tests::cuts::settled_by_and_by;
use nuthatch_tests::mock_nest::{all_rows, clean_rows};
use nuthatch_tests::mock_rpc::{MockChain, MockRpc};
use nuthatch_tests::mount::Mount;
use nuthatch_tests::process::{Dev, run};
use rustix::process::Signal;

use super::{EXE, NEST, ROWS};

/// I7: rows stay hot and are served until there is room; nothing half written is left.
#[tokio::test]
async fn a_disk_for_segments_that_fills_up() {
    let chain = MockChain::new(141, 300);
    let rpc = MockRpc::start(&chain).await;
    let scratch = tempfile::tempdir().unwrap();
    let nest = NEST.write(scratch.path(), &chain).unwrap();
    let disk = Mount::of_kib(4 << 10);
    let place = disk.path().join("segments").display().to_string();
    let (rows, url) = (ROWS.to_string(), rpc.url());
    let all = ["--segment-rows", &rows, "--rpc", &url, "--segments", &place];
    let dev = Dev::start(EXE, &nest, &all).await.unwrap();
    let list = async || run(EXE, &nest, &["segments", "list", "--json"]).await;
    let complete = async |dev: &Dev| settled_by_and_by(dev, NEST.name, &chain, ROWS, list).await.unwrap();
    let before = complete(&dev).await;
    disk.fill();
    chain.advance(200);
    let says = format!(".parquet cannot be written to {place}: the disk is full; make room, and sealing goes on");
    dev.wait_log(|log| log.contains(&says)).await.unwrap();
    dev.wait_at(NEST.name, chain.head()).await.unwrap();
    let clean = clean_rows(EXE, scratch.path(), &chain, &NEST).await.unwrap();
    assert!(all_rows(&dev, NEST.name).await.unwrap() == clean, "rows are served meanwhile");
    disk.make_room();
    let after = complete(&dev).await;
    assert!(after.len() > before.len());
    let clean = clean_rows(EXE, scratch.path(), &chain, &NEST).await.unwrap();
    assert!(all_rows(&dev, NEST.name).await.unwrap() == clean);
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    let verified = run(EXE, &nest, &["segments", "verify", "--segments", &place]).await.unwrap();
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let mut files = Vec::new();
    walk(disk.path(), &mut files);
    assert_eq!(files.len(), after.len(), "{files:?}");
}

fn walk(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}
