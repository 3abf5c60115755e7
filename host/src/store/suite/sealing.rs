//! The catalogue of sealed history.

use super::world::*;
use crate::model::{BlockNumber, BlockRange, ContentHash, DatasetId, TableId};
use crate::store::{
    ChunkMeta, HotStore, KEY_GRACE, NewChunk, SEAL_WITHIN, Seal, SealOutcome, SegmentMeta, StoreError, StoreTime, chunk,
};

/// Blocks 10 to 29 with two rows each, final up to 24, in chunks of five blocks.
async fn begun(store: &dyn HotStore) -> DatasetId {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    let mut from = None;
    for first in [10, 15, 20] {
        store.commit(finals(vec![window(id, from, range(first, first + 4), 0, 2)], first + 4)).await.unwrap();
        from = Some(block(first + 4, 0));
    }
    let part = window(id, from, range(25, 29), 0, 2);
    store.commit(tip(crate::model::Branch(0), blocks(25, 29, 0), vec![part])).await.unwrap();
    id
}

async fn now(store: &dyn HotStore) -> StoreTime {
    store.read().await.unwrap().now().await.unwrap()
}

async fn table(store: &dyn HotStore, id: DatasetId) -> Vec<ChunkMeta> {
    let mut chunks = store.read().await.unwrap().chunks(id).await.unwrap();
    chunks.retain(|chunk| chunk.table == TableId::Event(0));
    chunks
}

/// A seal of the first chunks of the table, cut after this block.
async fn seal(store: &dyn HotStore, id: DatasetId, last: u64, key: &str) -> Seal {
    let schema = dataset_state(store, id).await.table_schema(TableId::Event(0)).unwrap();
    let mut sources = table(store, id).await;
    sources.retain(|chunk| chunk.range.first.0 <= last);
    let mut rows = Vec::new();
    let mut read = store.read().await.unwrap();
    for source in &sources {
        rows.push(chunk::decode(&schema, read.chunk(source.id).await.unwrap().unwrap()).unwrap());
    }
    let all = chunk::concat(&schema, &rows).unwrap();
    let count = chunk::blocks(&all).unwrap().partition_point(|block| *block <= last);
    let rest: Option<NewChunk> = chunk::of(TableId::Event(0), &all.slice(count, all.num_rows() - count)).unwrap();
    let range = BlockRange::new(sources[0].range.first, BlockNumber(last)).unwrap();
    let (rows, hash) = (count as u64, ContentHash::of(key.as_bytes()));
    let segment = SegmentMeta { table: TableId::Event(0), range, rows, bytes: 1, hash, key: key.to_owned() };
    Seal {
        dataset: id,
        segment,
        sealed_to: BlockNumber(last),
        sources,
        rest,
        tree: bytes::Bytes::from_static(b"tree"),
        began_at: now(store).await,
    }
}

/// I6, I7: rows move from hot to sealed, whole and once.
pub(crate) async fn a_seal_moves_its_rows_once(store: &dyn HotStore) {
    let id = begun(store).await;
    let name = watch(store, id).await.parse().unwrap();
    let first = seal(store, id, 17, "one").await;
    assert_eq!((first.segment.rows, first.rest.as_ref().map(|rest| rest.rows)), (16, Some(4)));
    assert_eq!(store.seal(first.clone()).await.unwrap(), SealOutcome::Sealed);
    assert_eq!(store.seal(first.clone()).await.unwrap(), SealOutcome::Stale);
    let again = Seal { segment: SegmentMeta { key: "one again".to_owned(), ..first.segment.clone() }, ..first.clone() };
    assert_eq!(store.seal(again).await.unwrap(), SealOutcome::Stale);
    let second = seal(store, id, 24, "two").await;
    assert_eq!(second.segment.range, range(18, 24));
    assert_eq!(store.seal(second.clone()).await.unwrap(), SealOutcome::Sealed);
    let snapshot = store.read().await.unwrap().snapshot(&name).await.unwrap().unwrap();
    assert_eq!(snapshot.segments, [first.segment, second.segment]);
    assert_eq!(snapshot.rows(TableId::Event(0)), 40);
    assert_eq!(table(store, id).await.iter().map(|chunk| chunk.range).collect::<Vec<_>>(), [range(25, 29)]);
    assert_eq!(seen(store, id).await.1, expected(&[(range(25, 29), 0, 2)]));
}

/// I9: what a reorg can still touch is never sealed.
pub(crate) async fn only_final_rows_are_sealed(store: &dyn HotStore) {
    let id = begun(store).await;
    let early = seal(store, id, 25, "early").await;
    assert!(matches!(store.seal(early).await, Err(StoreError::Refused(_))));
    let mut short = seal(store, id, 17, "short").await;
    short.segment.rows -= 1;
    assert!(matches!(store.seal(short).await, Err(StoreError::Refused(_))));
    let due = seal(store, id, 17, "halted").await;
    store.set_halted(Some("two chains".to_owned())).await.unwrap();
    assert!(matches!(store.seal(due.clone()).await, Err(StoreError::Halted { .. })));
    store.set_halted(None).await.unwrap();
    assert_eq!(table(store, id).await.len(), 4);
    assert_eq!(store.seal(due).await.unwrap(), SealOutcome::Sealed);
}

/// An upload that took too long may be garbage by now.
pub(crate) async fn an_upload_that_took_too_long_is_not_named(store: &dyn HotStore) {
    let id = begun(store).await;
    let mut late = seal(store, id, 17, "late").await;
    assert!(SEAL_WITHIN * 2 < KEY_GRACE);
    late.began_at = StoreTime(late.began_at.0 - SEAL_WITHIN.as_millis() as i64);
    assert_eq!(store.seal(late).await.unwrap(), SealOutcome::Expired);
    assert_eq!(table(store, id).await.len(), 4);
    assert!(store.read().await.unwrap().segments(id).await.unwrap().is_empty());
}

/// The keys of what is dropped or begun again are known, so that their objects can go a day later.
pub(crate) async fn keys_outlive_their_dataset(store: &dyn HotStore) {
    let id = begun(store).await;
    store.seal(seal(store, id, 17, "one").await).await.unwrap();
    let before = now(store).await;
    store.rebuild(Some(block(12, 0))).await.unwrap();
    let mut read = store.read().await.unwrap();
    assert!(read.segments(id).await.unwrap().is_empty());
    let dropped = read.dropped_keys().await.unwrap();
    assert_eq!(dropped.iter().map(|it| it.key.as_str()).collect::<Vec<_>>(), ["one"]);
    assert!(dropped[0].dropped_at >= before);
    drop(read);
    store.forget_keys(vec!["one".to_owned()]).await.unwrap();
    assert!(store.read().await.unwrap().dropped_keys().await.unwrap().is_empty());
}

/// A copy's name is its own, and what it had stays readable.
pub(crate) async fn a_fork_has_another_name_and_the_same_rows(store: &dyn HotStore) {
    let id = begun(store).await;
    store.seal(seal(store, id, 12, "dropped").await).await.unwrap();
    store.rebuild(Some(block(11, 0))).await.unwrap();
    let id = store.read().await.unwrap().state().await.unwrap().datasets[0].id;
    let part = window(id, None, range(10, 24), 0, 2);
    store.commit(finals(vec![part], 24)).await.unwrap();
    store.seal(seal(store, id, 17, "one").await).await.unwrap();
    let mut read = store.read().await.unwrap();
    let (name, segments) = (read.store_id().await.unwrap(), read.segments(id).await.unwrap());
    assert_eq!((segments.len(), read.dropped_keys().await.unwrap().len()), (1, 1));
    drop(read);
    let forked = store.fork().await.unwrap();
    let mut read = store.read().await.unwrap();
    assert_eq!(read.store_id().await.unwrap(), forked);
    assert_ne!(forked, name);
    assert_eq!(read.segments(id).await.unwrap(), segments);
    assert!(read.dropped_keys().await.unwrap().is_empty());
}
