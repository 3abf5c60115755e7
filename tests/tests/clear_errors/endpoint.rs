//! Endpoints that are down, or serve another chain.

use nuthatch_tests::mock_rpc::{Fault, MockChain, MockRpc};
use nuthatch_tests::process::Dev;

use super::{HEAD, Lab, NEST, refused};

/// Nothing is here yet, so nothing can be done without it.
#[tokio::test]
async fn an_endpoint_that_is_down_at_the_first_start() {
    let lab = Lab::new().await;
    let down = format!("http://127.0.0.1:1/{}", MockRpc::KEY);
    let ended = lab.dev_ends(&lab.nest, &["--rpc", &down]).await;
    refused(&ended, &["chain 31337, endpoint 127.0.0.1:1, eth_chainId", "Connection refused", "gave up after"]);
    lab.goes_on(lab.dev().await).await;
}

/// What was indexed before is served without it.
#[tokio::test]
async fn an_endpoint_that_is_down_at_a_later_start() {
    let lab = Lab::indexed().await;
    let before = lab.rows_at_rest().await;
    let down = format!("http://127.0.0.1:1/{}", MockRpc::KEY);
    let dev = Dev::start(super::EXE, &lab.nest, &["--rpc", &down]).await.unwrap();
    let last = dev.sql(NEST.name, "SELECT max(block_number) AS last FROM token__transfer").await.unwrap();
    assert_eq!(last[0]["last"], HEAD);
    let log = dev.wait_log(|log| log.contains("no node answers yet")).await.unwrap();
    assert!(!log.contains(MockRpc::KEY), "{log}");
    assert_eq!(dev.signal(rustix::process::Signal::TERM).await.unwrap(), 0);
    assert_eq!(lab.rows_at_rest().await, before);
    lab.goes_on(lab.dev().await).await;
}

#[tokio::test]
async fn an_endpoint_that_goes_down_while_rows_are_read() {
    let lab = Lab::new().await;
    let dev = lab.dev().await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    lab.rpc.inject(Fault::Status(503));
    let asked = lab.rpc.requests();
    lab.chain.advance(3);
    while lab.rpc.requests() < asked + 4 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let last = dev.sql(NEST.name, "SELECT max(block_number) AS last FROM token__transfer").await.unwrap();
    assert_eq!(last[0]["last"], HEAD);
    dev.wait_for(NEST.name, "SELECT 1", |_| dev.log().contains("503")).await.unwrap();
    assert!(dev.log().contains(&lab.rpc.host()), "{}", dev.log());
    lab.rpc.heal();
    lab.goes_on(dev).await;
}

#[tokio::test]
async fn an_endpoint_of_another_chain() {
    let lab = Lab::indexed().await;
    let before = lab.rows_at_rest().await;
    let other = MockRpc::start(&MockChain::new(9, HEAD).with_chain_id(5)).await;
    let ended = lab.dev_ends(&lab.nest, &["--rpc", &other.url()]).await;
    refused(&ended, &[&other.host(), "serves chain 5", "31337"]);
    // One of several is enough.
    let ended = lab.dev_ends(&lab.nest, &["--rpc", &lab.rpc.url(), "--rpc", &other.url()]).await;
    refused(&ended, &[&other.host(), "serves chain 5", "31337"]);
    assert_eq!(lab.rows_at_rest().await, before);
    lab.goes_on(lab.dev().await).await;
}

/// The database tells which chain it holds, whatever its name says.
#[tokio::test]
async fn an_endpoint_of_another_chain_than_the_store_holds() {
    let lab = Lab::indexed().await;
    let other = MockChain::new(9, HEAD).with_chain_id(5);
    let rpc = MockRpc::start(&other).await;
    let nest = NEST.write(&lab.scratch.path().join("other"), &other).unwrap();
    std::fs::create_dir(nest.join(".nuthatch")).unwrap();
    std::fs::copy(lab.database(), nest.join(".nuthatch/chain-5.sqlite")).unwrap();
    let ended = lab.dev_ends(&nest, &["--rpc", &rpc.url()]).await;
    refused(&ended, &["chain-5.sqlite holds chain 31337, not chain 5", "--data"]);
    lab.goes_on(lab.dev().await).await;
}
