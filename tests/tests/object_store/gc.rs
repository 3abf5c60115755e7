//! Files that nobody names are deleted, and no others, however slow who seals and who deletes may be.

use std::collections::BTreeSet;

use nuthatch_tests::clock::Clock;
use nuthatch_tests::s3::{Gate, Moment, Op, S3Fault};

use super::{Lab, Store};

/// Longer than a key's grace.
const LATER: u32 = 25;

/// Objects that a process uploaded and died before it named them.
async fn orphans(store: &Store<'_>) -> BTreeSet<String> {
    let gate = Gate::new();
    store.lab.s3.inject(S3Fault::Hold(Moment::After, gate.clone()).on(Op::Put).of("token__transfer").times(1));
    let dev = store.dev().await;
    gate.held().await;
    dev.kill().await.unwrap();
    gate.open();
    let orphans = store.unnamed().await;
    assert!(!orphans.is_empty());
    orphans
}

/// A gc waits at this point while a restart seals again what the dead process had uploaded.
async fn paused(seed: u64, fault: impl Fn(Gate) -> nuthatch_tests::s3::Injection) {
    let lab = Lab::by(Clock::movable().unwrap(), seed, 400).await;
    let store = lab.store("one").with("AWS_TIMEOUT", "300s");
    let orphans = orphans(&store).await;
    assert_eq!(store.gc().await, [""; 0], "too young");
    lab.clock.jump(LATER);
    let gate = Gate::new();
    lab.s3.inject(fault(gate.clone()));
    let meanwhile = async {
        gate.held().await;
        let dev = store.dev().await;
        store.settled(&dev).await;
        // By now what the restart wrote is old as well.
        lab.clock.jump(2 * LATER);
        gate.open();
        dev
    };
    let (deleted, dev) = tokio::join!(store.gc(), meanwhile);
    assert_eq!(deleted.into_iter().collect::<BTreeSet<_>>(), orphans, "what nobody names, and nothing else");
    let found = store.ends_well(dev).await;
    assert_eq!(lab.objects().await.len(), found.len());
}

/// I7.
#[tokio::test]
async fn a_gc_paused_before_it_deletes_while_a_restart_seals() {
    paused(121, |gate| S3Fault::Hold(Moment::Before, gate).on(Op::Delete)).await;
}

/// I7: it must read the catalogue after the listing, not before.
#[tokio::test]
async fn a_gc_paused_before_its_listing_while_a_restart_seals() {
    paused(125, |gate| S3Fault::Hold(Moment::Before, gate).on(Op::List)).await;
}

/// I7: what it knows of the bucket is old by the time it reads the catalogue.
#[tokio::test]
async fn a_gc_paused_after_its_listing_while_a_restart_seals() {
    paused(122, |gate| S3Fault::Hold(Moment::After, gate).on(Op::List)).await;
}

/// I7: its upload is garbage by the time it goes on, and is deleted; it must not name it then.
#[tokio::test]
async fn a_sealer_paused_past_the_grace() {
    let lab = Lab::by(Clock::movable().unwrap(), 123, 400).await;
    let store = lab.store("one").with("AWS_TIMEOUT", "300s");
    let gate = Gate::new();
    lab.s3.inject(S3Fault::Hold(Moment::After, gate.clone()).on(Op::Put).of("token__transfer").times(1));
    let dev = store.dev().await;
    let key = gate.held().await;
    lab.clock.jump(LATER);
    let deleted = store.gc().await;
    assert!(deleted.iter().any(|deleted| key.ends_with(deleted)), "{deleted:?}, and {key} is garbage");
    gate.open();
    store.ends_well(dev).await;
    assert!(!lab.objects().await.contains_key(&key));
}

/// Faults of the store while gc runs lose nothing; it says which object, and does the rest the next time.
#[tokio::test]
async fn a_gc_that_cannot_delete() {
    let lab = Lab::by(Clock::movable().unwrap(), 124, 300).await;
    let store = lab.store("one");
    let orphans = orphans(&store).await;
    let dev = store.dev().await;
    store.settled(&dev).await;
    lab.clock.jump(LATER);
    lab.s3.inject(S3Fault::Status(500).on(Op::Delete));
    let place = store.place();
    let failed = store.command(&["segments", "gc", "--delete", "--segments", &place]).await;
    assert_eq!(failed.code, 1, "{}", failed.stdout);
    assert!(
        orphans.iter().any(|key| failed.stderr.contains(key)) && failed.stderr.contains("cannot be deleted"),
        "{}",
        failed.stderr
    );
    lab.s3.heal();
    assert_eq!(store.gc().await.into_iter().collect::<BTreeSet<_>>(), orphans);
    store.ends_well(dev).await;
}
