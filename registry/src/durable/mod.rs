//! Files that are there whole, or not at all, whatever ends the process or the machine.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// What the names of files that are not whole yet begin with. Left behind by a crash they are in nobody's way.
pub const UNFINISHED: &str = ".unfinished-";

/// Makes a folder and what leads to it, each entry on the disk when this returns.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        other => other?,
    }
    sync_folder_of(folder)
}

/// Writes a new file, and the folders that lead to it, under a name that is not taken yet: of several writers of one
/// name one succeeds, and nobody ever reads a part. A taken name is [`io::ErrorKind::AlreadyExists`], and then too the
/// file that has it is on the disk when this returns.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("a/b");
/// nuthatch_registry::durable::write_new(&path, b"first")?;
/// let second = nuthatch_registry::durable::write_new(&path, b"second").unwrap_err();
/// assert_eq!(second.kind(), std::io::ErrorKind::AlreadyExists);
/// assert_eq!(std::fs::read(&path)?, b"first");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_folder(folder)?;
    // A name of its own: two writers of one key must not share what is not whole yet.
    let unfinished = folder.join(format!("{UNFINISHED}{}", hex::encode(rand::random::<[u8; 8]>())));
    let written = (|| {
        let mut file = File::create_new(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // Unlike a rename, a link replaces nothing.
        fs::hard_link(&unfinished, path)
    })();
    let _ = fs::remove_file(&unfinished);
    match written {
        // Who wrote it may not have come to this yet, and what is built upon it must not outlive it.
        Ok(()) => sync_folder_of(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => sync_folder_of(path).and(Err(error)),
        Err(error) => Err(error),
    }
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn of_many_writers_one_wins_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x/y/file");
        let texts: Vec<String> = (0..16).map(|writer| writer.to_string().repeat(1_000)).collect();
        let won: Vec<&String> = std::thread::scope(|scope| {
            let write = |text: &'_ String| write_new(&path, text.as_bytes()).map_err(|error| error.kind());
            let writers: Vec<_> = texts.iter().map(|text| (text, scope.spawn(move || write(text)))).collect();
            let ended = writers.into_iter().map(|(text, writer)| (text, writer.join().unwrap()));
            ended
                .filter_map(|(text, end)| match end {
                    Ok(()) => Some(text),
                    Err(kind) => {
                        assert_eq!(kind, io::ErrorKind::AlreadyExists);
                        None
                    }
                })
                .collect()
        });
        assert_eq!(won.len(), 1);
        assert_eq!(&fs::read_to_string(&path).unwrap(), won[0]);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_where_a_folder_belongs_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(write_new(&folder.path().join("file/below"), b"").is_err());
        assert!(make_folder(&folder.path().join("file")).is_err());
    }
}
