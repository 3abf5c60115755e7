//! Rollbacks.

use super::world::*;
use crate::model::{Branch, DatasetId, TableId};
use crate::store::{Commit, DatasetStatus, HotStore, Rollback, StoreError};

/// A dataset of one window over blocks 10 to 19 in fork 0, final to 9.
async fn at_tip(store: &dyn HotStore, seed: u8, per_block: u64) -> DatasetId {
    let id = store.create_dataset(dataset(seed, 10)).await.unwrap();
    if state(store).await.final_block.is_none() {
        store.commit(finals(vec![], 9)).await.unwrap();
    }
    let part = window(id, None, range(10, 19), 0, per_block);
    store.commit(tip(Branch(0), blocks(10, 19, 0), vec![part])).await.unwrap();
    id
}

/// To fork 1 above block `ancestor`, as far as block 20, with these datasets' rows.
fn to_fork(ancestor: u64, branch: Branch, datasets: &[DatasetId]) -> Rollback {
    let part = |&id: &DatasetId| window(id, Some(block(ancestor, 0)), range(ancestor + 1, 20), 1, 1);
    let parts = datasets.iter().map(part).collect();
    Rollback { ancestor: block(ancestor, 0), replacement: tip(branch, blocks(ancestor + 1, 20, 1), parts) }
}

pub(crate) async fn a_rollback_cuts_the_spanning_chunk(store: &dyn HotStore) {
    let id = at_tip(store, 1, 2).await;
    let part = window(id, Some(block(19, 0)), range(20, 20), 0, 2);
    store.commit(tip(Branch(0), blocks(20, 20, 0), vec![part])).await.unwrap();
    assert_eq!(store.rollback(to_fork(14, Branch(0), &[id])).await.unwrap(), Branch(1));
    let (chunks, rows) = seen(store, id).await;
    assert_eq!(rows, expected(&[(range(10, 14), 0, 2), (range(15, 20), 1, 1)]));
    assert_eq!(chunks.iter().map(|chunk| chunk.range).collect::<Vec<_>>(), [range(10, 14), range(15, 20)]);
    let now = state(store).await;
    assert_eq!(now.branch, Branch(1));
    assert_eq!(now.blocks, [blocks(10, 14, 0), blocks(15, 20, 1)].concat());
    assert_eq!(now.datasets[0].done_to, Some(block(20, 1)));
}

pub(crate) async fn a_rollback_covers_every_dataset(store: &dyn HotStore) {
    let (a, b) = (at_tip(store, 1, 2).await, at_tip(store, 2, 3).await);
    let low = store.create_dataset(dataset(3, 10)).await.unwrap();
    store.commit(tip(Branch(0), vec![], vec![window(low, None, range(10, 12), 0, 1)])).await.unwrap();
    store.quarantine(b, fault(block(9, 0))).await.unwrap();
    store.rollback(to_fork(14, Branch(0), &[a])).await.unwrap();
    // The quarantined one has no replacement: it is cut back and stands still.
    let stood = dataset_state(store, b).await;
    assert_eq!(stood.done_to, Some(block(14, 0)));
    assert_eq!(stood.status, DatasetStatus::Quarantined(fault(block(9, 0))));
    assert_eq!(seen(store, b).await.1, expected(&[(range(10, 14), 0, 3)]));
    assert_eq!(seen(store, a).await.1, expected(&[(range(10, 14), 0, 2), (range(15, 20), 1, 1)]));
    assert_eq!(dataset_state(store, low).await.done_to, Some(block(12, 0)));
    assert_eq!(seen(store, low).await.1, expected(&[(range(10, 12), 0, 1)]));
}

pub(crate) async fn a_rollback_never_undoes_the_final_block(store: &dyn HotStore) {
    let id = at_tip(store, 1, 1).await;
    store.commit(finals(vec![], 12)).await.unwrap();
    let before = (state(store).await, seen(store, id).await);
    for ancestor in [block(11, 0), block(12, 1), block(3, 0)] {
        let refused = store.rollback(Rollback { ancestor, replacement: tip(Branch(0), vec![], vec![]) }).await;
        let refused = refused.unwrap_err();
        assert!(matches!(refused, StoreError::BelowFinal { .. }), "{refused}");
    }
    assert_eq!((state(store).await, seen(store, id).await), before);
    // To the final block itself is as far as it goes.
    store.rollback(to_fork(12, Branch(0), &[id])).await.unwrap();
    assert_eq!(seen(store, id).await.1, expected(&[(range(10, 12), 0, 1), (range(13, 20), 1, 1)]));
}

pub(crate) async fn a_rollback_needs_its_branch(store: &dyn HotStore) {
    let id = at_tip(store, 1, 1).await;
    store.rollback(to_fork(17, Branch(0), &[id])).await.unwrap();
    let before = (state(store).await, seen(store, id).await);
    let refused = store.rollback(to_fork(15, Branch(0), &[id])).await.unwrap_err();
    assert!(matches!(refused, StoreError::WrongBranch { fetched: Branch(0), current: Branch(1) }), "{refused}");
    // And a window fetched before it is refused, even where its blocks would fit.
    let part = window(id, Some(block(20, 1)), range(21, 21), 1, 1);
    let stale = tip(Branch(0), blocks(21, 21, 1), vec![part]);
    let refused = store.commit(stale.clone()).await.unwrap_err();
    assert!(matches!(refused, StoreError::WrongBranch { .. }), "{refused}");
    assert_eq!((state(store).await, seen(store, id).await), before);
    store.commit(Commit { branch: Some(Branch(1)), ..stale }).await.unwrap();
}

pub(crate) async fn a_failed_replacement_cuts_nothing(store: &dyn HotStore) {
    let id = at_tip(store, 1, 2).await;
    let before = (state(store).await, seen(store, id).await);
    let mut moved = to_fork(14, Branch(0), &[id]);
    moved.replacement.datasets[0].from = Some(block(19, 0));
    let mut gap = to_fork(14, Branch(0), &[id]);
    gap.replacement.blocks.remove(0);
    let mut unknown = to_fork(14, Branch(0), &[id]);
    unknown.ancestor = block(14, 5);
    for rollback in [moved, gap, unknown] {
        store.rollback(rollback).await.unwrap_err();
        assert_eq!((state(store).await, seen(store, id).await), before);
    }
}

pub(crate) async fn a_dataset_that_begins_above_the_ancestor_starts_over(store: &dyn HotStore) {
    at_tip(store, 1, 1).await;
    let late = store.create_dataset(dataset(2, 16)).await.unwrap();
    store.commit(tip(Branch(0), vec![], vec![window(late, None, range(16, 19), 0, 2)])).await.unwrap();
    let part = window(late, None, range(16, 20), 1, 1);
    let replacement = tip(Branch(0), blocks(13, 20, 1), vec![part]);
    store.rollback(Rollback { ancestor: block(12, 0), replacement }).await.unwrap();
    assert_eq!(dataset_state(store, late).await.done_to, Some(block(20, 1)));
    assert_eq!(seen(store, late).await.1, expected(&[(range(16, 20), 1, 1)]));

    store.rollback(Rollback { ancestor: block(12, 0), replacement: tip(Branch(1), vec![], vec![]) }).await.unwrap();
    assert_eq!(dataset_state(store, late).await.done_to, None);
    assert_eq!(seen(store, late).await.1, vec![]);
}

pub(crate) async fn a_fault_whose_block_is_gone_is_cleared(store: &dyn HotStore) {
    let (gone, stays) = (at_tip(store, 1, 1).await, at_tip(store, 2, 1).await);
    // The fault lies in the first block that the dataset has not done.
    let behind = store.create_dataset(dataset(3, 10)).await.unwrap();
    store.commit(tip(Branch(0), vec![], vec![window(behind, None, range(10, 14), 0, 1)])).await.unwrap();
    store.quarantine(gone, fault(block(19, 0))).await.unwrap();
    store.quarantine(stays, fault(block(14, 0))).await.unwrap();
    store.quarantine(behind, fault(block(15, 0))).await.unwrap();
    store.rollback(to_fork(14, Branch(0), &[gone, behind])).await.unwrap();
    assert_eq!(dataset_state(store, gone).await.status, DatasetStatus::Active);
    assert_eq!(dataset_state(store, behind).await.status, DatasetStatus::Active);
    assert_eq!(dataset_state(store, stays).await.status, DatasetStatus::Quarantined(fault(block(14, 0))));
}

pub(crate) async fn a_branch_that_comes_back_brings_its_chunks(store: &dyn HotStore) {
    let id = at_tip(store, 1, 1).await;
    let tail = |fork| {
        tip(Branch(fork % 2), blocks(20, 20, fork), vec![window(id, Some(block(19, 0)), range(20, 20), fork, 1)])
    };
    store.commit(tail(0)).await.unwrap();
    let before = seen(store, id).await;
    let other = Rollback { ancestor: block(19, 0), replacement: Commit { branch: Some(Branch(0)), ..tail(1) } };
    store.rollback(other).await.unwrap();
    assert_ne!(seen(store, id).await, before);
    let back = Rollback { ancestor: block(19, 0), replacement: Commit { branch: Some(Branch(1)), ..tail(0) } };
    store.rollback(back).await.unwrap();
    assert_eq!(seen(store, id).await, before);
    // What came back is current again, so the sweep leaves it alone; the other branch goes.
    assert_eq!(store.sweep().await.unwrap(), 1);
    assert_eq!(seen(store, id).await, before);
}

pub(crate) async fn ignored_and_rejected_rows_are_cut_too(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.commit(finals(vec![], 9)).await.unwrap();
    let mut part = window(id, None, range(10, 19), 0, 0);
    part.chunks.push(ignored_chunk(range(10, 19)));
    // Blocks 10 to 16 hold no row of the second table, so nothing of its chunk is left.
    part.chunks.push(new_chunk(1, range(10, 19), &rows(range(17, 19), 0, 1)));
    store.commit(tip(Branch(0), blocks(10, 19, 0), vec![part])).await.unwrap();
    store.rollback(Rollback { ancestor: block(16, 0), replacement: tip(Branch(0), vec![], vec![]) }).await.unwrap();
    let (chunks, _) = seen(store, id).await;
    let left: Vec<_> = chunks.iter().map(|chunk| (chunk.table, chunk.range, chunk.rows)).collect();
    assert_eq!(left, [(TableId::Ignored, range(10, 16), 7)]);
}
