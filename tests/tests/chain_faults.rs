//! Every way in which an endpoint can misbehave ends in the rows of a clean one, or in one clear error; and never in a
//! loop, because the mock counts.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use nuthatch::chain::{
    Backoff, ChainError, ChainSpec, EndpointConfig, Heads, LogFilters, Look, NotLinked, RangeBounds, RetryPolicy,
    RpcConfig, RpcLimits, RpcSource, Source, Tip, Trouble, common_ancestor,
};
use nuthatch::model::{BlockNumber, BlockRange, BlockRef, ChainId, LogBatch, LogFilter};
use nuthatch_tests::mock_rpc::{APPROVAL, Fault, Injection, MockChain, MockRpc, TRANSFER};

const HEAD: u64 = 400;

fn limits() -> RpcLimits {
    RpcLimits {
        call_timeout: Duration::from_secs(20),
        retry: RetryPolicy {
            attempts: 8,
            backoff: Backoff { base: Duration::from_millis(4), ceiling: Duration::from_millis(40) },
        },
        range: RangeBounds { first: 64, max: 1_000, logs: 20_000 },
        header_batch: 10,
        ..RpcLimits::default()
    }
}

async fn pool(endpoints: Vec<EndpointConfig>, limits: RpcLimits) -> Result<RpcSource, ChainError> {
    RpcSource::connect(RpcConfig { chain: ChainSpec::of(ChainId(31_337)), endpoints, limits }).await
}

async fn connect(rpcs: &[&MockRpc]) -> RpcSource {
    pool(rpcs.iter().map(|rpc| rpc.endpoint()).collect(), limits()).await.unwrap()
}

/// Transfers of two tokens, and approvals of a third.
fn filters(chain: &MockChain) -> LogFilters {
    let tokens: Vec<String> = chain.contracts().iter().map(|token| format!("{token:#x}")).collect();
    let filter = |addresses: &[String], topic| LogFilter {
        addresses: addresses.to_vec(),
        topics: vec![format!("{topic:#x}")],
        start_block: 3,
    };
    LogFilters::parse(&[filter(&tokens[..2], TRANSFER), filter(&tokens[2..3], APPROVAL)]).unwrap()
}

fn range(first: u64, last: u64) -> BlockRange {
    BlockRange { first: BlockNumber(first), last: BlockNumber(last) }
}

fn wanted(chain: &MockChain, first: u64, last: u64) -> LogBatch {
    filters(chain).select_owned(chain.logs(first, last))
}

fn at(chain: &MockChain, number: u64) -> BlockRef {
    chain.header(number).unwrap().block_ref()
}

/// The three ways of asking for logs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ask {
    /// Final blocks.
    Final,
    /// A window above the final block, by number.
    LongTip,
    /// The last two blocks, by hash.
    ShortTip,
}

impl Ask {
    fn blocks(self, chain: &MockChain) -> (u64, u64) {
        match self {
            Ask::Final => (0, chain.final_block().number.0),
            Ask::LongTip => (chain.final_block().number.0 + 1, HEAD),
            Ask::ShortTip => (HEAD - 1, HEAD),
        }
    }

    async fn of(self, source: &RpcSource, chain: &MockChain) -> Result<LogBatch, ChainError> {
        let (first, last) = self.blocks(chain);
        if self == Ask::Final {
            return source.logs(&filters(chain), range(first, last)).await;
        }
        let parent = at(chain, first - 1);
        match source.tip_window(&filters(chain), parent, BlockNumber(last)).await? {
            Tip::Window(window) => {
                let expected: Vec<_> = (first..=last).map(|number| at(chain, number)).collect();
                assert_eq!(window.headers.iter().map(|header| header.block_ref()).collect::<Vec<_>>(), expected);
                Ok(window.logs)
            }
            Tip::NotLinked(not_linked) => panic!("{not_linked:?}"),
        }
    }
}

const EVERYWHERE: [Ask; 3] = [Ask::Final, Ask::LongTip, Ask::ShortTip];
const TIP: [Ask; 2] = [Ask::LongTip, Ask::ShortTip];

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
        ends_clean(&EVERYWHERE, &[fault.on("eth_getLogs").times(3)], 12).await;
        ends_clean(&TIP, &[fault.times(3)], 16).await;
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
        ends_clean(&EVERYWHERE, &[fault.on("eth_getLogs").times(2)], 14).await;
        ends_clean(&TIP, &[fault.times(1)], 8).await;
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
        ends_clean(&TIP, &[fault.into()], 0).await;
    }
}

#[tokio::test]
async fn repeated_and_unsorted_logs_come_out_once_and_in_order() {
    for fault in [Fault::Duplicated, Fault::Unsorted] {
        ends_clean(&EVERYWHERE, &[fault.into()], 0).await;
    }
}

#[tokio::test]
async fn removed_logs_are_not_there() {
    ends_clean(&EVERYWHERE, &[Fault::Removed.times(1)], 10).await;
    // A node that never stops: final blocks have none, so they are dropped; at the tip nothing can be believed.
    ends_clean(&[Ask::Final], &[Fault::Removed.into()], 20).await;
    ends_in_error(Ask::LongTip, Fault::Removed, 40, &["removed"]).await;
}

#[tokio::test]
async fn an_empty_answer_does_not_stand_against_the_bloom() {
    ends_clean(&TIP, &[Fault::EmptyLogs.times(1)], 30).await;
    ends_clean(&TIP, &[Fault::EmptyLogs.times(4)], 60).await;
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
    ends_clean(&TIP, &[Fault::OrphanLogs.times(2)], 20).await;
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
    ends_clean(&TIP, &[Fault::NullHeader.times(2)], 10).await;
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

#[tokio::test]
async fn a_head_that_falls_back_is_waited_out() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = connect(&[&rpc]).await;
    let mut heads = Heads::new();
    assert!(matches!(heads.look(&source).await.unwrap(), Look::Advanced(head) if head.number.0 == HEAD));
    rpc.inject(Fault::FallingHead(30).times(3));
    for _ in 0..3 {
        assert!(matches!(heads.look(&source).await.unwrap(), Look::Lower { now } if now.number.0 == HEAD - 30));
    }
    assert_eq!(heads.look(&source).await.unwrap(), Look::Same);
    chain.advance(1);
    assert!(matches!(heads.look(&source).await.unwrap(), Look::Advanced(head) if head.number.0 == HEAD + 1));
    // With a second endpoint the fall does not even show.
    let second = MockRpc::start(&chain).await;
    let source = connect(&[&rpc, &second]).await;
    rpc.inject(Fault::FallingHead(30));
    assert_eq!(source.head().await.unwrap().number.0, HEAD + 1);
}

#[tokio::test]
async fn a_lagging_endpoint_never_passes_for_an_empty_range() {
    let chain = MockChain::new(7, HEAD);
    let (behind, other) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    behind.inject(Fault::Lag(100));
    let source = connect(&[&behind, &other]).await;
    assert_eq!(source.head().await.unwrap().number.0, HEAD);
    for ask in EVERYWHERE {
        let (first, last) = ask.blocks(&chain);
        assert_eq!(ask.of(&source, &chain).await.unwrap(), wanted(&chain, first, last), "{ask:?}");
    }
    assert!(behind.ranges().iter().all(|(_, last)| *last <= HEAD - 100), "{:?}", behind.ranges());
    // Alone, it is waited for until the budget is spent, and that is an error and not an empty answer.
    let source = connect(&[&behind]).await;
    let error = Ask::Final.of(&source, &chain).await.unwrap_err();
    assert!(error.to_string().contains("does not have block"), "{error}");
}

#[tokio::test]
async fn a_window_is_never_mixed_from_two_branches() {
    let chain = MockChain::new(7, HEAD);
    let fork = chain.fork(10);
    let (ours, theirs) = (MockRpc::start(&chain).await, MockRpc::start(&fork).await);
    // The other branch comes first in the configuration; only the second endpoint has the parent.
    let source = connect(&[&theirs, &ours]).await;
    for parent in [HEAD - 8, HEAD - 2] {
        let tip = source.tip_window(&filters(&chain), at(&chain, parent), BlockNumber(HEAD)).await.unwrap();
        let Tip::Window(window) = tip else { panic!("not linked") };
        assert_eq!(window.logs, wanted(&chain, parent + 1, HEAD));
        assert_eq!(window.headers.last().unwrap().block_ref(), at(&chain, HEAD));
    }
    // From below the fork either branch would do; what comes is one of them, whole.
    let parent = at(&chain, HEAD - 12);
    let tip = source.tip_window(&filters(&chain), parent, BlockNumber(HEAD)).await.unwrap();
    let Tip::Window(window) = tip else { panic!("not linked") };
    let of = |chain: &MockChain| (at(chain, HEAD), wanted(chain, HEAD - 11, HEAD));
    let found = (window.headers.last().unwrap().block_ref(), window.logs);
    assert!(found == of(&chain) || found == of(&fork));
}

#[tokio::test]
async fn a_reorg_is_told_from_trouble_and_its_fork_is_found() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = connect(&[&rpc]).await;
    let known: Vec<BlockRef> = (HEAD - 30..=HEAD).map(|number| at(&chain, number)).collect();
    chain.reorg(20);
    chain.advance(1);
    rpc.reset_counts();
    let tip = source.tip_window(&filters(&chain), *known.last().unwrap(), BlockNumber(HEAD + 1)).await.unwrap();
    let Tip::NotLinked(NotLinked { found, endpoint, .. }) = tip else { panic!("linked") };
    assert_eq!((found.block_ref(), endpoint), (at(&chain, HEAD + 1), rpc.host()));
    assert!(rpc.requests() <= 2, "{} requests", rpc.requests());
    let ancestor = common_ancestor(&source, &known).await.unwrap().unwrap();
    assert_eq!(ancestor, at(&chain, HEAD - 20));
    let tip = source.tip_window(&filters(&chain), ancestor, BlockNumber(HEAD + 1)).await.unwrap();
    assert!(matches!(tip, Tip::Window(window) if window.logs == wanted(&chain, HEAD - 19, HEAD + 1)));
}

#[tokio::test]
async fn a_failed_endpoint_is_left_and_the_chain_id_of_the_next_one_checked() {
    let chain = MockChain::new(7, HEAD);
    let (first, second) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    let source = connect(&[&first, &second]).await;
    first.inject(Fault::Status(502).on("eth_getLogs"));
    let last = chain.final_block().number.0;
    assert_eq!(Ask::Final.of(&source, &chain).await.unwrap(), wanted(&chain, 0, last));
    assert!(first.calls("eth_getLogs") < 20 && second.calls("eth_chainId") >= 2);

    // The same once more, but by now another chain answers behind the second URL: not one log is taken from it.
    let wrong = MockRpc::start(&chain).await;
    let first = MockRpc::start(&chain).await;
    let source = connect(&[&first, &wrong]).await;
    wrong.inject(Fault::ChainId(1));
    first.inject(Fault::Status(502).on("eth_getLogs").times(4));
    assert_eq!(Ask::Final.of(&source, &chain).await.unwrap(), wanted(&chain, 0, last));
    assert!(wrong.calls("eth_chainId") >= 2);
    assert_eq!(wrong.calls("eth_getLogs"), 0);
    first.inject(Fault::Status(502));
    let error = Ask::ShortTip.of(&source, &chain).await.unwrap_err();
    assert!(matches!(&error, ChainError::GaveUp { .. } | ChainError::WrongChain { .. }), "{error}");
    assert_eq!(wrong.calls("eth_getLogs"), 0);
}

#[tokio::test]
async fn connecting_checks_every_endpoint() {
    let chain = MockChain::new(7, HEAD);
    let (good, wrong) = (MockRpc::start(&chain).await, MockRpc::start(&chain.clone().with_chain_id(5)).await);
    let error = pool(vec![good.endpoint(), wrong.endpoint()], limits()).await.err().unwrap();
    assert!(matches!(&error, ChainError::WrongChain { found: ChainId(5), .. }), "{error}");
    assert!(
        error.to_string().contains(&format!("endpoint {} serves chain 5, not chain 31337", wrong.host())),
        "{error}"
    );

    let down = EndpointConfig::new(format!("http://127.0.0.1:9/{}", MockRpc::KEY).parse().unwrap());
    let error = pool(vec![down.clone()], limits()).await.err().unwrap();
    let ChainError::GaveUp { trouble: Trouble::Transport(_), .. } = &error else { panic!("{error}") };
    assert!(
        error.to_string().contains("127.0.0.1:9") && !format!("{error} {error:?}").contains(MockRpc::KEY),
        "{error}"
    );
    let source = pool(vec![down, good.endpoint()], limits()).await.unwrap();
    assert_eq!(Ask::ShortTip.of(&source, &chain).await.unwrap(), wanted(&chain, HEAD - 1, HEAD));
    assert!(matches!(pool(vec![], limits()).await, Err(ChainError::NoEndpoint(_))));
}

#[tokio::test]
async fn the_final_block_is_confirmed_by_another_endpoint() {
    let chain = MockChain::new(7, HEAD);
    let (one, other) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    let source = connect(&[&one, &other]).await;
    other.reset_counts();
    assert_eq!(source.finalized().await.unwrap(), Some(chain.final_block()));
    assert_eq!(other.calls("eth_getBlockByNumber"), 1);
    // Once confirmed, it is not asked for again.
    source.finalized().await.unwrap();
    assert_eq!(other.calls("eth_getBlockByNumber"), 1);

    // Shallow forks are no dispute about what is final; deep ones are, and both sides are named.
    let lying = MockRpc::start(&chain.fork(10)).await;
    let source = connect(&[&one, &lying]).await;
    assert_eq!(source.finalized().await.unwrap(), Some(chain.final_block()));
    lying.switch_chain(&chain.fork(20));
    let source = connect(&[&one, &lying]).await;
    let error = source.finalized().await.unwrap_err();
    assert!(matches!(&error, ChainError::FinalityDisputed(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains(&one.host()) && text.contains(&lying.host()), "{text}");

    // One that is behind has no opinion; one without the tag goes by depth.
    let behind = MockRpc::start(&chain).await;
    behind.inject(Fault::Lag(100));
    assert_eq!(connect(&[&one, &behind]).await.finalized().await.unwrap(), Some(chain.final_block()));
    let tagless = MockRpc::start(&chain).await;
    tagless.inject(Fault::NoFinalizedTag);
    let depth = ChainSpec::of(ChainId(31_337)).finality.depth;
    assert_eq!(connect(&[&tagless]).await.finalized().await.unwrap(), Some(at(&chain, HEAD - depth)));
}

#[tokio::test]
async fn code_is_there_from_its_deployment_on() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let source = connect(&[&rpc]).await;
    let token = chain.contracts()[2];
    assert!(source.code_at(token, BlockNumber(19)).await.unwrap().is_empty());
    assert_eq!(source.code_at(token, BlockNumber(20)).await.unwrap().as_ref(), [0x60, 0x01]);
}

#[tokio::test]
async fn state_that_nobody_has_is_an_error_at_once() {
    let chain = MockChain::new(7, HEAD);
    let (rpc, other) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    let source = connect(&[&rpc, &other]).await;
    rpc.inject(Fault::NoState);
    assert!(!source.code_at(chain.contracts()[0], BlockNumber(1)).await.unwrap().is_empty());
    other.inject(Fault::NoState);
    let error = source.code_at(chain.contracts()[0], BlockNumber(1)).await.unwrap_err();
    assert!(error.to_string().contains("missing trie node"), "{error}");
    assert!(rpc.calls("eth_getCode") <= 2 && other.calls("eth_getCode") <= 2);
}

#[tokio::test]
async fn a_block_that_one_endpoint_lacks_is_asked_of_the_others() {
    let chain = MockChain::new(7, HEAD);
    let (behind, other) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    let source = connect(&[&behind, &other]).await;
    behind.inject(Fault::Lag(10));
    behind.inject(Fault::UnknownInWords);
    let tip = chain.head();
    assert_eq!(source.header(tip.number).await.unwrap().unwrap().block_ref(), tip);
    assert_eq!(source.header_by_hash(tip.hash).await.unwrap().unwrap().block_ref(), tip);
    assert_eq!(source.header(tip.number.next()).await.unwrap(), None);
}

#[tokio::test]
async fn no_more_requests_are_under_way_than_allowed() {
    let chain = MockChain::new(7, HEAD);
    let rpc = MockRpc::start(&chain).await;
    let bounds = RangeBounds { first: 8, max: 8, logs: 20_000 };
    let source = pool(vec![rpc.endpoint()], RpcLimits { in_flight: 3, range: bounds, ..limits() }).await.unwrap();
    rpc.inject(Fault::Slow(2));
    let (one, other) = tokio::join!(Ask::Final.of(&source, &chain), Ask::LongTip.of(&source, &chain));
    assert_eq!(one.unwrap(), wanted(&chain, 0, chain.final_block().number.0));
    other.unwrap();
    assert!((2..=3).contains(&rpc.peak()), "{} at once", rpc.peak());
}

#[tokio::test]
async fn a_silent_endpoint_does_not_hold_up_the_head() {
    let chain = MockChain::new(7, HEAD);
    let (silent, other) = (MockRpc::start(&chain).await, MockRpc::start(&chain).await);
    let calls = RpcLimits { call_timeout: Duration::from_secs(30), ..limits() };
    let source = pool(vec![silent.endpoint(), other.endpoint()], calls).await.unwrap();
    silent.inject(Fault::Hang);
    let started = Instant::now();
    assert_eq!(source.head().await.unwrap().block_ref(), chain.head());
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
