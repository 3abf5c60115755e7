//! Fetching a bundle by its address. No name, version or notice is read on the way (I12).

use std::fmt;

use bytes::Bytes;

use super::{Key, Registry, RegistryError};
use crate::{BundleHash, MAX_BUNDLE_BYTES};

/// Bytes that are their address (I11): there is no way to make one whose hash was not taken from these very bytes.
/// What gets compiled is this buffer, which nobody can change any more.
///
/// ```
/// use nuthatch_registry::{BundleHash, VerifiedBytes};
///
/// let hash = BundleHash::of(b"abc");
/// assert_eq!(VerifiedBytes::of(b"abc".to_vec()).hash(), hash);
/// assert_eq!(VerifiedBytes::check(hash, b"abd".to_vec()), Err(BundleHash::of(b"abd")));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct VerifiedBytes {
    hash: BundleHash,
    bytes: Bytes,
}

impl VerifiedBytes {
    /// Takes the bytes if this is their address, else gives back which is.
    pub fn check(hash: BundleHash, bytes: impl Into<Bytes>) -> Result<Self, BundleHash> {
        let verified = VerifiedBytes::of(bytes);
        if verified.hash == hash { Ok(verified) } else { Err(verified.hash) }
    }

    /// Bytes under the address that they have.
    pub fn of(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        VerifiedBytes { hash: BundleHash::of(&bytes), bytes }
    }

    /// Their address.
    pub fn hash(&self) -> BundleHash {
        self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for VerifiedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifiedBytes({}, {} bytes)", self.hash, self.bytes.len())
    }
}

impl dyn Registry + '_ {
    /// Fetches the bundle of this address. Bytes that are not their address are an error, and so is a bundle larger
    /// than [`MAX_BUNDLE_BYTES`], of which no more than that is read.
    pub async fn pull(&self, hash: BundleHash) -> Result<VerifiedBytes, RegistryError> {
        let bytes = self.read(&Key::Bundle(hash), MAX_BUNDLE_BYTES).await?;
        VerifiedBytes::check(hash, bytes).map_err(|found| RegistryError::OtherBytes {
            hash,
            found,
            registry: self.name().to_owned(),
        })
    }
}
