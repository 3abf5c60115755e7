//! Writing an entry: to a name of its own in the same folder, synced, then renamed, so that a half-written entry is
//! never seen (I11).

use std::fs::File;
use std::io::{self, Write};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsMaybeDirExt};
use cap_std::fs::{Dir, OpenOptions};

use super::entry::refused_or;
use super::steps::{Step, at};
use super::{Cache, CacheError, open_root};
use crate::{NestName, VerifiedBytes};

/// What the names of files begin with that are being written. A hash has no dot.
pub(super) const UNFINISHED: &str = ".unfinished-";

/// How often it is begun again when the folder is deleted meanwhile.
const TRIES: usize = 5;

impl Cache {
    /// Keeps a bundle, in place of whatever file has its name. Of many that keep one bundle at once all succeed.
    pub fn keep(&self, name: &NestName, bytes: &VerifiedBytes) -> Result<(), CacheError> {
        let mut tries = 1;
        loop {
            match self.try_keep(name, bytes) {
                Err(CacheError::Io { kind: io::ErrorKind::NotFound, .. }) if tries < TRIES => tries += 1,
                ended => return ended,
            }
        }
    }

    fn try_keep(&self, name: &NestName, bytes: &VerifiedBytes) -> Result<(), CacheError> {
        let path = self.path_of(name, bytes.hash());
        let failed = |error: io::Error| CacheError::io("write", path.clone(), &error);
        Dir::create_ambient_dir_all(&self.root, cap_std::ambient_authority()).map_err(failed)?;
        at(Step::RootMade);
        let root = open_root(&self.root).map_err(failed)?;
        match root.create_dir(name.as_str()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => at(Step::FolderMade),
        }
        let folder = root.open_dir_nofollow(name.as_str()).map_err(|error| {
            let folder = self.root.join(name.as_str());
            refused_or(&root, name.as_str(), folder, "write", error)
        })?;
        let entry = bytes.hash().to_string();
        if folder.symlink_metadata(&entry).is_ok_and(|about| about.is_symlink()) {
            return Err(CacheError::Link { path });
        }
        let unfinished = format!("{UNFINISHED}{}", hex::encode(rand::random::<[u8; 8]>()));
        let written = write(&folder, &unfinished, &entry, bytes.bytes());
        if let Err(error) = written {
            let _ = folder.remove_file(&unfinished);
            return Err(match error.kind() {
                io::ErrorKind::IsADirectory => CacheError::NoFile { path },
                _ => failed(error),
            });
        }
        super::sweep::sweep_folder(&folder, super::sweep::OLD);
        Ok(())
    }
}

fn write(folder: &Dir, unfinished: &str, entry: &str, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    let mut file: File = folder.open_with(unfinished, &options)?.into_std();
    at(Step::Created);
    // Held until the file has its name: who cleans up leaves alone what is locked. Where files cannot be locked,
    // nobody cleans up.
    let _ = file.try_lock();
    at(Step::Locked);
    let (first, rest) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    at(Step::HalfWritten);
    file.write_all(rest)?;
    at(Step::Written);
    file.sync_all()?;
    at(Step::Synced);
    folder.rename(unfinished, folder, entry)?;
    at(Step::Renamed);
    sync(folder)
}

/// A folder is opened again to be synced: the one at hand may be open for its path alone.
fn sync(folder: &Dir) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).maybe_dir(true);
    folder.open_with(".", &options)?.sync_all()
}
