//! Nests that begin at different blocks, or later than the others.

use nuthatch_tests::mock_nest::MockNest;
use nuthatch_tests::mock_rpc::Fault;
use nuthatch_tests::process::number;

use super::*;

const EARLY: MockNest = MockNest { name: "early", start_block: 1, tokens: 0..2 };
const LATE: MockNest = MockNest { name: "late", start_block: 1_000, tokens: 2..4 };
const ADDED: MockNest = MockNest { name: "added", start_block: 300, tokens: 1..5 };

/// I1, I9: start blocks 1 and 1,000 and a third nest later, on one cursor, with reorgs at every stage.
#[tokio::test]
async fn nests_with_other_beginnings_equal_clean_indexes_through_reorgs() {
    let lab = Lab::new(21, 1_500).await;
    lab.rpc.inject(Fault::Slow(150).on("eth_getLogs"));
    let dev = lab.dev(&[&EARLY, &LATE]).await;
    for depth in [3, 9, 1, 14] {
        lab.chain.reorg(depth);
        lab.chain.advance(2);
        // The one that is nearly there follows the head while the other still comes up from below.
        dev.wait_at("late", lab.chain.head()).await.unwrap();
    }
    lab.rpc.heal();
    lab.all_equal_clean(&dev, &[&EARLY, &LATE]).await;
    stop(dev).await;

    lab.chain.reorg(7);
    lab.chain.advance(30);
    lab.rpc.inject(Fault::Slow(150).on("eth_getLogs"));
    let dev = lab.dev(&[&EARLY, &LATE, &ADDED]).await;
    for depth in [2, 12] {
        lab.chain.reorg(depth);
        lab.chain.advance(1);
        dev.wait_at("early", lab.chain.head()).await.unwrap();
    }
    lab.rpc.heal();
    lab.all_equal_clean(&dev, &[&EARLY, &LATE, &ADDED]).await;
    assert_eq!(number(&status(&dev, "added").await["first_block"]), Some(300));

    // All at the head now: one lane, whatever the branch does.
    for depth in [1, 5, 15] {
        lab.chain.reorg(depth);
        lab.chain.advance(3);
        lab.all_equal_clean(&dev, &[&EARLY, &LATE, &ADDED]).await;
    }
    stop(dev).await;
}

/// A branch that changes again and again while a second nest is filled makes no final block be fetched twice, and
/// keeps the first one at the head.
#[tokio::test]
async fn reorgs_during_a_backfill_refetch_no_final_block() {
    let lab = Lab::new(22, 12_000).await;
    let second = MockNest { name: "second", start_block: 0, tokens: 2..5 };
    let dev = lab.dev(&[&LATE]).await;
    dev.wait_at("late", lab.chain.head()).await.unwrap();
    stop(dev).await;

    let final_block = lab.chain.final_block().number.0;
    lab.rpc.reset_counts();
    lab.rpc.inject(Fault::MaxBlocks(250));
    lab.rpc.inject(Fault::Slow(200).on("eth_getLogs"));
    let dev = lab.dev(&[&LATE, &second]).await;
    let mut reorgs = 0;
    loop {
        let filled = number(&status(&dev, "second").await["block_number"]);
        if filled >= Some(final_block) {
            break;
        }
        lab.chain.reorg(1 + reorgs % 10);
        dev.wait_at("late", lab.chain.head()).await.unwrap();
        reorgs += 1;
    }
    assert!(reorgs >= 5, "{reorgs} reorgs while it was filled");
    lab.rpc.heal();
    lab.all_equal_clean(&dev, &[&LATE, &second]).await;
    stop(dev).await;

    // Each exactly once.
    let mut fetched = vec![0_u32; final_block as usize + 1];
    for (first, last) in lab.rpc.answered_ranges().into_iter().filter(|(first, _)| *first <= final_block) {
        (first..=last.min(final_block)).for_each(|block| fetched[block as usize] += 1);
    }
    let twice = fetched.iter().position(|times| *times != 1);
    assert_eq!(twice.map(|block| (block, fetched[block])), None, "{reorgs} reorgs");
}

/// A nest whose contracts do not exist yet waits for its first block and takes no other.
#[tokio::test]
async fn a_nest_that_begins_above_the_head_begins_there() {
    let lab = Lab::new(23, 100).await;
    let future = MockNest { name: "future", start_block: 130, tokens: 0..5 };
    let dev = lab.dev(&[&future, &EARLY]).await;
    dev.wait_at("early", lab.chain.head()).await.unwrap();
    assert_eq!(status(&dev, "future").await["status"], "empty");
    for _ in 0..6 {
        lab.chain.advance(9);
        dev.wait_at("early", lab.chain.head()).await.unwrap();
        lab.chain.reorg(4);
        dev.wait_at("early", lab.chain.head()).await.unwrap();
    }
    lab.all_equal_clean(&dev, &[&future, &EARLY]).await;
    let lowest = dev.sql("future", "SELECT min(block_number) AS lowest FROM token__transfer").await.unwrap();
    assert!(number(&lowest[0]["lowest"]) >= Some(130), "{lowest:?}");
    stop(dev).await;
}
