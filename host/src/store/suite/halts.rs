//! Quarantine, halt and rebuild.

use super::world::*;
use crate::model::{Branch, DatasetId, Endpoint};
use crate::store::{DatasetStatus, HotStore, Rollback, StoreError};

pub(crate) async fn a_quarantined_dataset_stands_still(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.commit(finals(vec![window(id, None, range(10, 12), 0, 1)], 20)).await.unwrap();
    store.quarantine(id, fault(block(13, 0))).await.unwrap();
    let stands = dataset_state(store, id).await;
    assert_eq!(stands.status, DatasetStatus::Quarantined(fault(block(13, 0))));
    assert_eq!(stands.done_to, Some(block(12, 0)));
    let next = finals(vec![window(id, Some(block(12, 0)), range(13, 14), 0, 1)], 20);
    let refused = store.commit(next.clone()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Quarantined { .. }), "{refused}");
    store.retry(id).await.unwrap();
    store.commit(next).await.unwrap();
    let stands = dataset_state(store, id).await;
    assert_eq!((stands.status, stands.done_to), (DatasetStatus::Active, Some(block(14, 0))));
}

pub(crate) async fn a_halted_cursor_stands_still(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    let name = watch(store, id).await;
    store.commit(finals(vec![], 9)).await.unwrap();
    let commit = tip(Branch(0), blocks(10, 12, 0), vec![window(id, None, range(10, 12), 0, 1)]);
    store.commit(commit).await.unwrap();
    store.set_halted(Some("block 9 is another one now".to_owned())).await.unwrap();
    let next = tip(Branch(0), blocks(13, 13, 0), vec![window(id, Some(block(12, 0)), range(13, 13), 0, 1)]);
    let refused = store.commit(next.clone()).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Halted { reason } if reason.contains("block 9")), "{refused}");
    let back = Rollback { ancestor: block(11, 0), replacement: tip(Branch(0), vec![], vec![]) };
    assert!(matches!(store.rollback(back).await.unwrap_err(), StoreError::Halted { .. }));
    // It keeps serving, and says why it stands.
    let snapshot = store.read().await.unwrap().snapshot(&name.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(snapshot.halted.as_deref(), Some("block 9 is another one now"));
    assert_eq!((snapshot.chunks.len(), snapshot.head), (1, Some(block(12, 0))));
    store.set_halted(None).await.unwrap();
    store.commit(next).await.unwrap();
    assert_eq!(state(store).await.halted, None);
}

fn find(state: &crate::store::CursorState, seed: u8) -> DatasetId {
    state.datasets.iter().find(|dataset| dataset.key.identity.0 == [seed; 32]).unwrap().id
}

pub(crate) async fn rebuild_starts_again_above_the_fork(store: &dyn HotStore) {
    let low = store.create_dataset(dataset(1, 10)).await.unwrap();
    let high = store.create_dataset(dataset(2, 10)).await.unwrap();
    let lying = store.create_dataset(dataset(3, 10)).await.unwrap();
    let parts = vec![window(low, None, range(10, 14), 0, 1), window(high, None, range(10, 20), 0, 1)];
    store.commit(finals(parts, 20)).await.unwrap();
    // Stands at the ancestor's height on another block.
    store.commit(finals(vec![window(lying, None, range(10, 15), 4, 1)], 20)).await.unwrap();
    store.commit(tip(Branch(0), blocks(21, 22, 0), vec![])).await.unwrap();
    let served = store.put_endpoint(endpoint("usdc", high)).await.unwrap();
    let untouched = store.put_endpoint(endpoint("dai", low)).await.unwrap();
    store.quarantine(low, fault(block(16, 0))).await.unwrap();
    store.set_halted(Some("forked below the final block".to_owned())).await.unwrap();

    let refused = store.rebuild(Some(block(21, 0))).await.unwrap_err();
    assert!(matches!(refused, StoreError::Refused(_)), "{refused}");
    store.rebuild(Some(block(15, 0))).await.unwrap();
    let now = state(store).await;
    assert_eq!((now.final_block, &now.blocks, &now.halted), (Some(block(15, 0)), &vec![], &None));
    assert_eq!(now.branch, Branch(1));
    assert_eq!(find(&now, 1), low);
    let kept = dataset_state(store, low).await;
    assert_eq!((kept.done_to, kept.status), (Some(block(14, 0)), DatasetStatus::Active));
    let (again, other) = (find(&now, 2), find(&now, 3));
    assert!(again > lying && other > lying);
    let fresh = dataset_state(store, again).await;
    assert_eq!((fresh.done_to, fresh.tables), (None, dataset(2, 10).tables));
    let endpoints = store.read().await.unwrap().endpoints().await.unwrap();
    assert_eq!(endpoints, [untouched, Endpoint { dataset: again, epoch: served.epoch + 1, ..served }]);
    assert_eq!(seen(store, again).await.1, vec![]);
    store.commit(finals(vec![window(again, None, range(10, 15), 0, 1)], 15)).await.unwrap();
    assert_eq!(seen(store, again).await.1, expected(&[(range(10, 15), 0, 1)]));
}

pub(crate) async fn rebuild_from_nothing(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    let idle = store.create_dataset(dataset(2, 10)).await.unwrap();
    store.commit(finals(vec![window(id, None, range(10, 14), 0, 1)], 14)).await.unwrap();
    store.rebuild(None).await.unwrap();
    let now = state(store).await;
    assert_eq!((now.final_block, now.datasets.len(), find(&now, 2)), (None, 2, idle));
    assert!(find(&now, 1) > id);
}
