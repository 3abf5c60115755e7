//! A chain that contradicts what was final: the cursor halts, what is there is served, and there are two ways on.

use nuthatch_tests::mock_nest::MockNest;
use nuthatch_tests::mock_rpc::Fault;
use nuthatch_tests::process::{PATIENCE, number};

use super::*;

const NEST: MockNest = MockNest { name: "token", start_block: 0, tokens: 0..5 };
const REBUILD: [&str; 3] = ["cursor", "rebuild", "eip155:31337"];

/// Waits for `/ready` to say no for the reason that is meant, with both ways on.
async fn halted(dev: &Dev) {
    let waiting = async {
        loop {
            let (code, text) = dev.get("/ready").await.unwrap();
            if code == 503 && text.contains("was final") {
                assert!(text.contains("remove it") && text.contains("nuthatch cursor rebuild 31337"), "{text}");
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("never halted: {}", dev.log()));
}

/// I9: at the head, then a reorg deeper than finality; the operator accepts it while the process runs.
#[tokio::test]
async fn a_running_cursor_is_rebuilt_when_the_chain_went_back() {
    let lab = Lab::new(51, 300).await;
    let dev = lab.dev(&[&NEST]).await;
    lab.all_equal_clean(&dev, &[&NEST]).await;
    let before = all_rows(&dev, "token").await.unwrap();

    lab.chain.reorg(40);
    lab.chain.advance(2);
    halted(&dev).await;
    assert_eq!(all_rows(&dev, "token").await.unwrap(), before, "what was there is served");
    let answer = dev.answer("token", "SELECT status, reason FROM _status").await.unwrap();
    assert_eq!((&answer["rows"][0]["status"], &answer["meta"]["complete"]), (&"halted".into(), &false.into()));

    done(&lab.command(&REBUILD).await, "decoded again");
    lab.all_equal_clean(&dev, &[&NEST]).await;
    assert_eq!(dev.get("/ready").await.unwrap().0, 200);
    stop(dev).await;
}

/// The same while final blocks are still fetched: the process lives, and a rebuild at rest is as good.
#[tokio::test]
async fn a_cursor_in_mid_backfill_is_rebuilt_at_rest() {
    let lab = Lab::new(52, 6_000).await;
    lab.rpc.inject(Fault::Slow(400).on("eth_getLogs"));
    lab.rpc.inject(Fault::MaxBlocks(64));
    let dev = lab.dev(&[&NEST]).await;
    dev.wait_done_to("token", 500).await.unwrap();
    lab.chain.reorg(60);
    lab.chain.advance(1);
    halted(&dev).await;
    let done_to = number(&status(&dev, "token").await["block_number"]).unwrap();
    assert!(done_to < 5_900, "it was not in mid-backfill any more: {done_to}");
    stop(dev).await;
    lab.rpc.heal();

    // Nothing runs, so nothing is known of the chain unless an endpoint is given.
    let url = lab.rpc.url();
    done(&lab.command(&[&REBUILD[..], &["--rpc", &url]].concat()).await, "");
    let dev = lab.dev(&[&NEST]).await;
    lab.all_equal_clean(&dev, &[&NEST]).await;
    stop(dev).await;
}

/// The other way on: the endpoint lied. Without it the cursor goes on by itself, at a start and while it runs, and
/// nothing is decoded again.
#[tokio::test]
async fn without_the_endpoint_that_lies_it_goes_on() {
    let lab = Lab::new(53, 200).await;
    let dev = lab.dev(&[&NEST]).await;
    dev.wait_at("token", lab.chain.head()).await.unwrap();
    let ids = async || lab.datasets().await.iter().map(|dataset| dataset["dataset"].to_string()).collect::<Vec<_>>();
    let datasets = ids().await;

    let lie = lab.chain.fork(50);
    lie.advance(3);
    lab.rpc.switch_chain(&lie);
    halted(&dev).await;
    lab.rpc.switch_chain(&lab.chain);
    lab.chain.advance(5);
    lab.all_equal_clean(&dev, &[&NEST]).await;

    lab.rpc.switch_chain(&lie);
    lie.advance(10);
    halted(&dev).await;
    stop(dev).await;
    lab.rpc.switch_chain(&lab.chain);
    lab.chain.advance(1);
    let dev = lab.dev(&[&NEST]).await;
    lab.all_equal_clean(&dev, &[&NEST]).await;
    assert_eq!(ids().await, datasets);
    stop(dev).await;
}
