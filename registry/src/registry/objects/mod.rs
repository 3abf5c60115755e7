//! The registry over an object store: a folder, or a bucket of an S3-compatible store.

mod bucket;
mod connector;
mod failure;
mod open;
mod read;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt;
use object_store::ObjectStore;
use object_store::path::Path as ObjectPath;
use tokio::sync::OnceCell;

pub use open::{RegistryOptions, open, open_existing};

use super::{Created, Key, Registry, RegistryError, Shelf};
use crate::durable;

/// Most names on one shelf.
const MAX_LISTED: usize = 100_000;

/// How long a registry may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the beginning of an answer, and for each further piece of it.
    pub answer: Duration,
    /// For one whole operation, retries counted.
    pub whole: Duration,
    /// How often a request is tried again where that can help: on 5xx, 429, a lost connection, no answer.
    pub retries: usize,
    /// How long after the first try a last one may begin.
    pub retry_for: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            answer: Duration::from_secs(10),
            whole: Duration::from_secs(120),
            retries: 3,
            retry_for: Duration::from_secs(10),
        }
    }
}

pub(super) struct ObjectRegistry {
    name: String,
    objects: Arc<dyn ObjectStore>,
    patience: Patience,
    writing: Writing,
}

enum Writing {
    /// Past the object store, which does not sync.
    Folder(PathBuf),
    /// With a condition; the cell is set once the store has shown that it keeps it.
    Bucket(OnceCell<()>),
}

#[async_trait]
impl Registry for ObjectRegistry {
    fn name(&self) -> &str {
        &self.name
    }

    async fn create(&self, key: &Key, bytes: Bytes) -> Result<Created, RegistryError> {
        let task = failure::Task { doing: "write", what: key, registry: &self.name };
        match &self.writing {
            Writing::Folder(folder) => {
                let path = folder.join(key.to_string());
                let written = tokio::task::spawn_blocking(move || durable::write_new(&path, &bytes)).await;
                match written.map_err(|error| task.failed(error.to_string()))? {
                    Ok(()) => Ok(Created::New),
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(Created::Taken),
                    Err(error) => Err(task.io(&error)),
                }
            }
            Writing::Bucket(honest) => self.create_in_bucket(task, honest, key, bytes).await,
        }
    }

    async fn read(&self, key: &Key, max: usize) -> Result<Vec<u8>, RegistryError> {
        let task = failure::Task { doing: "read", what: key, registry: &self.name };
        task.within(self.patience.whole, self.read_capped(task, key, max)).await
    }

    async fn list(&self, shelf: &Shelf) -> Result<Vec<String>, RegistryError> {
        let task = failure::Task { doing: "list", what: shelf, registry: &self.name };
        task.within(self.patience.whole, async {
            let prefix = ObjectPath::from(shelf.to_string());
            let mut found = self.objects.list(Some(&prefix));
            let mut names = BTreeSet::new();
            while let Some(meta) = found.try_next().await.map_err(|error| task.store(&error))? {
                // A server may answer with keys that were not asked for.
                if let Some(mut below) = meta.location.prefix_match(&prefix)
                    && let Some(first) = below.next()
                    && (below.next().is_none() || *shelf == Shelf::Nests)
                {
                    names.insert(first.as_ref().to_owned());
                }
                if names.len() > MAX_LISTED {
                    let (what, registry) = (shelf.to_string(), self.name.clone());
                    return Err(RegistryError::TooMany { what, registry, max: MAX_LISTED });
                }
            }
            Ok(names.into_iter().collect())
        })
        .await
    }
}
