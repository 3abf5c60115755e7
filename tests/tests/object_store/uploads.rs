//! Faults while segments are written.

use std::time::Duration;

use nuthatch_tests::mock_nest::all_rows;
use nuthatch_tests::s3::{Op, S3Fault};

use super::{Lab, NEST, Store};

/// Uploads fail from the start until all that can be known without them is known: the head is reached, rows are
/// answered, new blocks come in, and the log names an object. Then they work again.
async fn waits_and_recovers(seed: u64, fault: S3Fault) {
    let lab = Lab::new(seed, 500).await;
    let store = lab.store("one");
    lab.s3.inject(fault.on(Op::Put));
    let dev = store.dev().await;
    let named = |log: &str| log.lines().any(|line| line.contains(".parquet cannot be written to s3://lab-bucket/"));
    let log = dev.wait_log(named).await.unwrap();
    assert!(!log.contains("http://"), "the host says enough: {log}");
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    lab.chain.advance(5);
    store.has_clean_rows(&dev).await;
    assert!(store.keys_of("token__transfer").await.is_empty());
    lab.s3.heal();
    store.ends_well(dev).await;
}

/// I7.
#[tokio::test]
async fn uploads_that_fail_are_waited_for() {
    waits_and_recovers(91, S3Fault::Status(500)).await;
}

/// I7.
#[tokio::test]
async fn uploads_that_are_to_slow_down_are_waited_for() {
    waits_and_recovers(92, S3Fault::Status(503)).await;
}

/// I7.
#[tokio::test]
async fn uploads_that_are_forbidden_are_waited_for() {
    waits_and_recovers(93, S3Fault::Status(403)).await;
}

/// I7.
#[tokio::test]
async fn uploads_without_an_answer_are_waited_for() {
    waits_and_recovers(94, S3Fault::Silence).await;
}

/// I7.
#[tokio::test]
async fn uploads_that_take_too_long_are_waited_for() {
    waits_and_recovers(95, S3Fault::Slow(Duration::from_secs(1))).await;
}

/// I7.
#[tokio::test]
async fn uploads_that_are_cut_off_are_waited_for() {
    waits_and_recovers(96, S3Fault::CutOff).await;
}

/// I7: what arrives is not what was signed, and the store refuses it.
#[tokio::test]
async fn uploads_that_arrive_altered_are_waited_for() {
    waits_and_recovers(97, S3Fault::WrongBit(1_000)).await;
}

#[tokio::test]
async fn uploads_that_are_slow_only_take_their_time() {
    let lab = Lab::new(98, 300).await;
    let store = lab.store("one");
    lab.s3.inject(S3Fault::Slow(Duration::from_millis(10)).on(Op::Put));
    let dev = store.dev().await;
    store.ends_well(dev).await;
}

/// I7: written, and nobody heard of it. The next try finds the object there and takes it for its own, which it is.
#[tokio::test]
async fn a_lost_answer_leaves_nothing_behind() {
    let lab = Lab::new(99, 400).await;
    let store = lab.store("one");
    lab.s3.inject(S3Fault::LostAnswer.on(Op::Put).of("token__transfer").times(1));
    let dev = store.dev().await;
    let found = store.ends_well(dev).await;
    assert_eq!(lab.objects().await.len(), found.len());
    let puts = lab.s3.calls().into_iter().filter(|call| call.op == Op::Put);
    let refused = puts.filter(|call| call.status == Some(412)).count();
    assert_eq!(refused, 1, "the second try met the first one's object");
}

/// I7: answers are lost for good; files pile up that nobody names, and no harm comes of them.
#[tokio::test]
async fn lost_answers_are_waited_for() {
    waits_and_recovers(100, S3Fault::LostAnswer).await;
}

/// The store is gone at the start and while `dev` runs; the rows are those of the chain all the same.
#[tokio::test]
async fn a_store_that_comes_and_goes() {
    let lab = Lab::new(101, 200).await;
    let store: Store = lab.store("one");
    let mut dev = store.dev().await;
    for fault in [S3Fault::Status(500), S3Fault::CutOff, S3Fault::LostAnswer] {
        lab.s3.inject(fault.on(Op::Put).times(2));
        lab.chain.advance(80);
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
        assert!(!all_rows(&dev, NEST.name).await.unwrap().is_empty());
        dev.kill().await.unwrap();
        dev = store.dev().await;
    }
    lab.s3.heal();
    store.ends_well(dev).await;
}
