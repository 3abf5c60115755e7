//! Disks without room.

use nuthatch_tests::mock_nest::all_rows;
use nuthatch_tests::mount::Mount;
use nuthatch_tests::process::Dev;

use super::{EXE, Lab, NEST, refused};

/// I7: indexing waits for room, rows are served meanwhile, and it goes on by itself.
#[tokio::test]
async fn a_disk_that_fills_up() {
    let lab = Lab::new().await;
    let disk = Mount::of_kib(32 << 10);
    let data = disk.path().join("data").display().to_string();
    let dev = Dev::start(EXE, &lab.nest, &["--data", &data, "--rpc", &lab.rpc.url()]).await.unwrap();
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    disk.fill();
    let served = all_rows(&dev, NEST.name).await.unwrap();
    let full = || dev.log().contains("chain-31337.sqlite: the disk is full; make room, and indexing goes on");
    let mut advanced = 0;
    while !full() {
        lab.chain.advance(5);
        advanced += 1;
        assert!(advanced < 2_000, "never full: {}", dev.log());
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let rows = all_rows(&dev, NEST.name).await.unwrap();
    assert!(rows.len() >= served.len());
    disk.make_room();
    lab.goes_on(dev).await;
}

#[tokio::test]
async fn a_disk_that_is_full_at_the_start() {
    let lab = Lab::new().await;
    let disk = Mount::of_kib(8 << 10);
    let data = disk.path().join("data").display().to_string();
    let args = ["--data", &data, "--rpc", &lab.rpc.url()];
    disk.fill();
    refused(&lab.dev_ends(&lab.nest, &args).await, &[&data, "the disk is full; make room"]);
    disk.make_room();
    lab.goes_on(Dev::start(EXE, &lab.nest, &args).await.unwrap()).await;
}
