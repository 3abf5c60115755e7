//! Commits.

use std::sync::Arc;

use tokio::sync::Barrier;

use super::world::*;
use crate::model::{BlockNumber, Branch, DatasetId};
use crate::store::{Commit, DatasetCommit, DatasetStatus, HotStore, StoreError};

async fn one(store: &dyn HotStore) -> DatasetId {
    store.create_dataset(dataset(1, 10)).await.unwrap()
}

pub(crate) async fn rows_and_progress_come_back(store: &dyn HotStore) {
    let id = one(store).await;
    let fresh = dataset_state(store, id).await;
    assert_eq!((fresh.done_to, &fresh.status), (None, &DatasetStatus::Active));
    assert_eq!((fresh.tables, fresh.engine.as_str()), (dataset(1, 10).tables, "engine 1"));

    let mut part = window(id, None, range(10, 19), 0, 2);
    part.chunks.push(new_chunk(1, range(12, 12), &rows(range(12, 12), 0, 1)));
    part.chunks.push(ignored_chunk(range(10, 11)));
    store.commit(finals(vec![part], 19)).await.unwrap();
    let part = window(id, Some(block(19, 0)), range(20, 21), 0, 1);
    store.commit(tip(Branch(0), blocks(20, 22, 0), vec![part])).await.unwrap();

    let now = state(store).await;
    assert_eq!(now.final_block, Some(block(19, 0)));
    assert_eq!(now.blocks, blocks(20, 22, 0));
    assert_eq!(now.datasets[0].done_to, Some(block(21, 0)));
    let (chunks, rows) = seen(store, id).await;
    assert_eq!(chunks.iter().map(|chunk| chunk.rows).collect::<Vec<_>>(), [2, 20, 2, 1]);
    assert_eq!(rows.iter().filter(|(table, _)| table.to_i64() == 0).count(), 22);
}

pub(crate) async fn a_repeated_commit_changes_nothing(store: &dyn HotStore) {
    let id = one(store).await;
    store.commit(finals(vec![], 9)).await.unwrap();
    let mut commit = tip(Branch(0), blocks(10, 12, 0), vec![window(id, None, range(10, 12), 0, 2)]);
    commit.final_block = Some(block(10, 0));
    store.commit(commit.clone()).await.unwrap();
    let (before, read) = (state(store).await, seen(store, id).await);
    store.commit(commit.clone()).await.unwrap();
    assert_eq!((state(store).await, seen(store, id).await), (before.clone(), read.clone()));

    // The same window with other rows is not the same commit.
    commit.datasets = vec![window(id, None, range(10, 12), 0, 3)];
    let refused = store.commit(commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::Moved { .. }), "{refused}");
    assert_eq!((state(store).await, seen(store, id).await), (before, read));
}

pub(crate) async fn a_commit_from_elsewhere_is_refused(store: &dyn HotStore) {
    let id = one(store).await;
    store.commit(finals(vec![window(id, None, range(10, 12), 0, 2)], 20)).await.unwrap();
    for from in [None, Some(block(11, 0)), Some(block(12, 1)), Some(block(13, 0))] {
        let part = window(id, from, range(15, 16), 0, 2);
        let refused = store.commit(finals(vec![part], 20)).await.unwrap_err();
        assert!(
            matches!(refused, StoreError::Moved { at, from: given, .. } if at == Some(block(12, 0)) && given == from),
            "{refused}"
        );
    }
    let nobody = window(DatasetId(99), None, range(10, 12), 0, 1);
    let refused = store.commit(finals(vec![nobody], 20)).await.unwrap_err();
    assert!(matches!(refused, StoreError::NoDataset(DatasetId(99))), "{refused}");
}

pub(crate) async fn another_branch_is_refused(store: &dyn HotStore) {
    let id = one(store).await;
    store.commit(finals(vec![], 9)).await.unwrap();
    let commit = tip(Branch(4), blocks(10, 10, 0), vec![window(id, None, range(10, 10), 0, 1)]);
    let refused = store.commit(commit.clone()).await.unwrap_err();
    assert!(matches!(refused, StoreError::WrongBranch { fetched: Branch(4), current: Branch(0) }), "{refused}");
    let refused = store.commit(Commit { branch: None, ..commit }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused}");
    assert_eq!((state(store).await.blocks, seen(store, id).await.1), (vec![], vec![]));
}

pub(crate) async fn final_blocks_need_no_branch(store: &dyn HotStore) {
    let id = one(store).await;
    // A window fetched under a branch that was left since, and final by now.
    let mut commit = finals(vec![window(id, None, range(10, 20), 0, 1)], 20);
    commit.branch = Some(Branch(7));
    store.commit(commit).await.unwrap();
    assert_eq!(dataset_state(store, id).await.done_to, Some(block(20, 0)));
}

pub(crate) async fn blocks_stay_contiguous(store: &dyn HotStore) {
    store.commit(finals(vec![], 9)).await.unwrap();
    let append = |blocks| store.commit(tip(Branch(0), blocks, vec![]));
    for gap in [blocks(11, 12, 0), vec![block(10, 0), block(12, 0)], vec![block(11, 0), block(10, 0)]] {
        let refused = append(gap).await.unwrap_err();
        assert!(matches!(refused, StoreError::Gap { .. }), "{refused}");
    }
    append(blocks(10, 12, 0)).await.unwrap();
    append(blocks(12, 13, 0)).await.unwrap();
    let refused = append(vec![block(13, 1), block(14, 1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Fork { .. }), "{refused}");
    let refused = append(blocks(15, 15, 0)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Gap { last: Some(last), .. } if last == block(13, 0)), "{refused}");
    assert_eq!(state(store).await.blocks, blocks(10, 13, 0));
}

pub(crate) async fn the_final_block_never_falls(store: &dyn HotStore) {
    store.commit(finals(vec![], 9)).await.unwrap();
    store.commit(tip(Branch(0), blocks(10, 14, 0), vec![])).await.unwrap();
    store.commit(finals(vec![], 12)).await.unwrap();
    store.commit(finals(vec![], 11)).await.unwrap();
    let now = state(store).await;
    assert_eq!((now.final_block, now.blocks), (Some(block(12, 0)), blocks(13, 14, 0)));
    // Another block at the final height, or at one the cursor stands on, cannot become final.
    for other in [block(12, 1), block(13, 1)] {
        let refused = store.commit(Commit { final_block: Some(other), ..Commit::default() }).await.unwrap_err();
        assert!(matches!(refused, StoreError::Fork { .. }), "{refused}");
    }
    // A cursor that was away comes back above all it knew.
    let mut commit = tip(Branch(0), blocks(31, 32, 0), vec![]);
    commit.final_block = Some(block(30, 0));
    store.commit(commit).await.unwrap();
    let now = state(store).await;
    assert_eq!((now.final_block, now.blocks), (Some(block(30, 0)), blocks(31, 32, 0)));
}

pub(crate) async fn a_window_ends_on_a_block_of_the_cursor(store: &dyn HotStore) {
    let id = one(store).await;
    store.commit(finals(vec![], 9)).await.unwrap();
    let unknown = tip(Branch(0), blocks(10, 11, 0), vec![window(id, None, range(10, 12), 0, 1)]);
    let refused = store.commit(unknown).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused}");
    for end in [window(id, None, range(10, 11), 1, 1), window(id, None, range(10, 12), 1, 1)] {
        let refused = store.commit(tip(Branch(0), blocks(10, 12, 0), vec![end])).await.unwrap_err();
        assert!(matches!(refused, StoreError::Fork { .. }), "{refused}");
    }
    store.commit(finals(vec![], 12)).await.unwrap();
    let other = finals(vec![window(id, None, range(10, 12), 1, 1)], 12);
    let refused = store.commit(other).await.unwrap_err();
    assert!(matches!(refused, StoreError::Fork { .. }), "{refused}");
}

pub(crate) async fn chunks_stay_in_their_window(store: &dyn HotStore) {
    let id = one(store).await;
    let part = |chunks| DatasetCommit { dataset: id, from: None, done_to: block(20, 0), chunks, sealed: Vec::new() };
    let good = |first, last| new_chunk(0, range(first, last), &rows(range(first, last), 0, 1));
    let mut lying = good(10, 11);
    lying.rows = 7;
    let mut broken = good(10, 11);
    broken.bytes = broken.bytes.slice(..6);
    let cases = [vec![good(9, 11)], vec![good(19, 21)], vec![good(10, 12), good(12, 13)], vec![lying], vec![broken]];
    for chunks in cases {
        let refused = store.commit(finals(vec![part(chunks)], 20)).await.unwrap_err();
        assert!(matches!(refused, StoreError::Refused(_)), "{refused}");
    }
    let twice = vec![part(vec![good(10, 11)]), part(vec![good(12, 13)])];
    let refused = store.commit(finals(twice, 20)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused}");
    // Two chunks of one table side by side are fine, and so are the same blocks in two tables.
    let other = new_chunk(1, range(10, 13), &rows(range(10, 13), 0, 1));
    store.commit(finals(vec![part(vec![good(12, 13), good(10, 11), other])], 20)).await.unwrap();
    assert_eq!(seen(store, id).await.0.len(), 3);
}

pub(crate) async fn a_commit_is_whole_or_nothing(store: &dyn HotStore) {
    let (a, b) = (one(store).await, store.create_dataset(dataset(2, 10)).await.unwrap());
    store.commit(finals(vec![window(b, None, range(10, 12), 0, 1)], 9)).await.unwrap_err();
    store.commit(finals(vec![window(b, None, range(10, 12), 0, 1)], 12)).await.unwrap();
    let before = state(store).await;
    let parts = vec![window(a, None, range(10, 15), 0, 1), window(b, None, range(10, 15), 0, 1)];
    let refused = store.commit(finals(parts, 15)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Moved { dataset, .. } if dataset == b), "{refused}");
    assert_eq!((state(store).await, seen(store, a).await.1), (before, vec![]));
}

pub(crate) async fn a_reader_sees_one_commit(store: &dyn HotStore) {
    let id = one(store).await;
    let name = watch(store, id).await;
    store.commit(finals(vec![window(id, None, range(10, 12), 0, 2)], 12)).await.unwrap();
    let mut old = store.read().await.unwrap();
    store.commit(finals(vec![window(id, Some(block(12, 0)), range(13, 15), 0, 2)], 15)).await.unwrap();
    let snapshot = old.snapshot(&name.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((snapshot.chunks.len(), snapshot.dataset.done_to), (1, Some(block(12, 0))));
    assert_eq!(old.state().await.unwrap().final_block, Some(block(12, 0)));
    assert_eq!(read_rows(store, &name).await.1.len(), 12);
}

pub(crate) async fn readers_beside_a_writer_see_whole_commits(store: &dyn HotStore) {
    let (a, b) = (one(store).await, store.create_dataset(dataset(2, 10)).await.unwrap());
    let (first, second) = (watch(store, a).await, watch(store, b).await);
    // Both datasets move by one block a commit, so a moment in which they differ was never committed.
    let start = Arc::new(Barrier::new(3));
    let writer = async {
        start.wait().await;
        let mut from = None;
        for number in 10..60 {
            let blocks = range(number, number);
            let parts = vec![window(a, from, blocks, 0, 3), window(b, from, blocks, 0, 3)];
            store.commit(finals(parts, number)).await.unwrap();
            from = Some(block(number, 0));
        }
    };
    let reader = || async {
        start.wait().await;
        loop {
            let mut read = store.read().await.unwrap();
            let x = read.snapshot(&first.parse().unwrap()).await.unwrap().unwrap();
            let y = read.snapshot(&second.parse().unwrap()).await.unwrap().unwrap();
            assert_eq!(x.dataset.done_to, y.dataset.done_to);
            assert_eq!(x.dataset.done_to, x.final_block);
            for snapshot in [&x, &y] {
                let done = snapshot.dataset.done_to.map_or(0, |done| done.number.0 - 9);
                assert_eq!(snapshot.chunks.iter().map(|chunk| chunk.rows).sum::<u64>(), done * 3);
            }
            if let Some(last) = x.chunks.last() {
                assert!(read.chunk(last.id).await.unwrap().is_some());
            }
            if x.dataset.done_to.is_some_and(|done| done.number == BlockNumber(59)) {
                break;
            }
        }
    };
    tokio::join!(writer, reader(), reader());
}
