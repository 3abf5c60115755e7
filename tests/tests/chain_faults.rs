//! Every way in which an endpoint can misbehave ends in the rows of a clean one, or in one clear error; and never in a
//! loop, because the mock counts.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use nuthatch::chain::{ChainError, ChainSpec, LogFilters, RpcConfig, RpcLimits, RpcSource, Source, Tip};
use nuthatch::model::{BlockNumber, ChainId, LogFilter};
use nuthatch_tests::chain_lab::{Ask, HEAD, at, connect, limits, pool, wanted};
use nuthatch_tests::mock_rpc::{APPROVAL, Fault, Injection, MockChain, MockRpc};

/// Waits are cut short only where silence is the fault: on a busy machine any answer may take a while.
async fn connect_for(rpc: &MockRpc, faults: &[Injection]) -> RpcSource {
    let silent = faults.iter().any(|injection| injection.fault() == Fault::Hang);
    let call_timeout = if silent { Duration::from_millis(500) } else { limits().call_timeout };
    pool(vec![rpc.endpoint()], RpcLimits { call_timeout, ..limits() }).await.unwrap()
}

/// With these faults each way of asking brings the logs of a clean node, within so many more requests than without.
async fn ends_clean(asks: &[Ask], faults: &[Injection], more: u64) {
    for ask in asks {
        let chain = MockChain::new(7, HEAD);
        let rpc = MockRpc::start(&chain).await;
        let source = connect(&[&rpc]).await;
        rpc.reset_counts();
        let clean = ask.of(&source, &chain).await.unwrap();
        let (first, last) = ask.blocks(&chain);
        assert_eq!(clean, wanted(&chain, first, last));
        let undisturbed = rpc.requests();

        let source = connect_for(&rpc, faults).await;
        rpc.reset_counts();
        faults.iter().for_each(|fault| rpc.inject(*fault));
        let found = ask.of(&source, &chain).await.unwrap_or_else(|error| panic!("{ask:?}, {faults:?}: {error}"));
        assert_eq!(found, clean, "{ask:?}, {faults:?}");
        let requests = rpc.requests();
        assert!(requests <= undisturbed + more, "{ask:?}, {faults:?}: {requests} requests, {undisturbed} undisturbed");
        assert!(requests > undisturbed || more == 0, "{ask:?}, {faults:?} changed nothing");
    }
}

/// With this fault for ever, asking ends in an error within so many requests, which names what it must and no key.
async fn ends_in_error(ask: Ask, fault: impl Into<Injection>, most: u64, words: &[&str]) -> ChainError {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let fault = fault.into();
    let source = connect_for(&rpc, &[fault]).await;
    rpc.reset_counts();
    rpc.inject(fault);
    let error = ask.of(&source, &chain).await.unwrap_err();
    let text = error.to_string();
    for word in words.iter().copied().chain(["chain 31337", "eth_", rpc.host().as_str()]) {
        assert!(text.contains(word), "{fault:?}: '{word}' is missing in: {text}");
    }
    assert!(!format!("{text} {error:?}").contains(MockRpc::KEY), "{text}");
    assert!(rpc.requests() <= most, "{fault:?}: {} requests", rpc.requests());
    error
}

#[tokio::test]
async fn caps_by_count_blocks_status_and_unknown_text_are_learned() {
    ends_clean(&[Ask::Final], &[Fault::MaxLogs(40).into()], 40).await;
    ends_clean(&[Ask::Final], &[Fault::MaxBlocks(7).into()], 130).await;
    ends_clean(&[Ask::LongTip], &[Fault::MaxBlocks(7).into()], 12).await;
    ends_clean(&[Ask::Final], &[Fault::MaxBlocksStatus(400, 9).into()], 125).await;
    ends_clean(&[Ask::Final], &[Fault::MaxBlocksStatus(413, 9).into()], 125).await;
    ends_clean(&[Ask::LongTip], &[Fault::MaxBlocksStatus(413, 1).into()], 45).await;
    ends_clean(&[Ask::Final], &[Fault::MaxBlocksUnknown(9).into()], 125).await;
    ends_clean(&[Ask::LongTip], &[Fault::MaxBlocksUnknown(1).into()], 45).await;
    ends_clean(&[Ask::Final], &[Fault::Status(500).on("eth_getLogs").times(2)], 10).await;
}

#[tokio::test]
async fn a_suggested_range_that_is_no_smaller_is_not_followed() {
    ends_clean(&[Ask::Final], &[Fault::SuggestsTheSame(10).into()], 125).await;
    ends_clean(&[Ask::LongTip], &[Fault::SuggestsTheSame(3).into()], 20).await;
}

#[tokio::test]
async fn a_cap_on_contracts_is_learned_whatever_the_words() {
    ends_clean(&[Ask::Final], &[Fault::MaxAddresses(1).into()], 40).await;
    ends_clean(&[Ask::Final], &[Fault::MaxAddressesUnknown(1).into()], 700).await;
}

#[tokio::test]
async fn a_single_block_that_is_refused_ends_in_one_clear_error() {
    for fault in [Fault::MaxBlocks(0), Fault::MaxBlocksUnknown(0), Fault::MaxBlocksStatus(413, 0)] {
        let error = ends_in_error(Ask::Final, fault, 120, &["single block", "attempts"]).await;
        assert!(matches!(error, ChainError::BlockRefused { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn rate_limits_and_server_errors_are_waited_out() {
    for fault in [Fault::RateLimited(None), Fault::RateLimitedInWords, Fault::Status(500), Fault::Status(503)] {
        ends_clean(&Ask::EVERYWHERE, &[fault.on("eth_getLogs").times(3)], 12).await;
        ends_clean(&Ask::TIP, &[fault.times(3)], 16).await;
    }
}

#[tokio::test]
async fn retry_after_is_honoured() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = connect(&[&rpc]).await;
    rpc.inject(Fault::RateLimited(Some(1)).times(1));
    let started = Instant::now();
    source.header(BlockNumber(5)).await.unwrap().unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn silence_and_broken_bodies_are_asked_again() {
    for fault in [Fault::CutOff, Fault::Truncated, Fault::NotJson, Fault::Hang] {
        ends_clean(&Ask::EVERYWHERE, &[fault.on("eth_getLogs").times(2)], 14).await;
        ends_clean(&Ask::TIP, &[fault.times(1)], 8).await;
    }
}

#[tokio::test]
async fn what_never_heals_ends_in_an_error_that_names_everything_but_the_key() {
    ends_in_error(Ask::ShortTip, Fault::Hang, 12, &["no answer within"]).await;
    ends_in_error(Ask::Final, Fault::Status(500).on("eth_getLogs"), 120, &["500", "***"]).await;
    ends_in_error(Ask::ShortTip, Fault::NotJson, 12, &["not usable"]).await;
    ends_in_error(Ask::LongTip, Fault::CutOff.on("eth_getLogs"), 34, &["connection failed"]).await;
    ends_in_error(Ask::Final, Fault::RateLimited(None), 60, &["limits the rate"]).await;
    // Asking again cannot help here, so nothing is asked again.
    ends_in_error(Ask::ShortTip, Fault::Redirect, 2, &["redirects are not followed"]).await;
    ends_in_error(Ask::ShortTip, Fault::Status(401), 2, &["401"]).await;
}

#[tokio::test]
async fn an_endpoint_without_batches_is_asked_one_by_one() {
    ends_clean(&[Ask::LongTip], &[Fault::NoBatches.into()], 26).await;
    ends_clean(&[Ask::Final], &[Fault::NoBatches.into(), Fault::NoTimestamps.into()], 500).await;
}

#[tokio::test]
async fn timestamps_that_are_missing_come_from_headers() {
    for fault in [Fault::NoTimestamps, Fault::ZeroTimestamps, Fault::NullTimestamps] {
        ends_clean(&[Ask::Final], &[fault.into()], 40).await;
        ends_clean(&Ask::TIP, &[fault.into()], 0).await;
    }
}

#[tokio::test]
async fn repeated_and_unsorted_logs_come_out_once_and_in_order() {
    for fault in [Fault::Duplicated, Fault::Unsorted] {
        ends_clean(&Ask::EVERYWHERE, &[fault.into()], 0).await;
    }
}

#[tokio::test]
async fn removed_logs_are_not_there() {
    ends_clean(&Ask::EVERYWHERE, &[Fault::Removed.times(1)], 10).await;
    // A node that never stops: final blocks have none, so they are dropped; at the tip nothing can be believed.
    ends_clean(&[Ask::Final], &[Fault::Removed.into()], 20).await;
    ends_in_error(Ask::LongTip, Fault::Removed, 40, &["removed"]).await;
}

#[tokio::test]
async fn an_empty_answer_does_not_stand_against_the_bloom() {
    ends_clean(&Ask::TIP, &[Fault::EmptyLogs.times(1)], 30).await;
    ends_clean(&Ask::TIP, &[Fault::EmptyLogs.times(4)], 60).await;
    ends_in_error(Ask::LongTip, Fault::EmptyLogs, 200, &["bloom"]).await;
}

#[tokio::test]
async fn the_bloom_check_can_be_switched_off() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let spec = ChainSpec { bloom: false, ..ChainSpec::of(ChainId(31_337)) };
    let config = RpcConfig { chain: spec, endpoints: vec![rpc.endpoint()], limits: limits() };
    let source = RpcSource::connect(config).await.unwrap();
    rpc.inject(Fault::EmptyLogs);
    assert!(Ask::LongTip.of(&source, &chain).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_false_hit_of_the_bloom_is_settled_by_all_logs_of_the_block() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = connect(&[&rpc]).await;
    // Every token and both topics are in many blooms; transfers of the last token alone are not in as many.
    let token = chain.contracts()[4];
    let filter =
        LogFilter { addresses: vec![format!("{token:#x}")], topics: vec![format!("{APPROVAL:#x}")], start_block: 0 };
    let filters = LogFilters::parse(&[filter]).unwrap();
    let parent = at(&chain, HEAD - 200);
    let Tip::Window(window) = source.tip_window(&filters, parent, BlockNumber(HEAD)).await.unwrap() else {
        panic!("not linked")
    };
    assert_eq!(window.logs, filters.select_owned(chain.logs(HEAD - 199, HEAD)));
    let by_hash = rpc.calls("eth_getLogs") - rpc.ranges().len() as u64;
    assert!(by_hash > 0 && by_hash < 100, "{by_hash} blocks were settled");
}

#[tokio::test]
async fn logs_of_an_orphaned_block_are_asked_again() {
    ends_clean(&Ask::TIP, &[Fault::OrphanLogs.times(2)], 20).await;
    ends_in_error(Ask::ShortTip, Fault::OrphanLogs, 40, &["do not belong to one chain"]).await;
    // Where the node gives no time either, headers show it for final blocks as well.
    ends_clean(&[Ask::Final], &[Fault::OrphanLogs.times(1), Fault::NoTimestamps.into()], 100).await;
}

#[tokio::test]
async fn nothing_for_an_unknown_hash_is_not_taken_for_an_empty_block() {
    ends_clean(&[Ask::ShortTip], &[Fault::UnknownHash.times(3)], 20).await;
    ends_clean(&[Ask::ShortTip], &[Fault::NoBloom.into(), Fault::UnknownHash.times(5)], 20).await;
    ends_in_error(Ask::ShortTip, Fault::UnknownHash, 60, &[]).await;
}

#[tokio::test]
async fn a_null_header_is_a_block_that_is_not_there_yet() {
    ends_clean(&Ask::TIP, &[Fault::NullHeader.times(2)], 10).await;
    let error = ends_in_error(Ask::LongTip, Fault::NullHeader, 20, &["does not have block"]).await;
    assert!(error.is_transient());
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    assert_eq!(connect(&[&rpc]).await.header(BlockNumber(HEAD + 1)).await.unwrap(), None);
}

#[tokio::test]
async fn headers_that_do_not_link_are_asked_again() {
    ends_clean(&[Ask::LongTip], &[Fault::BrokenParents.times(1)], 10).await;
}

#[tokio::test]
async fn foreign_logs_are_refused_and_their_endpoint_named() {
    for fault in [Fault::Conflicting, Fault::StrangeContract, Fault::StrangeBlock] {
        ends_clean(&[Ask::Final, Ask::LongTip], &[fault.times(2)], 16).await;
        ends_in_error(Ask::Final, fault, 120, &["not usable"]).await;
    }
}

#[tokio::test]
async fn answers_above_the_size_limit_are_asked_for_in_pieces() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = pool(vec![rpc.endpoint()], RpcLimits { body_cap: 16 << 10, ..limits() }).await.unwrap();
    let found = Ask::Final.of(&source, &chain).await.unwrap();
    assert_eq!(found, wanted(&chain, 0, chain.final_block().number.0));
    assert!(rpc.requests() < 120, "{} requests", rpc.requests());
}
