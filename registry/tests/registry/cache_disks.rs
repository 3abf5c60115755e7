//! A cache on a disk that is full, or that cannot be written: bundles come from the registry, and a warning says so.

use std::path::Path;

use nuthatch_registry::{Cache, Key, Puller, VerifiedBytes};

use crate::support::bundles::usdc;
use crate::support::mount::Mount;
use crate::support::{files, folder, log, name};

/// Larger than the small disk.
fn large() -> VerifiedBytes {
    let text: String = (0..40_000).map(|line| format!("{line}\n")).collect();
    usdc("1.0.0").readme(&text).verified()
}

async fn puller(cache: &Path, registry: &Path, bundle: &VerifiedBytes) -> Puller {
    let registry = folder(registry);
    registry.create(&Key::Bundle(bundle.hash()), bundle.bytes().to_vec().into()).await.unwrap();
    Puller::new(Cache::at(cache), Some(registry))
}

async fn warned(puller: &Puller, bundle: &VerifiedBytes, words: &[&str]) {
    let (lines, guard) = log::captured();
    let got = puller.get(&name("usdc"), bundle.hash()).await;
    drop(guard);
    assert_eq!(&got.unwrap(), bundle);
    for word in words {
        assert!(lines.text().contains(word), "{word}: {}", lines.text());
    }
}

const NOT_KEPT: &str = "the bundle cannot be kept in the cache; it is used as it came from the registry";

#[tokio::test]
async fn a_full_disk() {
    let place = tempfile::tempdir().unwrap();
    let disk = Mount::of_kib(64);
    let bundle = large();
    let puller = puller(disk.path(), place.path(), &bundle).await;
    for _ in 0..2 {
        warned(&puller, &bundle, &["WARN", NOT_KEPT, "No space left on device"]).await;
        assert_eq!(files(disk.path()), [""; 0], "what was begun is taken away");
    }
    // What fits is kept, and a damaged entry that cannot be replaced is still never used.
    let small = usdc("1.0.0").verified();
    let fits = self::puller(disk.path(), place.path(), &small).await;
    warned(&fits, &small, &[]).await;
    assert_eq!(files(disk.path()).len(), 1);
    let entry = disk.path().join(format!("usdc/{}", bundle.hash()));
    std::fs::write(&entry, "damaged").unwrap();
    warned(&puller, &bundle, &["the cache entry is damaged", NOT_KEPT]).await;
    assert_eq!(std::fs::read(&entry).unwrap(), b"damaged");
}

#[tokio::test]
async fn a_disk_that_cannot_be_written() {
    let place = tempfile::tempdir().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let (bundle, other) = (usdc("1.0.0").verified(), usdc("1.0.1").verified());
    Cache::at(kept.path()).keep(&name("usdc"), &bundle).unwrap();
    let view = Mount::read_only_view(kept.path());
    // What is there is used without a word, and without a registry.
    let offline = Puller::new(Cache::at(view.path()), None);
    let (lines, guard) = log::captured();
    assert_eq!(offline.get(&name("usdc"), bundle.hash()).await.unwrap(), bundle);
    drop(guard);
    assert_eq!(lines.text(), "");
    // What is not there is pulled each time.
    let puller = puller(view.path(), place.path(), &other).await;
    for _ in 0..2 {
        warned(&puller, &other, &["WARN", NOT_KEPT, "Read-only file system"]).await;
    }
    // The whole cache may be missing on such a disk.
    let missing = self::puller(&view.path().join("cache"), place.path(), &other).await;
    warned(&missing, &other, &[NOT_KEPT, "Read-only file system"]).await;
    assert_eq!(files(kept.path()), [format!("usdc/{}", bundle.hash())]);
}
