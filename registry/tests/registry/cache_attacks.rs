//! A cache that somebody has been at: what is damaged is replaced, what is no file is refused, nothing unverified comes
//! out.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nuthatch_registry::{
    BundleHash, Cache, CacheError, Cached, Key, MAX_BUNDLE_BYTES, Pin, PullError, Puller, Registry, VerifiedBytes,
};

use crate::support::bundles::usdc;
use crate::support::{files, folder, log, name};

/// A registry with one bundle, a cache that holds it, and a place outside both.
struct Scene {
    place: tempfile::TempDir,
    bundle: VerifiedBytes,
}

impl Scene {
    async fn new() -> Scene {
        let scene = Scene { place: tempfile::tempdir().unwrap(), bundle: usdc("1.0.0").verified() };
        let key = Key::Bundle(scene.bundle.hash());
        scene.registry().create(&key, scene.bundle.bytes().to_vec().into()).await.unwrap();
        scene.get().await.unwrap();
        assert_eq!(std::fs::read(scene.entry()).unwrap(), scene.bundle.bytes());
        scene
    }

    fn registry(&self) -> Arc<dyn Registry> {
        folder(&self.place.path().join("registry"))
    }

    fn cache(&self) -> Cache {
        Cache::at(self.place.path().join("cache"))
    }

    fn nest(&self) -> PathBuf {
        self.place.path().join("cache/usdc")
    }

    fn entry(&self) -> PathBuf {
        self.nest().join(self.bundle.hash().to_string())
    }

    fn outside(&self) -> PathBuf {
        self.place.path().join("outside")
    }

    async fn get(&self) -> Result<VerifiedBytes, PullError> {
        Puller::new(self.cache(), Some(self.registry())).get(&name("usdc"), self.bundle.hash()).await
    }

    async fn get_offline(&self) -> Result<VerifiedBytes, PullError> {
        Puller::new(self.cache(), None).get(&name("usdc"), self.bundle.hash()).await
    }

    fn only_file(&self) {
        assert_eq!(files(&self.place.path().join("cache")), [format!("usdc/{}", self.bundle.hash())]);
    }
}

/// I11: what is damaged is never returned, is replaced, and a warning says so.
#[tokio::test]
async fn i11_a_damaged_entry_is_replaced_with_a_warning() {
    let scene = Scene::new().await;
    let good = scene.bundle.bytes().to_vec();
    let mut flipped = good.clone();
    flipped[40] ^= 0x10;
    let damages = [
        ("truncated", good[..good.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("a bit flipped", flipped),
        ("swapped for another bundle", usdc("1.0.1").bytes()),
        ("longer", [good.clone(), b"x".to_vec()].concat()),
    ];
    for (damage, bytes) in damages {
        std::fs::write(scene.entry(), &bytes).unwrap();
        let hash = BundleHash::of(&bytes);
        assert_eq!(
            scene.cache().load(&name("usdc"), scene.bundle.hash()).unwrap(),
            Cached::Damaged { found: Some(hash) },
            "{damage}"
        );
        // Without a registry there is nothing to replace it with, and it is not used.
        let error = scene.get_offline().await.unwrap_err();
        assert!(matches!(error, PullError::NoRegistry { .. }), "{damage}: {error}");

        let (lines, guard) = log::captured();
        assert_eq!(scene.get().await.unwrap(), scene.bundle, "{damage}");
        drop(guard);
        let told = lines.text();
        assert!(told.contains("WARN") && told.contains("the cache entry is damaged"), "{damage}: {told}");
        assert!(told.contains(&hash.to_string()) && told.contains("it is replaced from the registry"), "{told}");
        assert_eq!(std::fs::read(scene.entry()).unwrap(), good, "{damage}");

        let (lines, guard) = log::captured();
        assert_eq!(scene.get_offline().await.unwrap(), scene.bundle, "{damage}");
        drop(guard);
        assert_eq!(lines.text(), "");
    }
    scene.only_file();
}

#[tokio::test]
async fn an_entry_larger_than_any_bundle_is_not_read_to_its_end() {
    let scene = Scene::new().await;
    std::fs::File::create(scene.entry()).unwrap().set_len(MAX_BUNDLE_BYTES as u64 + 1).unwrap();
    assert_eq!(scene.cache().load(&name("usdc"), scene.bundle.hash()).unwrap(), Cached::Damaged { found: None });
    assert_eq!(scene.get().await.unwrap(), scene.bundle);
    scene.only_file();
}

fn link_error(path: &Path) -> String {
    format!(
        "the cache is refused: {} is a link, and nothing in a cache may be one; remove it: what belongs there is fetched again",
        path.display()
    )
}

#[tokio::test]
async fn a_link_as_entry_is_refused_and_not_followed() {
    let scene = Scene::new().await;
    let good = scene.outside().join("good");
    std::fs::create_dir(scene.outside()).unwrap();
    std::fs::rename(scene.entry(), &good).unwrap();
    let other = scene.outside().join("other");
    std::fs::write(&other, "other").unwrap();
    let dangling = scene.outside().join("dangling");
    let inside = Path::new("inside");
    std::fs::copy(&good, scene.nest().join(inside)).unwrap();
    for target in [&good, &other, &dangling, Path::new("/etc/passwd"), Path::new("../../outside/good"), inside] {
        symlink(target, scene.entry()).unwrap();
        let error = scene.get().await.unwrap_err();
        assert_eq!(error.to_string(), link_error(&scene.entry()), "{}", target.display());
        let error = scene.cache().keep(&name("usdc"), &scene.bundle).unwrap_err();
        assert!(matches!(error, CacheError::Link { .. }), "{error}");
        assert!(scene.entry().is_symlink());
        std::fs::remove_file(scene.entry()).unwrap();
    }
    assert_eq!(std::fs::read(&other).unwrap(), b"other");
    assert!(!dangling.exists());
    assert_eq!(scene.get().await.unwrap(), scene.bundle);
}

#[tokio::test]
async fn a_link_as_the_nests_folder_is_refused_and_not_followed() {
    let scene = Scene::new().await;
    std::fs::rename(scene.nest(), scene.outside()).unwrap();
    let dangling = scene.place.path().join("dangling");
    for target in [&scene.outside(), &dangling, &scene.place.path().join("registry/v1/bundles")] {
        symlink(target, scene.nest()).unwrap();
        let error = scene.get().await.unwrap_err();
        assert_eq!(error.to_string(), link_error(&scene.nest()), "{}", target.display());
        let error = scene.cache().keep(&name("usdc"), &scene.bundle).unwrap_err();
        assert!(matches!(error, CacheError::Link { .. }), "{error}");
        assert_eq!(scene.cache().entries().unwrap(), []);
        assert_eq!(scene.cache().sweep(), 0);
        std::fs::remove_file(scene.nest()).unwrap();
    }
    assert!(!dangling.exists());
}

#[tokio::test]
async fn the_caches_own_folder_may_be_a_link() {
    let scene = Scene::new().await;
    std::fs::rename(scene.cache().folder(), scene.outside()).unwrap();
    symlink(scene.outside(), scene.cache().folder()).unwrap();
    assert_eq!(scene.get_offline().await.unwrap(), scene.bundle);
    std::fs::remove_dir_all(scene.outside().join("usdc")).unwrap();
    assert_eq!(scene.get().await.unwrap(), scene.bundle);
    assert_eq!(scene.cache().entries().unwrap().len(), 1);
    assert_eq!(files(&scene.outside()).len(), 1);
}

#[tokio::test]
async fn a_link_with_the_name_of_an_unfinished_file_is_left_alone() {
    let scene = Scene::new().await;
    std::fs::write(scene.outside(), "mine").unwrap();
    symlink(scene.outside(), scene.nest().join(".unfinished-0011223344556677")).unwrap();
    assert_eq!(scene.cache().sweep(), 0);
    std::fs::remove_file(scene.entry()).unwrap();
    assert_eq!(scene.get().await.unwrap(), scene.bundle);
    assert_eq!(std::fs::read(scene.outside()).unwrap(), b"mine");
}

#[tokio::test]
async fn what_is_no_file_is_refused() {
    let scene = Scene::new().await;
    let no_file = format!(
        "the cache is refused: {} is not a file; remove it: what belongs there is fetched again",
        scene.entry().display()
    );
    std::fs::remove_file(scene.entry()).unwrap();

    std::fs::create_dir(scene.entry()).unwrap();
    assert_eq!(scene.get().await.unwrap_err().to_string(), no_file);
    let error = scene.cache().keep(&name("usdc"), &scene.bundle).unwrap_err();
    assert!(matches!(error, CacheError::NoFile { .. }), "{error}");
    std::fs::remove_dir(scene.entry()).unwrap();

    // A pipe would be waited for.
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, scene.entry(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert_eq!(scene.get().await.unwrap_err().to_string(), no_file);
    std::fs::remove_file(scene.entry()).unwrap();

    let socket = std::os::unix::net::UnixListener::bind(scene.entry());
    // A path of a test's folder may be longer than a socket's may be.
    if socket.is_ok() {
        assert_eq!(scene.get().await.unwrap_err().to_string(), no_file);
        std::fs::remove_file(scene.entry()).unwrap();
    }

    std::fs::remove_dir(scene.nest()).unwrap();
    std::fs::write(scene.nest(), "").unwrap();
    let error = scene.get().await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the cache is refused: {} is not a folder; remove it: what belongs there is fetched again",
            scene.nest().display()
        )
    );
}

/// A hard link lets an entry and another file share their bytes; replacing the entry leaves the other file as it is.
#[tokio::test]
async fn a_hard_link_is_replaced_and_the_other_file_is_untouched() {
    let scene = Scene::new().await;
    std::fs::write(scene.outside(), "mine").unwrap();
    std::fs::remove_file(scene.entry()).unwrap();
    std::fs::hard_link(scene.outside(), scene.entry()).unwrap();
    assert_eq!(scene.get().await.unwrap(), scene.bundle);
    assert_eq!(std::fs::read(scene.outside()).unwrap(), b"mine");
    scene.only_file();
}

/// I11: no name leads out of the cache: what could is no name at all, and has its own words.
#[test]
fn i11_no_name_leads_out_of_the_cache() {
    let long = "x".repeat(64);
    for (bad, shown) in [
        ("..", ".."),
        (".", "."),
        ("../usdc", "../usdc"),
        ("a/../b", "a/../b"),
        ("/etc/passwd", "/etc/passwd"),
        ("usdc\0", "usdc\\0"),
        ("usdc/x", "usdc/x"),
        ("usdc\\x", "usdc\\\\x"),
        ("%2e%2e", "%2e%2e"),
        (long.as_str(), long.as_str()),
        ("usdс", "usdс"),
        ("ｕsdc", "ｕsdc"),
        ("usdc\u{200b}", "usdc\\u{200b}"),
        ("USDC", "USDC"),
        ("", ""),
    ] {
        let error = bad.parse::<Pin>().unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "'{shown}' is not a nest name: a lower-case letter, then up to 62 lower-case letters, digits and hyphens; \
                 write NAME, NAME@VERSION or NAME@HASH"
            )
        );
    }
}

#[tokio::test]
async fn what_is_not_cached_needs_a_registry() {
    let place = tempfile::tempdir().unwrap();
    let cache = place.path().join("cache");
    let hash = BundleHash([7; 32]);
    let error = Puller::new(Cache::at(&cache), None).get(&name("usdc"), hash).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "bundle {hash} of 'usdc' is not in the cache {}, and no registry is given; name one with --registry",
            cache.display()
        )
    );
    assert!(!cache.exists(), "reading makes no folder");
}

#[tokio::test]
async fn entries_are_those_that_can_be_loaded() {
    let scene = Scene::new().await;
    std::fs::write(scene.nest().join("README"), "").unwrap();
    std::fs::write(scene.nest().join(format!("0x{}", scene.bundle.hash())), "").unwrap();
    std::fs::create_dir(scene.cache().folder().join("NOT-A-NEST")).unwrap();
    let entries = scene.cache().entries().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].name.as_str(), entries[0].hash), ("usdc", scene.bundle.hash()));
    assert_eq!(entries[0].size, scene.bundle.bytes().len() as u64);
    let prefix: nuthatch_registry::HashPrefix = scene.bundle.hash().to_string()[..8].parse().unwrap();
    assert_eq!(prefix.find(entries.iter().map(|entry| entry.hash)), Ok(scene.bundle.hash()));
}

/// Many tasks of one process: one of them pulls, all have it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_pull_once() {
    let place = tempfile::tempdir().unwrap();
    let server = crate::support::s3::Server::start().await;
    let bundle = usdc("1.0.0").verified();
    let hash = bundle.hash();
    server.put(&format!("team-a/v1/bundles/{hash}"), bundle.bytes().to_vec());
    let registry = crate::support::bucket(&server, crate::support::PATIENT);
    let puller = Arc::new(Puller::new(Cache::at(place.path()), Some(registry)));
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let puller = Arc::clone(&puller);
            tokio::spawn(async move { puller.get(&name("usdc"), hash).await.unwrap() })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), bundle);
    }
    assert_eq!(server.requests().len(), 1, "{:?}", server.requests());
    assert_eq!(files(place.path()), [format!("usdc/{hash}")]);
}
