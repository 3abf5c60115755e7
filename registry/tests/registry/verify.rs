//! Verify finds what is damaged and notes what is odd.

use nuthatch_registry::{Key, Note, NoticeKind, Problem, Registry, RegistryError, Shelf, Timestamp, Verification};

use crate::support::bundles::usdc;
use crate::support::{folder, name};

async fn filled(registry: &dyn Registry) {
    for recipe in [usdc("1.0.0"), usdc("1.1.0"), usdc("0.1.0").named("weth")] {
        registry.publish(&recipe.checked(), Timestamp::from_unix(1)).await.unwrap();
    }
    let version = "1.0.0".parse().unwrap();
    registry.notify(&name("usdc"), &version, NoticeKind::Yank, "", Timestamp::from_unix(2)).await.unwrap();
}

fn told(found: &Verification) -> String {
    found.problems.iter().map(|problem| format!("{problem}\n")).collect()
}

#[tokio::test]
async fn a_sound_registry_has_nothing_to_tell() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let empty = registry.verify().await.unwrap();
    assert!(empty.is_sound() && empty.notes.is_empty() && empty.bundles == 0);
    filled(&*registry).await;
    let found = registry.verify().await.unwrap();
    assert!(found.is_sound() && found.notes.is_empty(), "{found:?}");
    assert_eq!((found.bundles, found.versions, found.notices), (3, 3, 1));
}

#[tokio::test]
async fn every_damage_is_listed_and_the_rest_is_still_looked_at() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    filled(&*registry).await;
    let at = |key: &Key| place.path().join(key.to_string());
    let bundle = |recipe: crate::support::bundles::Recipe| Key::Bundle(recipe.bundle().hash());
    let record = |version: &str| Key::Version(name("usdc"), version.parse().unwrap());

    // A flipped bit in a bundle.
    let damaged = bundle(usdc("1.0.0"));
    let mut bytes = std::fs::read(at(&damaged)).unwrap();
    bytes[20] ^= 1;
    std::fs::write(at(&damaged), bytes).unwrap();
    // A record that lies about its bundle.
    let json = std::fs::read_to_string(at(&record("1.1.0"))).unwrap();
    let identity = usdc("1.1.0").bundle().data_identity().to_string();
    std::fs::write(at(&record("1.1.0")), json.replace(&identity, &"0".repeat(64))).unwrap();
    // A record of another version's bundle.
    let mut other = registry.record(&name("usdc"), &"1.1.0".parse().unwrap()).await.unwrap();
    other.version = "1.2.0".parse().unwrap();
    std::fs::write(at(&record("1.2.0")), other.to_json()).unwrap();
    // A record that is none.
    std::fs::write(at(&record("1.3.0")), "{}").unwrap();
    // A notice that is none.
    std::fs::write(at(&Key::Notice(name("usdc"), 2)), "{}").unwrap();

    let found = registry.verify().await.unwrap();
    let told = told(&found);
    assert!(matches!(&found.problems[0], Problem::Unreadable(RegistryError::OtherBytes { .. })), "{told}");
    let has = |text: &str| assert!(told.contains(text), "{text}\n{told}");
    has("version 1.0.0 of 'usdc' names the bundle");
    has(&format!("the record of version 1.1.0 of 'usdc' says data identity {}, its bundle", "0".repeat(64)));
    has("the record of version 1.2.0 of 'usdc' says version 1.2.0, its bundle");
    has("v1/nests/usdc/versions/1.3.0.json");
    has("v1/nests/usdc/notices/00000002.json");
    assert_eq!((found.bundles, found.versions, found.notices), (2, 1, 1));
}

#[tokio::test]
async fn what_is_odd_is_noted_and_no_error() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    filled(&*registry).await;
    // A publish that was cut short.
    let orphan = usdc("1.2.0").bundle();
    registry.create(&Key::Bundle(orphan.hash()), orphan.bytes().to_vec().into()).await.unwrap();
    std::fs::write(place.path().join("v1/bundles/.unfinished-00"), "half").unwrap();
    std::fs::write(place.path().join("v1/nests/usdc/versions/README"), "").unwrap();
    std::fs::rename(
        place.path().join("v1/nests/usdc/notices/00000001.json"),
        place.path().join("v1/nests/usdc/notices/taken-away"),
    )
    .unwrap();
    let version = "1.1.0".parse().unwrap();
    registry.notify(&name("usdc"), &version, NoticeKind::Yank, "", Timestamp::from_unix(2)).await.unwrap();
    std::fs::rename(
        place.path().join("v1/nests/usdc/notices/00000001.json"),
        place.path().join("v1/nests/usdc/notices/00000002.json"),
    )
    .unwrap();
    let found = registry.verify().await.unwrap();
    assert!(found.notes.contains(&Note::Orphan(orphan.hash())), "{found:?}");
    assert!(found.notes.contains(&Note::Gap { name: name("usdc"), seq: 1 }), "{found:?}");
    let shelf = Shelf::Versions(name("usdc"));
    assert!(found.notes.contains(&Note::Foreign { shelf, name: "README".to_owned() }), "{found:?}");
    // The notice that was renamed says another number than its place.
    assert_eq!(found.problems.len(), 1, "{found:?}");
}
