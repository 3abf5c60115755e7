//! Keccak-256, the hash of event signatures.

use tiny_keccak::{Hasher, Keccak};

/// Keccak-256 of these bytes.
pub fn keccak(bytes: &[u8]) -> [u8; 32] {
    let mut hasher = Keccak::v256();
    hasher.update(bytes);
    let mut hash = [0; 32];
    hasher.finalize(&mut hash);
    hash
}
