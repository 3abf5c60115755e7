//! Taking away what writers left that were killed.

use std::time::{Duration, SystemTime};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, OpenOptions};

use super::keep::UNFINISHED;
use super::{Cache, open_root};
use crate::NestName;

/// How old an unfinished file must be. Its writer holds a lock on it, so this covers only the moment before.
pub(super) const OLD: Duration = Duration::from_secs(3_600);

impl Cache {
    /// Removes unfinished files that are older than an hour and that no living process is writing; how many it were.
    /// Keeping a bundle does this for its own folder.
    pub fn sweep(&self) -> usize {
        self.sweep_older_than(OLD)
    }

    pub(super) fn sweep_older_than(&self, age: Duration) -> usize {
        let Ok(root) = open_root(&self.root) else { return 0 };
        let Ok(entries) = root.entries() else { return 0 };
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<NestName>().ok());
        let folders = names.filter_map(|name| root.open_dir_nofollow(name.as_str()).ok());
        folders.map(|folder| sweep_folder(&folder, age)).sum()
    }
}

/// Errors are nobody's concern here: what stays is swept another time.
pub(super) fn sweep_folder(folder: &Dir, age: Duration) -> usize {
    let Ok(entries) = folder.entries() else { return 0 };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.starts_with(UNFINISHED) && is_abandoned(folder, name, age).unwrap_or(false))
        .filter(|name| folder.remove_file(name).is_ok())
        .count()
}

fn is_abandoned(folder: &Dir, name: &str, age: Duration) -> std::io::Result<bool> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(name, &options)?.into_std();
    let about = file.metadata()?;
    let old = SystemTime::now().duration_since(about.modified()?).is_ok_and(|lived| lived >= age);
    // The kernel frees a lock when its owner dies, however it dies.
    Ok(about.is_file() && old && file.try_lock().is_ok())
}
