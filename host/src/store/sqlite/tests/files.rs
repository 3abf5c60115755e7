//! Files that are not what they should be, and calls that were given up.

use std::future::{Future, poll_fn};
use std::task::Poll;

use super::super::claim::KNOWN;
use super::super::fail::Fail;
use super::super::{SqliteReader, tidy};
use super::*;
use crate::store::suite::world::*;
use crate::store::{HotReader, NewChunk, StoreError};

async fn reopen(folder: &Path, chain: ChainId) -> StoreError {
    let lock = DataLock::acquire(folder).unwrap();
    SqliteStore::open(&lock, chain, NO_GRACE).await.unwrap_err()
}

#[tokio::test]
async fn a_newer_schema_is_left_alone() {
    let opened = fresh().await;
    let (path, fence) = (opened.store.path().to_path_buf(), opened.store.fence());
    opened.store.close().await;
    drop(opened.store);
    alter(&path, "PRAGMA user_version = 7").await;
    let before = std::fs::read(&path).unwrap();
    let refused = reopen(opened.keep.path(), CHAIN).await;
    assert!(matches!(refused, StoreError::NewerSchema { found: 7, known: KNOWN, .. }), "{refused}");
    let refused = SqliteReader::open(opened.keep.path(), CHAIN).await.unwrap_err();
    assert!(matches!(refused, StoreError::NewerSchema { .. }), "{refused}");
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
    alter(&path, &format!("PRAGMA user_version = {KNOWN}")).await;
    let store = open(&DataLock::acquire(opened.keep.path()).unwrap()).await;
    assert_eq!(store.fence().0, fence.0 + 1);
}

#[tokio::test]
async fn another_chain_is_refused() {
    let opened = fresh().await;
    opened.store.close().await;
    drop(opened.store);
    let folder = opened.keep.path();
    std::fs::rename(folder.join("chain-1.sqlite"), folder.join("chain-100.sqlite")).unwrap();
    let refused = reopen(folder, ChainId(100)).await;
    assert!(matches!(refused, StoreError::OtherChain { found: 1, wanted: 100, .. }), "{refused}");
    let refused = SqliteReader::open(folder, ChainId(100)).await.unwrap_err();
    assert!(matches!(refused, StoreError::OtherChain { .. }), "{refused}");
}

#[tokio::test]
async fn a_file_of_something_else_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("chain-1.sqlite");
    std::fs::write(&path, "not a database, but long enough to look at: ".repeat(100)).unwrap();
    let refused = reopen(folder.path(), CHAIN).await;
    assert!(matches!(&refused, StoreError::Corrupt { path, .. } if path.ends_with("chain-1.sqlite")), "{refused}");
    let refused = SqliteReader::open(folder.path(), CHAIN).await.unwrap_err();
    assert!(matches!(refused, StoreError::Corrupt { .. }), "{refused}");

    std::fs::remove_file(&path).unwrap();
    alter(&path, "CREATE TABLE songs (name TEXT)").await;
    let refused = reopen(folder.path(), CHAIN).await;
    assert!(matches!(&refused, StoreError::Corrupt { reason, .. } if reason.contains("something else")), "{refused}");
    let refused = SqliteReader::open(folder.path(), CHAIN).await.unwrap_err();
    assert!(matches!(refused, StoreError::Corrupt { .. }), "{refused}");
}

#[tokio::test]
async fn a_damaged_chunk_is_an_error_with_its_address() {
    let opened = fresh().await;
    let id = filled(&opened.store).await;
    let chunk = seen(&opened.store, id).await.0[0];
    let sql = "UPDATE chunk_bytes SET bytes = CAST(substr(bytes, 1, 700) || x'a5' || substr(bytes, 702) AS BLOB)";
    alter(opened.store.path(), sql).await;
    let refused = opened.store.read().await.unwrap().chunk(chunk.id).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::Corrupt { reason, .. } if reason.contains(&chunk.id.to_string())),
        "{refused}"
    );
}

/// Bytes that another table's rows would have do not pass for this one's.
#[tokio::test]
async fn a_chunk_belongs_to_its_dataset_table_and_blocks() {
    let opened = fresh().await;
    let (a, b) = (filled(&opened.store).await, opened.store.create_dataset(dataset(2, 10)).await.unwrap());
    let mut part = window(b, None, range(10, 19), 0, 2);
    let first = part.chunks[0].clone();
    part.chunks.push(NewChunk { table: crate::model::TableId::Event(1), ..first });
    opened.store.commit(finals(vec![part], 19)).await.unwrap();
    let mut ids: Vec<_> = [seen(&opened.store, a).await.0, seen(&opened.store, b).await.0].concat();
    assert_eq!(ids.len(), 3);
    ids.dedup_by_key(|chunk| chunk.id);
    assert_eq!(ids.len(), 3);
}

/// A caller that gives up at any point leaves the commit whole or undone, and the store usable.
#[tokio::test]
async fn a_commit_given_up_half_way_is_whole_or_nothing() {
    let opened = fresh().await;
    let store = &opened.store;
    let id = filled(store).await;
    let name = watch(store, id).await;
    let mut done = 19;
    let (mut whole, mut nothing) = (0, 0);
    for polls in 0..60 {
        let part = window(id, Some(block(done, 0)), range(done + 1, done + 1), 0, 2);
        let mut commit = Box::pin(store.commit(finals(vec![part], done + 1)));
        let mut left = polls;
        let finished = poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(false);
            }
            left -= 1;
            commit.as_mut().poll(context).map(|result| result.is_ok())
        })
        .await;
        drop(commit);
        let now = dataset_state(store, id).await.done_to.unwrap();
        // Whatever is still on its way is over once another write got through.
        store.put_endpoint(endpoint("other", id)).await.unwrap();
        let settled = dataset_state(store, id).await.done_to.unwrap();
        assert!(settled == block(done, 0) || settled == block(done + 1, 0));
        assert!(!finished || now == block(done + 1, 0));
        done = settled.number.0;
        if finished {
            whole += 1
        } else {
            nothing += 1
        }
        assert_eq!(read_rows(store, &name).await.1, expected(&[(range(10, done), 0, 2)]));
    }
    assert!(whole > 0 && nothing > 0, "{whole} finished and {nothing} did not: the polls missed the middle");
}

/// A merge that was planned before its dataset was dropped brings nothing back.
#[tokio::test]
async fn a_merge_that_comes_too_late_changes_nothing() {
    let opened = fresh().await;
    let store = &opened.store;
    let id = filled(store).await;
    for number in 20..60 {
        let part = window(id, Some(block(number - 1, 0)), range(number, number), 0, 1);
        store.commit(finals(vec![part], number)).await.unwrap();
    }
    let mut read = store.reader.begin().await.unwrap();
    let jobs = tidy::jobs(read.connection()).await.unwrap();
    drop(read);
    let merged: Vec<_> = jobs.into_iter().map(|job| job.run().unwrap()).collect();
    assert_eq!(merged.len(), 1);
    store.drop_dataset(id).await.unwrap();
    let mut txn = store.begin().await.unwrap();
    let fewer = tidy::swap(txn.connection(), &merged).await;
    assert_eq!(txn.finish(fewer).await.unwrap(), 0);
    assert_eq!(store.sweep().await.unwrap(), 41);
    let again = store.create_dataset(dataset(1, 10)).await.unwrap();
    assert_eq!(seen(store, again).await.0, []);
}

/// Another program that sits in the database is named as what it is, not as damage or a lost lease.
#[tokio::test]
async fn a_database_that_others_keep_locked_is_busy() {
    let opened = fresh().await;
    let path = opened.store.path();
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(Duration::ZERO);
    let (mut holder, mut waiter) = (options.connect().await.unwrap(), options.connect().await.unwrap());
    sqlx::query("BEGIN IMMEDIATE").execute(&mut holder).await.unwrap();
    let refused = sqlx::query("BEGIN IMMEDIATE").execute(&mut waiter).await.unwrap_err();
    let refused = Fail::from(refused).at(path);
    assert!(matches!(&refused, StoreError::Busy { .. }), "{refused}");
    // The store itself waits for its turn.
    let write = opened.store.create_dataset(dataset(1, 10));
    let (written, _) = tokio::join!(write, sqlx::query("COMMIT").execute(&mut holder));
    written.unwrap();
}
