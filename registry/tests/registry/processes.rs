//! Many processes at one cache. The children are this test binary.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nuthatch_registry::{BundleHash, Cache, Key, Puller};

use crate::support::bundles::usdc;
use crate::support::{files, folder, name};

const CACHE: &str = "NUTHATCH_TEST_CACHE";
const REGISTRY: &str = "NUTHATCH_TEST_REGISTRY";
const HASH: &str = "NUTHATCH_TEST_HASH";
const TIMES: &str = "NUTHATCH_TEST_TIMES";

/// Of the tests below; waits for a line, then gets the bundle so many times.
#[test]
#[ignore = "a child of other tests"]
fn child_that_pulls() {
    let given = |name: &str| std::env::var(name).unwrap();
    let hash: BundleHash = given(HASH).parse().unwrap();
    let times: usize = given(TIMES).parse().unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for _ in 0..times {
        let puller = Puller::new(Cache::at(given(CACHE)), Some(folder(Path::new(&given(REGISTRY)))));
        let bytes = runtime.block_on(puller.get(&name("usdc"), hash)).unwrap();
        assert_eq!(BundleHash::of(bytes.bytes()), hash);
    }
}

struct Scene {
    place: tempfile::TempDir,
    hash: BundleHash,
}

impl Scene {
    async fn new() -> Scene {
        let place = tempfile::tempdir().unwrap();
        let text: String = (0..20_000).map(|line| format!("{line}\n")).collect();
        let bundle = usdc("1.0.0").readme(&text).verified();
        let registry = folder(&place.path().join("registry"));
        registry.create(&Key::Bundle(bundle.hash()), bundle.bytes().to_vec().into()).await.unwrap();
        Scene { place, hash: bundle.hash() }
    }

    fn cache(&self) -> std::path::PathBuf {
        self.place.path().join("cache")
    }

    fn child(&self, times: usize) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::child_that_pulls", "--ignored", "--nocapture"])
            .env(CACHE, self.cache())
            .env(REGISTRY, self.place.path().join("registry"))
            .env(HASH, self.hash.to_string())
            .env(TIMES, times.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

fn go(children: &mut [Child]) {
    for child in children {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
}

fn all_succeed(children: Vec<Child>) {
    for child in children {
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    }
}

#[tokio::test]
async fn thirty_two_processes_pull_one_bundle_at_once() {
    let scene = Scene::new().await;
    for damaged in [false, true] {
        if damaged {
            std::fs::write(scene.cache().join(format!("usdc/{}", scene.hash)), "damaged").unwrap();
        }
        let mut children: Vec<Child> = (0..32).map(|_| scene.child(1)).collect();
        go(&mut children);
        all_succeed(children);
        assert_eq!(files(&scene.cache()), [format!("usdc/{}", scene.hash)], "one entry, nothing unfinished");
        let entry = std::fs::read(scene.cache().join(format!("usdc/{}", scene.hash))).unwrap();
        assert_eq!(BundleHash::of(&entry), scene.hash);
    }
}

/// I11: deleting the cache at any time is safe.
#[tokio::test]
async fn i11_the_cache_is_deleted_over_and_over_while_processes_pull() {
    let scene = Scene::new().await;
    let mut children: Vec<Child> = (0..4).map(|_| scene.child(100)).collect();
    go(&mut children);
    let mut deleted = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        deleted += usize::from(std::fs::remove_dir_all(scene.cache()).is_ok());
        std::thread::yield_now();
    }
    all_succeed(children);
    assert!(deleted > 10, "{deleted}");
}
