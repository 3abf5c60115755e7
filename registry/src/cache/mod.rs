//! Bundles on this machine: `<cache>/<name>/<hash>` is the bundle's file.
//!
//! Nothing in a cache is believed: an entry is read once, hashed, and what is returned is that very buffer (I11). So a
//! cache can be deleted, copied, damaged or shared by any number of processes at any time. The folder of the cache may
//! be a link; below it links are refused, and no name leads out of it.

mod entry;
mod error;
mod keep;
mod list;
mod puller;
mod steps;
mod sweep;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};

pub use entry::Cached;
pub use error::{CacheError, PullError};
pub use list::CacheEntry;
pub use puller::Puller;

use crate::{BundleHash, MAX_BUNDLE_BYTES, NestName, VerifiedBytes};

/// A folder of bundles. Holds no open file: each call finds the folder anew, so that it may be deleted at any time.
///
/// ```
/// use nuthatch_registry::{Cache, Cached, VerifiedBytes};
///
/// let folder = tempfile::tempdir()?;
/// let cache = Cache::at(folder.path().join("cache"));
/// let bytes = VerifiedBytes::of(b"abc".to_vec());
/// cache.keep(&"usdc".parse()?, &bytes)?;
/// let loaded = cache.load(&"usdc".parse()?, bytes.hash())?;
/// assert_eq!(loaded, Cached::Hit(bytes));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in this folder, which is made when something is kept.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Cache { root: root.into() }
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.root
    }

    /// Where a bundle lies, for messages. Files are opened another way.
    pub fn path_of(&self, name: &NestName, hash: BundleHash) -> PathBuf {
        self.root.join(name.as_str()).join(hash.to_string())
    }

    /// Reads an entry once and holds it against its address.
    pub fn load(&self, name: &NestName, hash: BundleHash) -> Result<Cached, CacheError> {
        let Some(folder) = entry::existing_folder(&self.root, name)? else { return Ok(Cached::Miss) };
        let file_name = hash.to_string();
        let path = self.path_of(name, hash);
        let mut options = OpenOptions::new();
        // Opening a pipe would wait for its other end.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match folder.open_with(&file_name, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Cached::Miss),
            Err(error) => return Err(entry::refused_or(&folder, &file_name, path, "read", error)),
        };
        let failed = |error: io::Error| CacheError::io("read", path.clone(), &error);
        let size = match file.metadata().map_err(failed)? {
            about if !about.is_file() => return Err(CacheError::NoFile { path }),
            about if about.len() > MAX_BUNDLE_BYTES as u64 => return Ok(Cached::Damaged { found: None }),
            about => about.len(),
        };
        let mut bytes = Vec::with_capacity(size as usize + 1);
        // It may grow meanwhile.
        file.take(MAX_BUNDLE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Ok(Cached::Damaged { found: None });
        }
        Ok(match VerifiedBytes::check(hash, bytes) {
            Ok(verified) => Cached::Hit(verified),
            Err(found) => Cached::Damaged { found: Some(found) },
        })
    }
}

/// The folder itself, which may be a link.
fn open_root(root: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(root, cap_std::ambient_authority())
}
