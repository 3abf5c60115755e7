//! Endpoints: which cursor's store answers a name, and what it offers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::QueryError;
use super::names::nearest;
use super::sealed::SegmentFiles;
use super::tables::Catalog;
use crate::model::{ChainId, DatasetId, Endpoint, NestName};
use crate::store::{CursorState, HotReader, ReadTxn, Snapshot};

/// One cursor's rows: the hot half, and where the files of the sealed one are read.
#[derive(Clone)]
pub struct Halves {
    /// The hot store.
    pub reader: Arc<dyn HotReader>,
    /// Files of segments.
    pub files: Option<Arc<SegmentFiles>>,
}

/// The stores of all cursors, and what was learned about their endpoints.
pub struct Catalogs {
    stores: Vec<Halves>,
    known: Mutex<HashMap<NestName, Known>>,
}

struct Known {
    reader: usize,
    chain: ChainId,
    dataset: DatasetId,
    epoch: u64,
    catalog: Arc<Catalog>,
}

/// One query's view of an endpoint; the read goes on until `txn` is dropped.
pub struct Opened {
    /// The store that answers.
    pub store: Halves,
    /// The read that the snapshot was taken in.
    pub txn: Box<dyn ReadTxn>,
    /// What the query sees.
    pub snapshot: Snapshot,
    /// Its tables and views.
    pub catalog: Arc<Catalog>,
}

impl Catalogs {
    /// Over these stores.
    pub fn new(stores: Vec<Halves>) -> Self {
        Catalogs { stores, known: Mutex::default() }
    }

    /// Begins a read of the store that has this endpoint.
    pub async fn open(&self, name: &NestName) -> Result<Opened, QueryError> {
        let hint = self.lock().get(name).map(|known| known.reader);
        let others = (0..self.stores.len()).filter(|&place| Some(place) != hint);
        for place in hint.into_iter().chain(others) {
            let store = &self.stores[place];
            let mut txn = store.reader.read().await?;
            if let Some(snapshot) = txn.snapshot(name).await? {
                let catalog = self.catalog(place, &snapshot);
                return Ok(Opened { store: store.clone(), txn, snapshot, catalog });
            }
        }
        self.lock().remove(name);
        Err(self.no_such(name).await?)
    }

    /// All endpoints of all cursors with their cursor's state, by name.
    pub async fn all(&self) -> Result<Vec<(Endpoint, Arc<CursorState>)>, QueryError> {
        let mut all = Vec::new();
        for store in &self.stores {
            let mut txn = store.reader.read().await?;
            let state = Arc::new(txn.state().await?);
            all.extend(txn.endpoints().await?.into_iter().map(|endpoint| (endpoint, Arc::clone(&state))));
        }
        all.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        Ok(all)
    }

    async fn no_such(&self, name: &NestName) -> Result<QueryError, QueryError> {
        let all = self.all().await?;
        let names: Vec<&str> = all.iter().map(|(endpoint, _)| endpoint.name.as_str()).collect();
        let hint = match nearest(name.as_str(), names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None if names.is_empty() => "no nest is served yet".to_owned(),
            None => format!("there are {}", names.join(", ")),
        };
        Ok(QueryError::NoSuchNest { name: name.clone(), hint: Some(hint) })
    }

    /// The snapshot's catalog: the one at hand while neither pin nor dataset changed.
    fn catalog(&self, reader: usize, snapshot: &Snapshot) -> Arc<Catalog> {
        let endpoint = &snapshot.endpoint;
        let mut known = self.lock();
        if let Some(known) = known.get(&endpoint.name)
            && (known.reader, known.chain) == (reader, snapshot.chain_id)
            && (known.dataset, known.epoch) == (snapshot.dataset.id, endpoint.epoch)
        {
            return Arc::clone(&known.catalog);
        }
        let catalog = Arc::new(Catalog::of(snapshot));
        let (chain, dataset, epoch) = (snapshot.chain_id, snapshot.dataset.id, endpoint.epoch);
        known.insert(endpoint.name.clone(), Known { reader, chain, dataset, epoch, catalog: Arc::clone(&catalog) });
        catalog
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<NestName, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
