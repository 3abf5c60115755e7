//! Faults at the tip, while blocks come and go.

use nuthatch_tests::mock_rpc::Fault;

use super::*;
use Rows::{InSpiteOfIt, OnceHealed};

/// Whether the rows come in spite of the fault, or when it is over.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rows {
    /// Before anybody heals it.
    InSpiteOfIt,
    /// When it is healed; until then nothing that stood is lost, and nothing is hammered.
    OnceHealed,
}

/// The chain grows, a branch is lost, all with these faults on; at most so many requests beside looks at the head.
async fn followed_with(faults: &[Injection], rows: Rows, most: u64) {
    let lab = Lab::new().await;
    let dev = lab.dev().await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    let stood = stood_below(&dev, HEAD - 8).await;

    let steps: [&dyn Fn(); 3] =
        [&|| (lab.chain.reorg(2), lab.chain.advance(6)).1, &|| lab.chain.advance(3), &|| lab.chain.reorg(5)];
    // Waits between attempts grow, so what has to be healed is tried with one step.
    let steps = if rows == OnceHealed { &steps[..1] } else { &steps[..] };
    for step in steps {
        let meter = Meter::of(&lab.rpc);
        faults.iter().for_each(|fault| lab.rpc.inject(*fault));
        step();
        if rows == Rows::OnceHealed {
            meter.asked(&lab.rpc, 4).await;
            assert_eq!(stood_below(&dev, HEAD - 8).await, stood, "{faults:?}");
            meter.at_most(&lab.rpc, most, &name(faults));
            lab.rpc.heal();
        }
        dev.wait_at(NEST.name, lab.chain.head()).await.unwrap_or_else(|error| panic!("{faults:?}: {error:#}"));
        meter.at_most(&lab.rpc, most, &name(faults));
        lab.rpc.heal();
    }
    lab.ends_clean(dev, &name(faults)).await;
}

/// What no step of these tests touches.
async fn stood_below(dev: &Dev, block: u64) -> Vec<serde_json::Value> {
    let query =
        format!("SELECT count(*) AS rows, sum(value) AS total FROM token__transfer WHERE block_number < {block}");
    dev.sql(NEST.name, &query).await.unwrap()
}

#[tokio::test]
async fn caps_on_the_range_of_any_kind() {
    for fault in [Fault::MaxBlocks(1), Fault::MaxBlocksStatus(400, 1), Fault::MaxBlocksStatus(413, 1)] {
        followed_with(&[fault.into()], InSpiteOfIt, 60).await;
    }
    followed_with(&[Fault::MaxBlocksUnknown(1).into()], InSpiteOfIt, 60).await;
    followed_with(&[Fault::MaxLogs(20).into()], InSpiteOfIt, 60).await;
    followed_with(&[Fault::SuggestsTheSame(1).into()], InSpiteOfIt, 60).await;
}

#[tokio::test]
async fn refusals_and_silence_that_pass() {
    for fault in [Fault::RateLimited(None), Fault::RateLimitedInWords, Fault::Status(500), Fault::Hang] {
        followed_with(&[fault.times(2)], InSpiteOfIt, 40).await;
    }
}

#[tokio::test]
async fn refusals_and_silence_until_healed() {
    for fault in [Fault::Status(503), Fault::RateLimited(None)] {
        followed_with(&[fault.into()], OnceHealed, 60).await;
    }
}

#[tokio::test]
async fn bodies_that_are_broken() {
    for fault in [Fault::CutOff, Fault::Truncated, Fault::NotJson] {
        followed_with(&[fault.times(2)], InSpiteOfIt, 40).await;
        followed_with(&[fault.on("eth_getLogs").times(2)], InSpiteOfIt, 40).await;
    }
}

#[tokio::test]
async fn a_head_that_falls_back() {
    followed_with(&[Fault::FallingHead(30).times(2)], InSpiteOfIt, 40).await;
    followed_with(&[Fault::FallingHead(30).into()], OnceHealed, 40).await;
    followed_with(&[Fault::Lag(20).into()], OnceHealed, 40).await;
}

#[tokio::test]
async fn empty_answers_against_the_bloom() {
    followed_with(&[Fault::EmptyLogs.times(2)], InSpiteOfIt, 60).await;
    followed_with(&[Fault::EmptyLogs.into()], OnceHealed, 200).await;
}

#[tokio::test]
async fn logs_of_an_orphaned_hash_and_nothing_for_an_unknown_one() {
    followed_with(&[Fault::OrphanLogs.times(2)], InSpiteOfIt, 40).await;
    followed_with(&[Fault::OrphanLogs.into()], OnceHealed, 200).await;
    followed_with(&[Fault::UnknownHash.times(3)], InSpiteOfIt, 40).await;
    followed_with(&[Fault::UnknownHash.into()], OnceHealed, 200).await;
    followed_with(&[Fault::UnknownHash.into(), Fault::NoBloom.into()], OnceHealed, 200).await;
}

#[tokio::test]
async fn headers_that_are_null_or_do_not_link() {
    followed_with(&[Fault::NullHeader.times(3)], InSpiteOfIt, 40).await;
    followed_with(&[Fault::NullHeader.into()], OnceHealed, 60).await;
    followed_with(&[Fault::BrokenParents.times(2)], InSpiteOfIt, 60).await;
}

#[tokio::test]
async fn times_that_are_missing() {
    for fault in [Fault::NoTimestamps, Fault::ZeroTimestamps, Fault::NullTimestamps] {
        followed_with(&[fault.into()], InSpiteOfIt, 40).await;
    }
}

#[tokio::test]
async fn logs_that_are_removed_repeated_or_unsorted() {
    followed_with(&[Fault::Removed.times(2)], InSpiteOfIt, 40).await;
    followed_with(&[Fault::Removed.into()], OnceHealed, 200).await;
    followed_with(&[Fault::Duplicated.into()], InSpiteOfIt, 40).await;
    followed_with(&[Fault::Unsorted.into()], InSpiteOfIt, 40).await;
}
