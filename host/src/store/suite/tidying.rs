//! Merging and sweeping.

use super::world::*;
use crate::model::{Branch, DatasetId, TableId};
use crate::store::{HotStore, MERGED_ROWS, Rollback};

async fn merge_all(store: &dyn HotStore) -> usize {
    let mut gone = 0;
    loop {
        match store.merge().await.unwrap() {
            0 => return gone,
            fewer => gone += fewer,
        }
    }
}

/// Commits one window a block, all final.
async fn one_a_block(store: &dyn HotStore, id: DatasetId, first: u64, last: u64, per_block: u64) {
    let mut from = dataset_state(store, id).await.done_to;
    for number in first..=last {
        store.commit(finals(vec![window(id, from, range(number, number), 0, per_block)], number)).await.unwrap();
        from = Some(block(number, 0));
    }
}

pub(crate) async fn merging_keeps_rows_and_settles(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    one_a_block(store, id, 10, 59, 400).await;
    let (before, rows) = seen(store, id).await;
    let gone = merge_all(store).await;
    let (after, same) = seen(store, id).await;
    assert_eq!(before.len() - after.len(), gone);
    assert_eq!(same, rows);
    assert!(after.iter().all(|chunk| chunk.rows <= MERGED_ROWS), "{after:?}");
    // 20,000 rows are two full chunks and what is left.
    assert_eq!(after[..2].iter().map(|chunk| chunk.rows).collect::<Vec<_>>(), [8_000, 8_000]);
    assert_eq!(merge_all(store).await, 0);
    assert_eq!(seen(store, id).await.0, after);
    // A repeated commit knows its chunk, although it is part of another one now.
    let last = finals(vec![window(id, Some(block(58, 0)), range(59, 59), 0, 400)], 59);
    store.commit(last).await.unwrap();
    assert_eq!(seen(store, id).await.0, after);
}

pub(crate) async fn merging_leaves_what_is_not_final(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    one_a_block(store, id, 10, 49, 1).await;
    let mut from = Some(block(49, 0));
    for number in 50..90 {
        let part = window(id, from, range(number, number), 0, 1);
        store.commit(tip(Branch(0), blocks(number, number, 0), vec![part])).await.unwrap();
        from = Some(block(number, 0));
    }
    merge_all(store).await;
    let (chunks, _) = seen(store, id).await;
    let above: Vec<_> = chunks.iter().filter(|chunk| chunk.range.last.0 > 49).map(|chunk| chunk.range).collect();
    assert_eq!(above, (50..90).map(|number| range(number, number)).collect::<Vec<_>>());
    assert!(chunks.len() < 80, "{}", chunks.len());
    // So a rollback after a merge finds everything above the final block as it was.
    store.rollback(Rollback { ancestor: block(49, 0), replacement: tip(Branch(0), vec![], vec![]) }).await.unwrap();
    assert_eq!(seen(store, id).await.1, expected(&[(range(10, 49), 0, 1)]));
}

pub(crate) async fn a_growing_table_stays_small(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    let name = watch(store, id).await;
    let mut most = 0;
    for number in 10..210 {
        one_a_block(store, id, number, number, 50).await;
        store.merge().await.unwrap();
        let snapshot = store.read().await.unwrap().snapshot(&name.parse().unwrap()).await.unwrap().unwrap();
        most = most.max(snapshot.chunks.len());
    }
    assert!(most <= 36, "{most} chunks");
    assert_eq!(seen(store, id).await.1, expected(&[(range(10, 209), 0, 50)]));
}

pub(crate) async fn retired_bytes_stay_until_the_sweep(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    one_a_block(store, id, 10, 49, 1).await;
    let old = seen(store, id).await.0;
    assert_eq!(store.sweep().await.unwrap(), 0);
    merge_all(store).await;
    let merged = seen(store, id).await;
    let mut read = store.read().await.unwrap();
    for chunk in &old {
        assert!(read.chunk(chunk.id).await.unwrap().is_some());
    }
    drop(read);
    let retired = old.iter().filter(|chunk| !merged.0.contains(chunk)).count();
    assert!(store.sweep().await.unwrap() >= retired);
    assert_eq!(store.sweep().await.unwrap(), 0);
    let mut read = store.read().await.unwrap();
    for chunk in old.iter().filter(|chunk| !merged.0.contains(chunk)) {
        assert!(read.chunk(chunk.id).await.unwrap().is_none());
    }
    drop(read);
    assert_eq!(seen(store, id).await, merged);
}

pub(crate) async fn dropping_frees_everything(store: &dyn HotStore) {
    let (id, other) =
        (store.create_dataset(dataset(1, 10)).await.unwrap(), store.create_dataset(dataset(2, 10)).await.unwrap());
    let parts = vec![window(id, None, range(10, 20), 0, 2), window(other, None, range(10, 20), 0, 2)];
    store.commit(finals(parts, 20)).await.unwrap();
    let chunks = seen(store, id).await.0;
    store.drop_dataset(id).await.unwrap();
    // A query that began before still finds the bytes.
    assert!(store.read().await.unwrap().chunk(chunks[0].id).await.unwrap().is_some());
    assert_eq!(store.sweep().await.unwrap(), 1);
    assert!(store.read().await.unwrap().chunk(chunks[0].id).await.unwrap().is_none());
    assert_eq!(seen(store, other).await.1.len(), 22);
    assert!(seen(store, other).await.1.iter().all(|(table, _)| *table == TableId::Event(0)));
}
