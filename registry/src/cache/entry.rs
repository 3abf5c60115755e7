//! What an entry can be, and the folder it lies in.

use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use super::{CacheError, open_root};
use crate::{BundleHash, NestName, VerifiedBytes};

/// What is found in a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cached {
    /// The bundle.
    Hit(VerifiedBytes),
    /// Nothing.
    Miss,
    /// A file that is not the bundle of its name. It is of no use but to be replaced.
    Damaged {
        /// The address of what it is; none where it is larger than any bundle.
        found: Option<BundleHash>,
    },
}

/// The folder of a nest, if it is there.
pub(super) fn existing_folder(root: &Path, name: &NestName) -> Result<Option<Dir>, CacheError> {
    let dir = match open_root(root) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CacheError::io("read", root.to_owned(), &error)),
    };
    match dir.open_dir_nofollow(name.as_str()) {
        Ok(folder) => Ok(Some(folder)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused_or(&dir, name.as_str(), root.join(name.as_str()), "read", error)),
    }
}

/// Why a name could not be opened: what stands there is refused, or the system's error.
pub(super) fn refused_or(folder: &Dir, name: &str, path: PathBuf, doing: &'static str, error: io::Error) -> CacheError {
    match folder.symlink_metadata(name) {
        Ok(about) if about.is_symlink() => CacheError::Link { path },
        // A folder that is no folder, or an entry that is no file.
        Ok(about) if is_not_a_folder(&error) && !about.is_dir() => CacheError::NoFolder { path },
        Ok(about) if doing == "read" && !about.is_file() && !about.is_dir() => CacheError::NoFile { path },
        Ok(about) if error.kind() == io::ErrorKind::IsADirectory && about.is_dir() => CacheError::NoFile { path },
        _ => CacheError::io(doing, path, &error),
    }
}

fn is_not_a_folder(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory
}
