//! Faults while segments are read: an error that names the segment, or the right answer, and nothing else.

use nuthatch_tests::mock_nest::all_rows;
use nuthatch_tests::s3::{Injection, Op, S3, S3Fault};
use rustix::process::Signal;

use super::{Lab, NEST, Store};

const QUERY: &str = "SELECT * FROM token__transfer ORDER BY block_number, log_index";

/// All rows are sealed but the last few, and no process has read a file yet.
async fn sealed(store: &Store<'_>) {
    let dev = store.dev().await;
    store.settled(&dev).await;
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
}

/// Reads of one file fail, then work again.
async fn fails_by_name(seed: u64, fault: S3Fault) {
    let lab = Lab::new(seed, 400).await;
    let store = lab.store("one");
    sealed(&store).await;
    let key = store.keys_of("token__transfer").await.swap_remove(1);
    let dev = store.dev().await;
    lab.s3.inject(fault.on(Op::Get).of(&key));
    let error = format!("{:#}", dev.sql(NEST.name, QUERY).await.unwrap_err());
    refused(&error, &key);
    assert!(!error.contains(S3::KEY_ID), "{error}");
    lab.s3.heal();
    store.ends_well(dev).await;
}

#[track_caller]
fn refused(error: &str, key: &str) {
    assert!(error.contains(key) && error.contains("nuthatch segments verify"), "{error}");
}

#[tokio::test]
async fn reads_that_fail() {
    fails_by_name(111, S3Fault::Status(500)).await;
}

#[tokio::test]
async fn reads_of_what_is_not_there() {
    fails_by_name(112, S3Fault::Status(404)).await;
}

#[tokio::test]
async fn reads_without_an_answer() {
    fails_by_name(113, S3Fault::Silence).await;
}

#[tokio::test]
async fn reads_that_are_cut_off() {
    fails_by_name(114, S3Fault::CutOff).await;
}

/// A few failures are nobody's business.
#[tokio::test]
async fn reads_that_fail_now_and_then() {
    let lab = Lab::new(115, 300).await;
    let store = lab.store("one");
    sealed(&store).await;
    for fault in [S3Fault::Status(503), S3Fault::LostAnswer, S3Fault::CutOff] {
        let dev = store.dev().await;
        let once = |key: &str| -> Injection { fault.clone().on(Op::Get).of(key).times(1) };
        for key in store.keys_of("token__transfer").await {
            lab.s3.inject(once(&key));
        }
        store.ends_well(dev).await;
        lab.s3.heal();
    }
}

/// One bit of a file is wrong, wherever it is: in a page, an index or the footer. No file has been read before.
#[tokio::test]
async fn wrong_bytes_never_make_another_answer() {
    let lab = Lab::new(116, 400).await;
    let store = lab.store("one");
    sealed(&store).await;
    let key = store.keys_of("token__transfer").await.swap_remove(1);
    let size = lab.size(&key).await;
    let mut failed = 0;
    for part in 0..8 {
        let dev = store.dev().await;
        // In the middle of an eighth of the file.
        lab.s3.inject(S3Fault::WrongBit(size * (2 * part + 1) / 16).on(Op::Get).of(&key));
        let answer = dev.sql(NEST.name, QUERY).await;
        lab.s3.heal();
        let good = dev.sql(NEST.name, QUERY).await.unwrap();
        assert!(!good.is_empty());
        match answer {
            // A part that the query does not need.
            Ok(rows) => assert!(rows == good, "other rows, with a bit in part {part} of 8"),
            Err(error) => {
                failed += 1;
                refused(&format!("{error:#}"), &key);
            }
        }
        assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    }
    assert!(failed > 0, "nothing was read through the fault");
    let dev = store.dev().await;
    store.ends_well(dev).await;
}

/// The same once the file has been read, and was good then.
#[tokio::test]
async fn bytes_that_go_wrong_later_never_make_another_answer() {
    let lab = Lab::new(117, 400).await;
    let store = lab.store("one");
    sealed(&store).await;
    let key = store.keys_of("token__transfer").await.swap_remove(1);
    let size = lab.size(&key).await;
    let dev = store.dev().await;
    let good = all_rows(&dev, NEST.name).await.unwrap();
    for part in 0..8 {
        lab.s3.inject(S3Fault::WrongBit(size * (2 * part + 1) / 16).on(Op::Get).of(&key));
        match all_rows(&dev, NEST.name).await {
            Ok(rows) => assert!(rows == good, "other rows, with a bit in part {part} of 8"),
            Err(error) => refused(&format!("{error:#}"), &key),
        }
        lab.s3.heal();
    }
    store.ends_well(dev).await;
}
