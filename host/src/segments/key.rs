//! The keys of segments: content-addressed, and of one upload each.

use crate::model::{ContentHash, DatasetKey};
use crate::store::StoreId;

/// A new key for a file of this content: `<store id>/<data identity>/<first block>/<table>/<BLAKE3>-<8 hex>.parquet`.
/// The random end keeps an upload from ever writing where another one's file was deleted.
pub fn key(store: StoreId, dataset: DatasetKey, table: &str, hash: ContentHash) -> String {
    let end = hex::encode(rand::random::<[u8; 4]>());
    format!("{}/{}/{}/{table}/{hash}-{end}.parquet", store_folder(store), dataset.identity, dataset.first_block)
}

/// The folder of all segments of one store, which alone may delete in it.
pub fn store_folder(store: StoreId) -> String {
    store.to_string()
}
