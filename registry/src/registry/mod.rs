//! The registry: bundles by address, records of versions, notices about them.
//!
//! A backend is three plain operations, [`Registry`]. Everything a user does stands on those, as methods of
//! `dyn Registry`, so that every backend does it alike: [`publish`](trait.Registry.html#method.publish),
//! [`pull`](trait.Registry.html#method.pull), [`resolve`](trait.Registry.html#method.resolve),
//! [`versions`](trait.Registry.html#method.versions), [`notify`](trait.Registry.html#method.notify),
//! [`verify`](trait.Registry.html#method.verify).

mod error;
mod layout;
mod list;
mod notices;
mod objects;
mod publish;
mod pull;
mod resolve;
mod verify;

use async_trait::async_trait;
use bytes::Bytes;

pub use error::RegistryError;
pub use layout::{Key, Shelf};
pub use list::PublishedVersion;
pub use notices::{NotifyError, Standing};
pub use objects::{Patience, RegistryOptions, open, open_existing};
pub use publish::{CheckedBundle, PublishError, Published, Shortfall, Side};
pub use pull::VerifiedBytes;
pub use resolve::{Pick, ResolveError};
pub use verify::{Note, Problem, Verification};

/// A place that keeps bundles and what is said about them.
///
/// What every backend guarantees:
///
/// - An object is written once. Of several that create one key at once, one is told [`Created::New`] and its bytes are
///   what stands there from then on; nothing ever overwrites it. This alone decides who publishes a version.
/// - An object is read whole or not at all, and at most as many bytes as the reader allows.
/// - What `create` returned for, new or taken, outlives a crash. So what is written next may rest on it: a version's
///   record is written after its bundle, and a crash between leaves a bundle that no record names, which harms nobody.
/// - A listing shows what was there when it began. It may show names that are no object of a registry.
///
/// Nothing is deleted through it: a version, once used, is never free again.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), nuthatch_registry::RegistryError> {
/// use nuthatch_registry::{BundleHash, Created, Key};
///
/// let folder = tempfile::tempdir().unwrap();
/// let registry = nuthatch_registry::open(folder.path().to_str().unwrap())?;
/// let key = Key::Bundle(BundleHash::of(b"abc"));
/// assert_eq!(registry.create(&key, "abc".into()).await?, Created::New);
/// assert_eq!(registry.create(&key, "other".into()).await?, Created::Taken);
/// assert_eq!(registry.read(&key, 1_000).await?, b"abc");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Registry: Send + Sync {
    /// What messages call it: its URL or folder, without credentials.
    fn name(&self) -> &str;

    /// Writes an object if there is none under its key.
    async fn create(&self, key: &Key, bytes: Bytes) -> Result<Created, RegistryError>;

    /// Reads an object. One that is larger than `max` is refused without being read to its end.
    async fn read(&self, key: &Key, max: usize) -> Result<Vec<u8>, RegistryError>;

    /// The names on a shelf, in no order, each once.
    async fn list(&self, shelf: &Shelf) -> Result<Vec<String>, RegistryError>;
}

/// What came of creating an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// It was not there, and is now.
    New,
    /// The key is taken; what stands there is untouched.
    Taken,
}

impl dyn Registry + '_ {
    /// An error of [`RegistryError::Record`].
    fn refused(&self, key: &Key, problem: crate::BadRecord) -> RegistryError {
        RegistryError::Record { what: key.to_string(), registry: self.name().to_owned(), problem }
    }
}
