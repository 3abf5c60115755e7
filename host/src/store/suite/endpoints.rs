//! Endpoint rows and datasets.

use super::world::*;
use crate::model::{DatasetId, Endpoint};
use crate::store::{HotStore, NewDataset, StoreError};

async fn names(store: &dyn HotStore) -> Vec<Endpoint> {
    store.read().await.unwrap().endpoints().await.unwrap()
}

pub(crate) async fn epochs_count_changes(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    let first = store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    assert_eq!(first, Endpoint { epoch: 1, ..endpoint("usdc", id) });
    // The caller's epoch means nothing, and an unchanged row is no switch.
    let again = store.put_endpoint(Endpoint { epoch: 40, ..endpoint("usdc", id) }).await.unwrap();
    assert_eq!(again.epoch, 1);
    let changed = Endpoint { manifest: "{\"a\":1}".to_owned(), ..endpoint("usdc", id) };
    assert_eq!(store.put_endpoint(changed.clone()).await.unwrap().epoch, 2);
    assert_eq!(store.put_endpoint(endpoint("dai", id)).await.unwrap().epoch, 1);
    let all = names(store).await;
    assert_eq!(all, [Endpoint { epoch: 1, ..endpoint("dai", id) }, Endpoint { epoch: 2, ..changed }]);
    let mut read = store.read().await.unwrap();
    let snapshot = read.snapshot(&"usdc".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((snapshot.endpoint, snapshot.dataset.id), (all[1].clone(), id));
    assert!(read.snapshot(&"weth".parse().unwrap()).await.unwrap().is_none());
    let nobody = store.put_endpoint(endpoint("weth", DatasetId(99))).await.unwrap_err();
    assert!(matches!(nobody, StoreError::NoDataset(DatasetId(99))), "{nobody}");
}

pub(crate) async fn epochs_outlive_rows(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    store.remove_endpoint(&"usdc".parse().unwrap()).await.unwrap();
    assert_eq!(names(store).await, []);
    store.remove_endpoint(&"usdc".parse().unwrap()).await.unwrap();
    assert_eq!(store.put_endpoint(endpoint("usdc", id)).await.unwrap().epoch, 2);
}

pub(crate) async fn a_named_dataset_is_not_dropped(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.put_endpoint(endpoint("usdc", id)).await.unwrap();
    let refused = store.drop_dataset(id).await.unwrap_err();
    assert!(
        matches!(&refused, StoreError::DatasetInUse { dataset, endpoint } if *dataset == id && endpoint.as_str() == "usdc"),
        "{refused}"
    );
    store.remove_endpoint(&"usdc".parse().unwrap()).await.unwrap();
    store.drop_dataset(id).await.unwrap();
    assert_eq!(state(store).await.datasets, []);
}

pub(crate) async fn a_dropped_dataset_is_gone(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.commit(finals(vec![window(id, None, range(10, 12), 0, 1)], 12)).await.unwrap();
    store.drop_dataset(id).await.unwrap();
    assert!(matches!(store.drop_dataset(id).await.unwrap_err(), StoreError::NoDataset(_)));
    let part = window(id, Some(block(12, 0)), range(13, 13), 0, 1);
    assert!(matches!(store.commit(finals(vec![part], 13)).await.unwrap_err(), StoreError::NoDataset(_)));
    assert!(matches!(store.quarantine(id, fault(block(12, 0))).await.unwrap_err(), StoreError::NoDataset(_)));
    assert!(matches!(store.retry(id).await.unwrap_err(), StoreError::NoDataset(_)));
    assert!(matches!(store.put_endpoint(endpoint("usdc", id)).await.unwrap_err(), StoreError::NoDataset(_)));
}

pub(crate) async fn numbers_are_never_used_again(store: &dyn HotStore) {
    let first = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.drop_dataset(first).await.unwrap();
    store.sweep().await.unwrap();
    let second = store.create_dataset(dataset(1, 10)).await.unwrap();
    assert!(second > first);
    assert_eq!(dataset_state(store, second).await.done_to, None);
}

pub(crate) async fn one_key_is_one_dataset(store: &dyn HotStore) {
    let id = store.create_dataset(dataset(1, 10)).await.unwrap();
    store.commit(finals(vec![window(id, None, range(10, 12), 0, 1)], 12)).await.unwrap();
    let other_nest = NewDataset { nest: "other".parse().unwrap(), ..dataset(1, 10) };
    assert_eq!(store.create_dataset(other_nest).await.unwrap(), id);
    assert_eq!(dataset_state(store, id).await.done_to, Some(block(12, 0)));
    assert_ne!(store.create_dataset(dataset(1, 11)).await.unwrap(), id);
    assert_ne!(store.create_dataset(dataset(2, 10)).await.unwrap(), id);
}

pub(crate) async fn a_backfilled_dataset_is_not_shared(store: &dyn HotStore) {
    let whole = store.create_dataset(dataset(1, 10)).await.unwrap();
    let backfilled = NewDataset { backfill: Some(100), ..dataset(1, 10) };
    let own = store.create_dataset(backfilled.clone()).await.unwrap();
    assert_ne!(own, whole);
    assert_eq!(store.create_dataset(backfilled.clone()).await.unwrap(), own);
    let others = NewDataset { nest: "other".parse().unwrap(), ..backfilled };
    assert_ne!(store.create_dataset(others).await.unwrap(), own);
    assert_eq!(dataset_state(store, own).await.backfill, Some(100));
}
