//! Who may write: I1, I2, I3, and the lock.

use std::process::{Command, Stdio};

use super::*;
use crate::model::{Branch, Fence};
use crate::store::suite::world::*;
use crate::store::{Commit, Rollback, StoreError};

#[tokio::test]
async fn each_opening_counts_the_fence_up() {
    let folder = TempDir::new().unwrap();
    let lock = DataLock::acquire(folder.path()).unwrap();
    for fence in 1..4 {
        let store = open(&lock).await;
        assert_eq!((store.fence(), state(&store).await.fence), (Fence(fence), Fence(fence)));
        store.close().await;
    }
}

/// I2: nobody is first by luck.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_first_openings_come_one_after_the_other() {
    let folder = TempDir::new().unwrap();
    let lock = DataLock::acquire(folder.path()).unwrap();
    let start = Arc::new(tokio::sync::Barrier::new(4));
    let claims: Vec<_> = (0..4)
        .map(|_| {
            let (lock, start) = (lock.clone(), start.clone());
            tokio::spawn(async move {
                start.wait().await;
                open(&lock).await
            })
        })
        .collect();
    let mut stores = Vec::new();
    for claim in claims {
        stores.push(claim.await.unwrap());
    }
    stores.sort_by_key(|store| store.fence());
    assert_eq!(stores.iter().map(|store| store.fence().0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    for (place, store) in stores.iter().enumerate() {
        let written = store.create_dataset(dataset(1, 10)).await;
        assert_eq!(written.is_ok(), place == 3, "{written:?}");
    }
}

/// I1: with the lock file gone a second process gets in, and from then on no write of the first one goes through.
#[tokio::test]
async fn the_fence_refuses_every_write_of_the_one_before() {
    let folder = TempDir::new().unwrap();
    let first = open(&DataLock::acquire(folder.path()).unwrap()).await;
    let id = filled(&first).await;
    // Something to merge and something to sweep, so that both would write.
    for number in 20..60 {
        let part = window(id, Some(block(number - 1, 0)), range(number, number), 0, 1);
        first.commit(finals(vec![part], number)).await.unwrap();
    }
    let idle = first.create_dataset(dataset(2, 10)).await.unwrap();
    first.put_endpoint(endpoint("usdc", id)).await.unwrap();
    std::fs::remove_file(folder.path().join("lock")).unwrap();
    let second = open(&DataLock::acquire(folder.path()).unwrap()).await;
    let before = state(&second).await;

    let part = window(id, Some(block(59, 0)), range(60, 60), 0, 1);
    let rollback = Rollback { ancestor: block(59, 0), replacement: tip(Branch(0), vec![], vec![]) };
    let refused = [
        ("commit", first.commit(finals(vec![part.clone()], 60)).await.unwrap_err()),
        ("empty commit", first.commit(Commit::default()).await.unwrap_err()),
        ("rollback", first.rollback(rollback).await.unwrap_err()),
        ("create", first.create_dataset(dataset(3, 10)).await.unwrap_err()),
        ("create again", first.create_dataset(dataset(1, 10)).await.unwrap_err()),
        ("drop", first.drop_dataset(idle).await.unwrap_err()),
        ("quarantine", first.quarantine(id, fault(block(60, 0))).await.unwrap_err()),
        ("retry", first.retry(id).await.unwrap_err()),
        ("halt", first.set_halted(Some("no".to_owned())).await.unwrap_err()),
        ("go on", first.set_halted(None).await.unwrap_err()),
        ("rebuild", first.rebuild(None).await.unwrap_err()),
        ("put endpoint", first.put_endpoint(endpoint("dai", id)).await.unwrap_err()),
        ("put endpoint again", first.put_endpoint(endpoint("usdc", id)).await.unwrap_err()),
        ("remove endpoint", first.remove_endpoint(&"usdc".parse().unwrap()).await.unwrap_err()),
        ("forget keys", first.forget_keys(vec!["key".to_owned()]).await.unwrap_err()),
        ("fork", first.fork().await.unwrap_err()),
        ("merge", first.merge().await.unwrap_err()),
    ];
    for (what, error) in refused {
        match &error {
            StoreError::LostOwnership { held: Fence(1), current: Fence(2), holder } => {
                assert!(holder.contains(&format!("process {}", std::process::id())), "{what}: {error}");
            }
            _ => panic!("{what}: {error}"),
        }
    }
    assert_eq!(state(&second).await, before);
    second.commit(finals(vec![part], 60)).await.unwrap();
    assert!(second.merge().await.unwrap() > 0);
    let error = first.sweep().await.unwrap_err();
    assert!(matches!(error, StoreError::LostOwnership { .. }), "sweep: {error}");
    assert!(second.sweep().await.unwrap() > 0);
}

/// A fence alone would let a process of the same number write, say after the database was copied back.
#[tokio::test]
async fn the_owner_counts_as_much_as_the_fence() {
    let opened = fresh().await;
    alter(opened.store.path(), "UPDATE meta SET value = 'somebody else' WHERE key = 'lease_owner'").await;
    let error = opened.store.create_dataset(dataset(1, 10)).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::LostOwnership { held: Fence(1), current: Fence(1), holder } if holder == "somebody else"),
        "{error}"
    );
}

#[test]
fn a_second_process_is_refused_with_the_holders_pid() {
    let folder = TempDir::new().unwrap();
    let lock = DataLock::acquire(folder.path()).unwrap();
    let refused = DataLock::acquire(folder.path()).unwrap_err();
    assert!(matches!(&refused, StoreError::InUse { pid, .. } if *pid == std::process::id()), "{refused}");
    drop(lock);
    DataLock::acquire(folder.path()).unwrap();
}

/// Close-on-exec: a program that we start must not keep the folder locked when we are gone.
#[test]
fn a_child_does_not_inherit_the_lock() {
    let folder = TempDir::new().unwrap();
    let lock = DataLock::acquire(folder.path()).unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(lock);
    let again = DataLock::acquire(folder.path());
    // Its input is still open, so it was alive throughout.
    assert!(child.try_wait().unwrap().is_none());
    again.unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[tokio::test]
async fn chains_share_the_folder_and_its_lock() {
    let folder = TempDir::new().unwrap();
    let lock = DataLock::acquire(folder.path()).unwrap();
    let (one, other) =
        (open(&lock).await, SqliteStore::open(&lock, ChainId(100), SqliteOptions::default()).await.unwrap());
    filled(&one).await;
    assert_eq!(state(&other).await.datasets, []);
    drop(lock);
    // The stores keep the folder locked.
    assert!(matches!(DataLock::acquire(folder.path()), Err(StoreError::InUse { .. })));
    drop((one, other));
    DataLock::acquire(folder.path()).unwrap();
}
