//! Two endpoints that do not tell the same.

use nuthatch_tests::mock_rpc::Fault;

use super::*;

/// One endpoint stays on a branch that the other has left, then follows.
#[tokio::test]
async fn two_endpoints_on_different_forks() {
    let lab = Lab::new().await;
    let other = MockRpc::start(&lab.chain).await;
    let dev = lab.dev_over(&[&lab.rpc, &other]).await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    for depth in [1, 4, 9] {
        let meter = (Meter::of(&lab.rpc), Meter::of(&other));
        other.switch_chain(&lab.chain.fork(depth));
        lab.chain.advance(3);
        // The longer branch wins, and no window is made of both.
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
        meter.0.at_most(&lab.rpc, 60, "the longer fork");
        meter.1.at_most(&other, 60, "the shorter fork");
        other.switch_chain(&lab.chain);
        lab.chain.reorg(depth);
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    }
    lab.ends_clean(dev, "forks").await;
}

/// One endpoint is behind in everything and answers with nothing above, from the first request on.
#[tokio::test]
async fn one_endpoint_lags() {
    let lab = Lab::new().await;
    let behind = MockRpc::start(&lab.chain).await;
    behind.inject(Fault::Lag(60));
    let dev = lab.dev_over(&[&behind, &lab.rpc]).await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    for depth in [2, 7] {
        lab.chain.advance(5);
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
        lab.chain.reorg(depth);
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    }
    lab.ends_clean(dev, "lag").await;
}

/// The endpoint behind the second URL answers for another chain by the time the first one fails.
#[tokio::test]
async fn another_chain_after_failover() {
    let lab = Lab::new().await;
    let second = MockRpc::start(&lab.chain).await;
    let dev = lab.dev_over(&[&lab.rpc, &second]).await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    // The same heights, other logs: taken from there, they would show.
    second.switch_chain(&MockChain::new(32, HEAD + 40).with_chain_id(5));
    let logs = second.calls("eth_getLogs");
    lab.rpc.inject(Fault::Status(502));
    lab.chain.advance(4);
    let meter = Meter::of(&lab.rpc);
    meter.asked(&lab.rpc, 4).await;
    let seen = dev.sql(NEST.name, "SELECT max(block_number) AS last FROM token__transfer").await.unwrap();
    assert!(nuthatch_tests::process::number(&seen[0]["last"]) <= Some(HEAD), "{seen:?}");
    meter.at_most(&lab.rpc, 60, "an endpoint that fails");
    lab.rpc.heal();
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    assert_eq!(second.calls("eth_getLogs"), logs, "logs were asked of another chain");
    lab.ends_clean(dev, "another chain").await;
}
