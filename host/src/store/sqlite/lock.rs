//! The lock on a data folder: one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::store::{Result, StoreError};

/// How often, and how long apart, a holder without a pid is looked at again.
const LOOKS: u32 = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// An exclusive lock on a data folder. All stores in the folder share it; the kernel frees it at the latest when the
/// process dies. It is a file of its own, because closing any descriptor of a database file would drop SQLite's own
/// locks on it.
///
/// A lock that failed is still caught: each store's fence refuses every write of the one that came first.
#[derive(Debug)]
pub struct DataLock {
    data: PathBuf,
    file: File,
}

impl DataLock {
    /// Locks the folder, which is made if it is not there. A second process is refused with the first one's pid.
    pub fn acquire(data: &Path) -> Result<Arc<DataLock>> {
        fs::create_dir_all(data).map_err(|error| unwritten(data, &error))?;
        let data = data.canonicalize().map_err(|error| unwritten(data, &error))?;
        refuse_network(&data)?;
        let path = data.join("lock");
        let mut looks = 0;
        loop {
            let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let mut file = opened.map_err(|error| unwritten(&path, &error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let pid = holder(&mut file);
                    looks += 1;
                    if pid == 0 && looks < LOOKS {
                        // It has only just come, or is going.
                        std::thread::sleep(LOOK_AGAIN);
                        continue;
                    }
                    return Err(StoreError::InUse { path: data.display().to_string(), pid });
                }
                Err(TryLockError::Error(error)) => return Err(unwritten(&data, &error)),
            }
            if !still_there(&file, &path) {
                // Someone deleted the file between opening and locking it; a lock on what is gone keeps nobody out.
                continue;
            }
            write_pid(&mut file).map_err(|error| unwritten(&path, &error))?;
            return Ok(Arc::new(DataLock { data, file }));
        }
    }

    /// The folder, absolute.
    pub fn data(&self) -> &Path {
        &self.data
    }
}

impl Drop for DataLock {
    fn drop(&mut self) {
        // So that nobody reads the pid of a process that let go. The lock itself goes with the descriptor.
        let _ = self.file.set_len(0);
    }
}

fn unwritten(path: &Path, error: &io::Error) -> StoreError {
    let path = path.display().to_string();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull { path },
        _ => StoreError::NotWritable { path, reason: error.to_string() },
    }
}

fn holder(file: &mut File) -> u32 {
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    read.ok().and_then(|_| text.trim().parse().ok()).unwrap_or(0)
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// File systems whose locks and shared memory do not hold between machines, by the magic number of statfs(2).
#[cfg(target_os = "linux")]
const NETWORK: [(u64, &str); 13] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x564c, "ncp"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
];

#[cfg(target_os = "linux")]
fn network_kind(magic: u64) -> Option<&'static str> {
    // The kernel's field is signed on some machines, so only the low half is the number.
    NETWORK.iter().find(|(number, _)| *number == magic & 0xffff_ffff).map(|(_, kind)| *kind)
}

#[cfg(target_os = "linux")]
fn refuse_network(data: &Path) -> Result<()> {
    let stat = rustix::fs::statfs(data).map_err(|error| StoreError::NotWritable {
        path: data.display().to_string(),
        reason: io::Error::from(error).to_string(),
    })?;
    match network_kind(stat.f_type as u64) {
        Some(kind) => Err(StoreError::NetworkFolder { path: data.display().to_string(), kind }),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A lock on a file that is gone keeps nobody out, so it does not count.
    #[test]
    fn a_lock_counts_only_on_the_file_that_has_the_name() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("lock");
        let file = File::create(&path).unwrap();
        assert!(still_there(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!still_there(&file, &path));
        let other = File::create(&path).unwrap();
        assert!(!still_there(&file, &path) && still_there(&other, &path));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_known_by_their_number() {
        assert_eq!(network_kind(0x6969), Some("nfs"));
        // As a kernel with a signed field of 32 bits gives it.
        assert_eq!(network_kind(0xff53_4d42_u32 as i32 as u64), Some("cifs"));
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630, 0x5846_5342] {
            assert_eq!(network_kind(local), None, "ext4, tmpfs, btrfs, overlay and xfs are local");
        }
    }
}
