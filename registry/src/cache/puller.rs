//! Cache and registry together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tracing::warn;

use super::{Cache, CacheError, Cached, PullError};
use crate::{BundleHash, NestName, Registry, VerifiedBytes};

/// Gives bundles by address: from the cache if they are there and whole, else from the registry, and then keeps them.
///
/// A pin is enough: no name, version or notice is read from the registry (I12). A damaged entry is replaced, with a
/// warning; a cache that cannot be read or written costs a pull, with a warning. What is returned is its address in
/// every case (I11); whether it is the nest of that name stands in its manifest, and is for the caller to compare.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use nuthatch_registry::{BundleHash, Cache, Key, Puller};
///
/// let folder = tempfile::tempdir()?;
/// let registry = nuthatch_registry::open(folder.path().join("registry").to_str().unwrap())?;
/// let hash = BundleHash::of(b"abc");
/// registry.create(&Key::Bundle(hash), "abc".into()).await?;
///
/// let cache = Cache::at(folder.path().join("cache"));
/// let puller = Puller::new(cache.clone(), Some(registry));
/// assert_eq!(puller.get(&"usdc".parse()?, hash).await?.bytes(), b"abc");
/// let offline = Puller::new(cache, None);
/// assert_eq!(offline.get(&"usdc".parse()?, hash).await?.hash(), hash);
/// # Ok(())
/// # }
/// ```
pub struct Puller {
    cache: Cache,
    registry: Option<Arc<dyn Registry>>,
    /// One pull at a time for each hash: the others wait and then find it in the cache. Spares work and proves nothing.
    under_way: Mutex<HashMap<BundleHash, Weak<tokio::sync::Mutex<()>>>>,
}

impl Puller {
    /// A cache, and the registry that fills it, if there is one.
    pub fn new(cache: Cache, registry: Option<Arc<dyn Registry>>) -> Self {
        Puller { cache, registry, under_way: Mutex::default() }
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// The registry, if there is one.
    pub fn registry(&self) -> Option<&Arc<dyn Registry>> {
        self.registry.as_ref()
    }

    /// The bytes of this bundle.
    pub async fn get(&self, name: &NestName, hash: BundleHash) -> Result<VerifiedBytes, PullError> {
        let turn = self.turn(hash);
        let _mine = turn.lock().await;
        let entry = self.cache.path_of(name, hash);
        match self.load(name, hash).await {
            Ok(Cached::Hit(bytes)) => return Ok(bytes),
            Ok(Cached::Miss) => {}
            Ok(Cached::Damaged { found }) => {
                let found = found.map_or_else(|| "too large for a bundle".to_owned(), |found| found.to_string());
                warn!(
                    nest = %name, bundle = %hash, entry = %entry.display(), %found,
                    "the cache entry is damaged: its bytes are not its address; it is replaced from the registry"
                );
            }
            Err(error) if error.is_refusal() => return Err(error.into()),
            Err(error) => {
                warn!(nest = %name, bundle = %hash, %error, "the cache cannot be read; the bundle is taken from the registry");
            }
        }
        let Some(registry) = &self.registry else {
            let (name, cache) = (name.clone(), self.cache.folder().to_owned());
            return Err(PullError::NoRegistry { name, hash, cache });
        };
        let pulled = registry.pull(hash).await;
        let bytes = pulled.map_err(|problem| PullError::Registry { name: name.clone(), hash, problem })?;
        if let Err(error) = self.keep(name, &bytes).await {
            warn!(
                nest = %name, bundle = %hash, %error,
                "the bundle cannot be kept in the cache; it is used as it came from the registry, and fetched again next time"
            );
        }
        Ok(bytes)
    }

    async fn load(&self, name: &NestName, hash: BundleHash) -> Result<Cached, CacheError> {
        let (cache, name) = (self.cache.clone(), name.clone());
        self.blocking("read", move || cache.load(&name, hash)).await
    }

    async fn keep(&self, name: &NestName, bytes: &VerifiedBytes) -> Result<(), CacheError> {
        let (cache, name, bytes) = (self.cache.clone(), name.clone(), bytes.clone());
        self.blocking("write", move || cache.keep(&name, &bytes)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        doing: &'static str,
        work: impl FnOnce() -> Result<T, CacheError> + Send + 'static,
    ) -> Result<T, CacheError> {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(CacheError::io(doing, self.cache.folder().to_owned(), &error.into())))
    }

    fn turn(&self, hash: BundleHash) -> Arc<tokio::sync::Mutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = under_way.get(&hash).and_then(Weak::upgrade) {
            return turn;
        }
        under_way.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(tokio::sync::Mutex::new(()));
        under_way.insert(hash, Arc::downgrade(&turn));
        turn
    }
}
