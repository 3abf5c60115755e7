//! Two who publish one version at once, both held until each has seen that the version is free.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use nuthatch_registry::{Created, Key, Note, PublishError, Published, Registry, RegistryError, Shelf, Timestamp};
use tokio::sync::Barrier;

use crate::support::bundles::{Recipe, usdc};
use crate::support::s3::Server;
use crate::support::{PATIENT, bucket, folder, name};

/// A registry that holds each publisher before it writes a version's record.
struct Held {
    inner: Arc<dyn Registry>,
    barrier: Arc<Barrier>,
}

#[async_trait]
impl Registry for Held {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn create(&self, key: &Key, bytes: Bytes) -> Result<Created, RegistryError> {
        if matches!(key, Key::Version(..)) {
            self.barrier.wait().await;
        }
        self.inner.create(key, bytes).await
    }

    async fn read(&self, key: &Key, max: usize) -> Result<Vec<u8>, RegistryError> {
        self.inner.read(key, max).await
    }

    async fn list(&self, shelf: &Shelf) -> Result<Vec<String>, RegistryError> {
        self.inner.list(shelf).await
    }
}

async fn both(registries: [Arc<dyn Registry>; 2], recipes: [Recipe; 2]) -> [Result<Published, PublishError>; 2] {
    let barrier = Arc::new(Barrier::new(2));
    let publish = |inner, recipe: Recipe| {
        let held = Held { inner, barrier: Arc::clone(&barrier) };
        tokio::spawn(async move {
            let held: &dyn Registry = &held;
            held.publish(&recipe.checked(), Timestamp::from_unix(1)).await
        })
    };
    let [(one, its), (other, others)] = [0, 1].map(|place| (Arc::clone(&registries[place]), recipes[place].clone()));
    let (first, second) = (publish(one, its), publish(other, others));
    [first.await.unwrap(), second.await.unwrap()]
}

/// One round: `version` is published by two, with different bytes.
async fn round(registries: [Arc<dyn Registry>; 2], version: &str) {
    let recipes = [usdc(version).readme("One."), usdc(version).readme("Two.")];
    let hashes = recipes.clone().map(|recipe| recipe.bundle().hash());
    let registry = Arc::clone(&registries[0]);
    let ended = both(registries, recipes).await;
    let won: Vec<usize> = (0..2).filter(|place| matches!(&ended[*place], Ok(Published::New { .. }))).collect();
    assert_eq!(won.len(), 1, "{ended:?}");
    let (winner, loser) = (won[0], 1 - won[0]);
    match &ended[loser] {
        Err(error @ PublishError::Taken { standing, ours }) => {
            assert_eq!((standing.hash, *ours), (hashes[winner], hashes[loser]));
            assert!(error.to_string().starts_with(&format!("version {version} of 'usdc' is taken: ")), "{error}");
        }
        other => panic!("{other:?}"),
    }
    let record = registry.record(&name("usdc"), &version.parse().unwrap()).await.unwrap();
    assert_eq!(record.hash, hashes[winner]);
}

async fn rounds_in_a_folder(place: &Path, rounds: usize) {
    for number in 0..rounds {
        // Each publisher has opened the folder for itself. A registry of its own for each round: a next version would
        // also be held against all before it.
        let place = place.join(number.to_string());
        round([folder(&place), folder(&place)], "1.0.0").await;
    }
    let found = folder(&place.join("0")).verify().await.unwrap();
    assert!(found.is_sound(), "{found:?}");
    assert!(matches!(found.notes[..], [Note::Orphan(_)]), "the loser's bundle: {found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_publishers_one_wins_in_a_folder() {
    let place = tempfile::tempdir().unwrap();
    rounds_in_a_folder(place.path(), 25).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_of_two_publishers_one_wins_in_a_folder_a_thousand_times() {
    let place = tempfile::tempdir().unwrap();
    rounds_in_a_folder(place.path(), 1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_publishers_one_wins_in_a_bucket() {
    for _ in 0..50 {
        let server = Server::start().await;
        round([bucket(&server, PATIENT), bucket(&server, PATIENT)], "1.0.0").await;
    }
}

/// I7: two who publish the same bytes at once both succeed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i7_two_publishers_of_the_same_bytes_both_succeed() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..25 {
        let place = place.path().join(number.to_string());
        let ended = both([folder(&place), folder(&place)], [usdc("1.0.0"), usdc("1.0.0")]).await;
        let new = ended.iter().filter(|end| matches!(end, Ok(Published::New { .. }))).count();
        let there = ended.iter().filter(|end| matches!(end, Ok(Published::AlreadyThere { .. }))).count();
        assert_eq!((new, there), (1, 1), "{ended:?}");
    }
}
