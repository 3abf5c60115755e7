//! What can go wrong with a cache.

use std::io;
use std::path::PathBuf;

use crate::{BundleHash, NestName, RegistryError};

/// Why a cache did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// A link below the cache's folder.
    #[error("{} is a link, and nothing in a cache may be one; remove it: what belongs there is fetched again", .path.display())]
    Link {
        /// Where.
        path: PathBuf,
    },
    /// Something else than a folder where one belongs.
    #[error("{} is not a folder; remove it: what belongs there is fetched again", .path.display())]
    NoFolder {
        /// Where.
        path: PathBuf,
    },
    /// Something else than a file where a bundle belongs.
    #[error("{} is not a file; remove it: what belongs there is fetched again", .path.display())]
    NoFile {
        /// Where.
        path: PathBuf,
    },
    /// The system's error.
    #[error("cannot {doing} {}: {reason}", .path.display())]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// What.
        path: PathBuf,
        /// Of which kind.
        kind: io::ErrorKind,
        /// In the system's words.
        reason: String,
    },
}

impl CacheError {
    pub(super) fn io(doing: &'static str, path: PathBuf, error: &io::Error) -> Self {
        CacheError::Io { doing, path, kind: error.kind(), reason: error.to_string() }
    }

    /// Whether something is there that nobody but an enemy or a mistake puts there.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, CacheError::Io { .. })
    }
}

/// Why a bundle could not be had.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The cache holds something that is refused.
    #[error("the cache is refused: {0}")]
    Cache(#[from] CacheError),
    /// The registry failed.
    #[error("bundle {hash} of '{name}' cannot be had: {problem}")]
    Registry {
        /// The nest.
        name: NestName,
        /// The bundle.
        hash: BundleHash,
        /// Why.
        #[source]
        problem: RegistryError,
    },
    /// It is not in the cache, and there is no registry.
    #[error("bundle {hash} of '{name}' is not in the cache {}, and no registry is given; name one with --registry", .cache.display())]
    NoRegistry {
        /// The nest.
        name: NestName,
        /// The bundle.
        hash: BundleHash,
        /// The cache's folder.
        cache: PathBuf,
    },
}
