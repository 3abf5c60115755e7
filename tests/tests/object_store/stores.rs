//! Several stores on one place: each deletes what is its own, and reads what it names.

use std::collections::BTreeSet;
use std::path::Path;

use nuthatch_tests::clock::Clock;
use nuthatch_tests::cuts::Segments;
use nuthatch_tests::s3::{Gate, Moment, Op, S3Fault};
use rustix::process::Signal;

use super::{Lab, Store};

/// Every store leaves uploads that nobody names, then seals all; gives the number of segments.
async fn with_garbage(stores: &[&Store<'_>]) -> usize {
    let mut named = 0;
    for store in stores {
        let gate = Gate::new();
        store.lab.s3.inject(S3Fault::Hold(Moment::After, gate.clone()).on(Op::Put).times(1));
        let dev = store.dev().await;
        gate.held().await;
        dev.kill().await.unwrap();
        gate.open();
        let dev = store.dev().await;
        named += store.settled(&dev).await.len();
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    }
    named
}

/// I8: the same files, and each store its own; gc of the one is nothing to the other.
#[tokio::test]
async fn two_stores_of_one_nest_on_one_place() {
    let lab = Lab::by(Clock::movable().unwrap(), 131, 400).await;
    let (one, other) = (lab.store("one"), lab.store("other"));
    let named = with_garbage(&[&one, &other]).await;
    let garbage = lab.objects().await.len() - named;
    lab.clock.jump(25);
    let (dev, other_dev) = tokio::join!(one.dev(), other.dev());
    lab.chain.advance(100);
    // Both at work, and both clean up.
    let (deleted, other_deleted) = tokio::join!(one.gc(), other.gc());
    assert_eq!(deleted.len() + other_deleted.len(), garbage, "{deleted:?} {other_deleted:?}");
    let own =
        |keys: &[String]| keys.iter().map(|key| key.split('/').next().unwrap().to_owned()).collect::<BTreeSet<_>>();
    let (ids, other_ids) = (own(&deleted), own(&other_deleted));
    assert!(ids.len() == 1 && other_ids.len() == 1 && ids != other_ids, "{deleted:?} {other_deleted:?}");
    let found = one.ends_well(dev).await;
    let other_found = other.ends_well(other_dev).await;
    goes_on_from(&found, &other_found);
    one.verify_is_clean().await;
    assert_eq!(lab.objects().await.len(), found.len() + other_found.len());
}

/// A copy that was given a name of its own, and its original: both go on, both clean up.
#[tokio::test]
async fn a_forked_copy_and_its_original() {
    let lab = Lab::by(Clock::movable().unwrap(), 132, 300).await;
    let original = lab.store("original");
    let dev = original.dev().await;
    original.settled(&dev).await;
    let copy = lab.store("copy");
    let busy = original.command(&["store", "fork"]).await;
    assert!(busy.code == 1 && busy.stderr.contains("is in use by process"), "{}", busy.stderr);
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    copy_folder(&original.nest.join(".nuthatch"), &copy.nest.join(".nuthatch"));
    let forked = copy.command(&["store", "fork"]).await;
    assert_eq!(forked.code, 0, "{}", forked.stderr);
    let old = original.keys_of("token__transfer").await;
    let (id, _) = old[0].split_once('/').unwrap();
    assert!(forked.stdout.starts_with(&format!("chain 31337: store {id} is now ")), "{}", forked.stdout);
    assert_eq!(copy.keys_of("token__transfer").await, old, "what was sealed stays readable");

    lab.chain.advance(150);
    with_garbage(&[&original, &copy]).await;
    lab.clock.jump(25);
    for store in [&copy, &original] {
        let deleted = store.gc().await;
        assert!(!deleted.is_empty());
        let original = std::ptr::eq(store, &original);
        assert!(deleted.iter().all(|key| key.starts_with(id) == original), "{deleted:?}");
    }
    let (dev, copy_dev) = (original.dev().await, copy.dev().await);
    let found = original.ends_well(dev).await;
    goes_on_from(&found, &copy.ends_well(copy_dev).await);
    original.verify_is_clean().await;
    let late = copy.keys_of("token__transfer").await;
    assert!(late.len() > old.len() && !late.last().unwrap().starts_with(id), "{late:?}");
}

/// One nest, one set of files, of which the later one has maybe more.
#[track_caller]
fn goes_on_from(earlier: &Segments, later: &Segments) {
    assert!(earlier.iter().all(|(cut, hash)| later.get(cut) == Some(hash)), "{earlier:?} {later:?}");
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}
