//! What is in a cache.

use cap_fs_ext::DirExt;

use super::{Cache, CacheError, open_root};
use crate::{BundleHash, NestName};

/// An entry by its name. Whether it is what it is called is seen when it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheEntry {
    /// The nest.
    pub name: NestName,
    /// The bundle's address.
    pub hash: BundleHash,
    /// Bytes of the file.
    pub size: u64,
}

impl Cache {
    /// The entries, sorted. What has another kind of name is none, and a cache that is not there has none.
    pub fn entries(&self) -> Result<Vec<CacheEntry>, CacheError> {
        let failed = |error: std::io::Error| CacheError::io("read", self.root.clone(), &error);
        let root = match open_root(&self.root) {
            Ok(root) => root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Vec::new();
        for entry in root.entries().map_err(failed)?.flatten() {
            let Some(name) = entry.file_name().to_str().and_then(|name| name.parse::<NestName>().ok()) else {
                continue;
            };
            // Deleted meanwhile, a link, or no folder: nothing is loaded from it either.
            let Ok(folder) = root.open_dir_nofollow(name.as_str()) else { continue };
            let Ok(files) = folder.entries() else { continue };
            for file in files.flatten() {
                let text = file.file_name().into_string().unwrap_or_default();
                let hash = text.parse::<BundleHash>().ok().filter(|hash| hash.to_string() == text);
                if let (Some(hash), Ok(about)) = (hash, file.metadata())
                    && about.is_file()
                {
                    found.push(CacheEntry { name: name.clone(), hash, size: about.len() });
                }
            }
        }
        found.sort();
        Ok(found)
    }
}
