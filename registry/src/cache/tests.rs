//! Writers that are killed, and who cleans up after them.
#![allow(clippy::unwrap_used)]

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::steps::{DIE_AT, Step};
use super::*;

const FOLDER: &str = "NUTHATCH_TEST_CACHE";

fn bundle() -> VerifiedBytes {
    VerifiedBytes::of(b"some bytes of a bundle".repeat(1_000))
}

fn usdc() -> NestName {
    "usdc".parse().unwrap()
}

fn unfinished(cache: &Cache) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(cache.folder().join("usdc")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().contains(".unfinished-")).collect()
}

/// Of the test below; ends itself at the step it is told.
#[test]
#[ignore = "a child of another test"]
fn child_that_keeps() {
    Cache::at(std::env::var(FOLDER).unwrap()).keep(&usdc(), &bundle()).unwrap();
}

fn child(folder: &Path, die_at: &str) -> std::process::ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "cache::tests::child_that_keeps", "--ignored"])
        .env(FOLDER, folder)
        .env(DIE_AT, die_at)
        .output()
        .unwrap()
        .status
}

/// I11: killed at any step, there is a whole entry or none, and the next one to come needs no repair by hand (I7).
#[test]
fn i11_kill_9_at_each_step_leaves_a_whole_entry_or_none() {
    use Step::*;
    for before in [None, Some(&b"damaged"[..])] {
        for step in [RootMade, FolderMade, Created, Locked, HalfWritten, Written, Synced, Renamed] {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(folder.path().join("cache"));
            let hash = bundle().hash();
            if let Some(bytes) = before {
                std::fs::create_dir_all(cache.folder().join("usdc")).unwrap();
                std::fs::write(cache.path_of(&usdc(), hash), bytes).unwrap();
            }
            let status = child(cache.folder(), &format!("{step:?}"));
            assert_eq!(status.signal(), Some(9), "{step:?}: {status}");

            let expected = match (step, before) {
                (Renamed, _) => Cached::Hit(bundle()),
                (_, None) => Cached::Miss,
                (_, Some(bytes)) => Cached::Damaged { found: Some(BundleHash::of(bytes)) },
            };
            assert_eq!(cache.load(&usdc(), hash).unwrap(), expected, "{step:?}");
            let left = unfinished(&cache).len();
            assert_eq!(
                left,
                usize::from(matches!(step, Created | Locked | HalfWritten | Written | Synced)),
                "{step:?}"
            );

            cache.keep(&usdc(), &bundle()).unwrap();
            assert_eq!(cache.load(&usdc(), hash).unwrap(), Cached::Hit(bundle()), "{step:?}");
            // What is left is young, so it stays; once it is old it goes, for its writer is dead.
            assert_eq!(unfinished(&cache).len(), left, "{step:?}");
            assert_eq!(cache.sweep_older_than(Duration::ZERO), left, "{step:?}");
            assert_eq!(cache.load(&usdc(), hash).unwrap(), Cached::Hit(bundle()), "{step:?}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(child(folder.path(), "never").success());
}

#[test]
fn an_old_file_is_left_alone_while_its_writer_lives() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path());
    cache.keep(&usdc(), &bundle()).unwrap();
    let path = folder.path().join("usdc/.unfinished-0011223344556677");
    let file = std::fs::File::create_new(&path).unwrap();
    file.try_lock().unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(100_000)).unwrap();
    assert_eq!(cache.sweep(), 0);
    cache.keep(&usdc(), &bundle()).unwrap();
    assert!(path.exists());
    drop(file);
    // Keeping another bundle cleans up in the same folder.
    cache.keep(&usdc(), &VerifiedBytes::of(b"another".to_vec())).unwrap();
    assert!(!path.exists());
    assert_eq!(cache.entries().unwrap().len(), 2);
}

#[test]
fn only_unfinished_files_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path());
    cache.keep(&usdc(), &bundle()).unwrap();
    for other in ["usdc/notes", "usdc/.hidden", ".unfinished-0011223344556677"] {
        std::fs::write(folder.path().join(other), "").unwrap();
    }
    std::fs::create_dir(folder.path().join("usdc/.unfinished-folder")).unwrap();
    assert_eq!(cache.sweep_older_than(Duration::ZERO), 0);
    assert_eq!(cache.load(&usdc(), bundle().hash()).unwrap(), Cached::Hit(bundle()));
}
