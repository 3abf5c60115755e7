//! Readers that own nothing.

use std::fs;

use super::super::SqliteReader;
use super::*;
use crate::store::suite::world::*;
use crate::store::{HotReader, StoreError};

const ROWS: [(crate::model::BlockRange, u64, u64); 1] =
    [(crate::model::BlockRange { first: crate::model::BlockNumber(10), last: crate::model::BlockNumber(19) }, 0, 2)];

/// The folder's files as another machine would find them after a crash at this moment.
fn crashed(from: &Path, names: &[&str]) -> TempDir {
    let copy = TempDir::new().unwrap();
    for name in names {
        fs::copy(from.join(name), copy.path().join(name)).unwrap();
    }
    copy
}

#[tokio::test]
async fn a_reader_beside_the_owner_sees_each_commit() {
    let opened = fresh().await;
    let id = filled(&opened.store).await;
    opened.store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    let reader = SqliteReader::open(opened.keep.path(), CHAIN).await.unwrap();
    assert_eq!(read_rows(&reader, "usdc").await.1, expected(&ROWS));
    let part = window(id, Some(block(19, 0)), range(20, 20), 0, 1);
    opened.store.commit(finals(vec![part], 20)).await.unwrap();
    assert_eq!(read_rows(&reader, "usdc").await.1.len(), 21);
    // It claimed nothing: the owner goes on.
    assert_eq!(state(&reader).await.fence, opened.store.fence());
}

#[tokio::test]
async fn a_reader_needs_no_owner() {
    let opened = fresh().await;
    let id = filled(&opened.store).await;
    opened.store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    opened.store.close().await;
    let names =
        |folder: &Path| -> Vec<_> { fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    let before = names(opened.keep.path());
    assert!(!before.iter().any(|name| name.to_string_lossy().contains("-wal")), "the log was folded in: {before:?}");
    let reader = SqliteReader::open(opened.keep.path(), CHAIN).await.unwrap();
    assert_eq!(read_rows(&reader, "usdc").await.1, expected(&ROWS));
}

/// I7: what returned Ok is in the files, and neither reader nor next owner needs a repair.
#[tokio::test]
async fn a_crash_loses_nothing_that_was_committed() {
    let opened = fresh().await;
    let id = filled(&opened.store).await;
    opened.store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    for names in [
        &["chain-1.sqlite", "chain-1.sqlite-wal", "chain-1.sqlite-shm", "lock"][..],
        &["chain-1.sqlite", "chain-1.sqlite-wal"][..],
    ] {
        let copy = crashed(opened.keep.path(), names);
        let reader = SqliteReader::open(copy.path(), CHAIN).await.unwrap();
        assert_eq!(read_rows(&reader, "usdc").await.1, expected(&ROWS));
        let next = open(&DataLock::acquire(copy.path()).unwrap()).await;
        assert_eq!(next.fence().0, opened.store.fence().0 + 1);
        assert_eq!(read_rows(&next, "usdc").await.1, expected(&ROWS));
    }
}

#[tokio::test]
async fn a_folder_without_the_chain_says_so() {
    let folder = TempDir::new().unwrap();
    for path in [folder.path().to_path_buf(), folder.path().join("nowhere")] {
        let refused = SqliteReader::open(&path, CHAIN).await.unwrap_err();
        assert!(matches!(&refused, StoreError::NoStore { chain: 1, .. }), "{refused}");
        assert!(refused.to_string().contains("chain-1.sqlite does not exist"), "{refused}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a reader makes no files");
}

/// A reader that outlives a migration stops instead of guessing.
#[tokio::test]
async fn a_reader_notices_a_newer_schema() {
    let opened = fresh().await;
    let reader = SqliteReader::open(opened.keep.path(), CHAIN).await.unwrap();
    alter(opened.store.path(), "PRAGMA user_version = 9").await;
    let Err(refused) = reader.read().await else { panic!("it read on") };
    assert!(matches!(refused, StoreError::NewerSchema { found: 9, .. }), "{refused}");
}
