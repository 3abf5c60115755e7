//! Several endpoints of one chain: heads, forks, failover, finality.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use nuthatch::chain::{
    ChainError, ChainSpec, EndpointConfig, Heads, Look, NotLinked, RangeBounds, RpcLimits, Source, Tip, Trouble,
    common_ancestor,
};
use nuthatch::model::{BlockNumber, BlockRef, ChainId};
use nuthatch_tests::chain_lab::{Ask, HEAD, at, connect, filters, limits, pool, wanted};
use nuthatch_tests::mock_rpc::{Fault, MockChain, MockRpc};

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
    for ask in Ask::EVERYWHERE {
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
