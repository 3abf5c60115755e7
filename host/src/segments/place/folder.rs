//! Writing a file so that it is there whole, or not at all, whatever ends the process or the machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Makes a folder and what leads to it, each entry on the disk when this returns.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make(parent)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        other => other?,
    }
    sync_folder_of(folder)
}

/// Writes a new file under a name that is not taken yet.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make(folder)?;
    // A name of its own: two writers of one key must not share what is not whole yet.
    let unfinished = folder.join(format!(".unfinished-{}", hex::encode(rand::random::<[u8; 8]>())));
    let written = (|| {
        let mut file = File::create_new(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // Unlike a rename, a link replaces nothing.
        fs::hard_link(&unfinished, path)
    })();
    // Left behind by a crash it is in nobody's way: no catalogue names it, and listings tell it apart.
    let _ = fs::remove_file(&unfinished);
    written?;
    sync_folder_of(path)
}

/// Why a file was not written, with the way out where there is one.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room, and sealing goes on".to_owned()
        }
        _ => error.to_string(),
    }
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}
