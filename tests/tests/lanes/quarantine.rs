//! A nest that faults stands still, alone; and comes back.

use nuthatch_tests::guests::{Change, altered_bundle};
use nuthatch_tests::mock_nest::MockNest;
use nuthatch_tests::process::number;
use serde_json::Value;

use super::*;

/// Its code traps at a marked transfer; for every other log it is the standard decoder.
const TOUCHY: MockNest = MockNest { name: "touchy", start_block: 5, tokens: 0..3 };
const HEALTHY: MockNest = MockNest { name: "healthy", start_block: 0, tokens: 0..5 };
const BOTH: [&str; 4] = ["--nest", "touchy.nest.wasm", "--dir", "healthy"];

async fn lab(seed: u64) -> Lab {
    let lab = Lab::new(seed, 200).await;
    let folder = TOUCHY.write(lab.folder(), &lab.chain).unwrap();
    let bundle = altered_bundle(folder.as_path(), Change::TrapOnMark);
    std::fs::write(lab.folder().join("touchy.nest.wasm"), bundle).unwrap();
    HEALTHY.write(lab.folder(), &lab.chain).unwrap();
    lab
}

fn mark(lab: &Lab) {
    lab.chain.advance_marked(lab.chain.contracts()[1]);
}

async fn quarantined(dev: &Dev) -> Value {
    let stopped = |rows: &[Value]| rows.first().is_some_and(|row| row["status"] == "quarantined");
    dev.wait_for("touchy", "SELECT * FROM _status", stopped).await.unwrap().remove(0)
}

/// I9, I15: above the final block, asked to try again, then with the faulting log reorged away.
#[tokio::test]
async fn a_fault_that_a_reorg_takes_away_leaves_nothing_behind() {
    let lab = lab(41).await;
    let dev = lab.dev_with(&BOTH).await;
    lab.all_equal_clean(&dev, &[&TOUCHY, &HEALTHY]).await;

    mark(&lab);
    let marked = lab.chain.head().number.0;
    lab.chain.advance(3);
    let status = quarantined(&dev).await;
    assert_eq!(number(&status["block_number"]), Some(marked - 1), "{status}");
    for says in ["unreachable", &format!("block {marked}")] {
        assert!(status["fault"].as_str().unwrap().contains(says), "{says} is not in {status}");
    }
    lab.all_equal_clean(&dev, &[&HEALTHY]).await;
    let answer = dev.answer("touchy", "SELECT count(*) AS n FROM token__transfer").await.unwrap();
    assert_eq!(
        (&answer["meta"]["complete"], number(&answer["meta"]["as_of_block"])),
        (&false.into(), Some(marked - 1))
    );
    let told = lab.command(&["nest", "status"]).await;
    done(&told, "quarantined");

    // Asked to try again while the log is there, it meets it again.
    done(&lab.command(&["nest", "retry", "touchy"]).await, "tries again");
    let again = quarantined(&dev).await;
    assert_eq!((&again["fault"], &again["block_number"]), (&status["fault"], &status["block_number"]));

    // The new branch parts below the block where the nest stands; with the block its fault is gone.
    lab.chain.reorg(8);
    lab.chain.advance(2);
    lab.all_equal_clean(&dev, &[&TOUCHY, &HEALTHY]).await;

    // And one that parts just below the faulting block.
    mark(&lab);
    quarantined(&dev).await;
    lab.chain.reorg(1);
    lab.all_equal_clean(&dev, &[&TOUCHY, &HEALTHY]).await;
    stop(dev).await;
}

/// A fault that stays is met again at the same log; a restart changes nothing about it; at rest, too, it can be
/// retried.
#[tokio::test]
async fn a_quarantine_outlives_restarts_and_is_lifted_at_rest() {
    let lab = lab(42).await;
    let dev = lab.dev_with(&BOTH).await;
    mark(&lab);
    let marked = lab.chain.head().number.0;
    let first = quarantined(&dev).await;
    stop(dev).await;

    let dev = lab.dev_with(&BOTH).await;
    lab.all_equal_clean(&dev, &[&HEALTHY]).await;
    let second = quarantined(&dev).await;
    assert_eq!((&second["fault"], &second["block_number"]), (&first["fault"], &first["block_number"]));
    stop(dev).await;

    // The log is there still, and after some more blocks it is final.
    done(&lab.command(&["nest", "retry", "touchy"]).await, "tries again");
    lab.chain.advance(40);
    let dev = lab.dev_with(&BOTH).await;
    let third = quarantined(&dev).await;
    assert_eq!(number(&third["block_number"]), Some(marked - 1), "{third}");
    lab.all_equal_clean(&dev, &[&HEALTHY]).await;
    stop(dev).await;
}

/// The log is reorged away while nothing runs: found at the next start, whether or not someone asked to try again.
#[tokio::test]
async fn a_reorg_at_rest_takes_the_fault_away_too() {
    let lab = lab(43).await;
    let dev = lab.dev_with(&BOTH).await;
    mark(&lab);
    quarantined(&dev).await;
    stop(dev).await;
    lab.chain.reorg(6);
    let dev = lab.dev_with(&BOTH).await;
    lab.all_equal_clean(&dev, &[&TOUCHY, &HEALTHY]).await;

    mark(&lab);
    quarantined(&dev).await;
    stop(dev).await;
    lab.chain.reorg(2);
    done(&lab.command(&["nest", "retry", "touchy"]).await, "tries again");
    let dev = lab.dev_with(&BOTH).await;
    lab.all_equal_clean(&dev, &[&TOUCHY, &HEALTHY]).await;
    stop(dev).await;
}

/// A fault in mid-backfill stops the nest at that log; the other one goes on to the head.
#[tokio::test]
async fn a_fault_among_final_blocks_stops_one_nest_alone() {
    let lab = lab(44).await;
    mark(&lab);
    let marked = lab.chain.head().number.0;
    lab.chain.advance(300);
    let dev = lab.dev_with(&BOTH).await;
    let status = quarantined(&dev).await;
    assert_eq!(number(&status["block_number"]), Some(marked - 1), "{status}");
    lab.all_equal_clean(&dev, &[&HEALTHY]).await;
    let above = format!("SELECT count(*) AS n FROM token__transfer WHERE block_number >= {marked}");
    assert_eq!(number(&dev.sql("touchy", &above).await.unwrap()[0]["n"]), Some(0));
    stop(dev).await;
}
