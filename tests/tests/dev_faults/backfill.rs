//! Faults from the first request on, while the whole chain is fetched.

use nuthatch_tests::mock_rpc::Fault;

use super::*;

/// The chain is fetched with these faults on; at most so many requests.
async fn fetched_with(faults: &[Injection], most: u64) {
    let lab = Lab::new().await;
    faults.iter().for_each(|fault| lab.rpc.inject(*fault));
    let meter = Meter::of(&lab.rpc);
    let dev = lab.dev().await;
    dev.wait_at(NEST.name, lab.chain.head()).await.unwrap_or_else(|error| panic!("{faults:?}: {error:#}"));
    meter.at_most(&lab.rpc, most, &name(faults));
    lab.ends_clean(dev, &name(faults)).await;
}

#[tokio::test]
async fn caps_on_the_range_of_any_kind() {
    fetched_with(&[Fault::MaxLogs(40).into()], 120).await;
    fetched_with(&[Fault::MaxBlocks(7).into()], 160).await;
    fetched_with(&[Fault::MaxBlocksStatus(400, 9).into()], 160).await;
    fetched_with(&[Fault::MaxBlocksStatus(413, 9).into()], 160).await;
    fetched_with(&[Fault::MaxBlocksUnknown(9).into()], 160).await;
    fetched_with(&[Fault::SuggestsTheSame(10).into()], 160).await;
}

#[tokio::test]
async fn refusals_and_silence_that_pass() {
    for fault in [Fault::RateLimited(None), Fault::RateLimitedInWords, Fault::Status(500), Fault::Status(503)] {
        fetched_with(&[fault.times(3)], 40).await;
        fetched_with(&[fault.on("eth_getLogs").times(3)], 40).await;
    }
    fetched_with(&[Fault::Hang.times(1)], 40).await;
    fetched_with(&[Fault::Hang.on("eth_getLogs").times(2)], 40).await;
}

#[tokio::test]
async fn bodies_that_are_broken() {
    for fault in [Fault::CutOff, Fault::Truncated, Fault::NotJson] {
        fetched_with(&[fault.times(2)], 40).await;
        fetched_with(&[fault.on("eth_getLogs").times(2)], 40).await;
    }
}

#[tokio::test]
async fn headers_that_are_null_and_times_that_are_missing() {
    fetched_with(&[Fault::NullHeader.times(3)], 40).await;
    for fault in [Fault::NoTimestamps, Fault::ZeroTimestamps, Fault::NullTimestamps] {
        fetched_with(&[fault.into()], 60).await;
    }
    fetched_with(&[Fault::NoTimestamps.into(), Fault::NoBatches.into()], 520).await;
}

#[tokio::test]
async fn logs_that_are_removed_repeated_or_unsorted() {
    fetched_with(&[Fault::Removed.on("eth_getLogs").times(2)], 40).await;
    fetched_with(&[Fault::Duplicated.into()], 30).await;
    fetched_with(&[Fault::Unsorted.into()], 30).await;
}
