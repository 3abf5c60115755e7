//! From names to bundles.

use nuthatch_registry::{NoticeKind, Pick, Registry, ResolveError, Timestamp};

use crate::support::bundles::usdc;
use crate::support::s3::Server;
use crate::support::{PATIENT, bucket, folder, name};

async fn publish(registry: &dyn Registry, versions: &[&str]) {
    for version in versions {
        registry.publish(&usdc(version).checked(), Timestamp::from_unix(1)).await.unwrap();
    }
}

async fn say(registry: &dyn Registry, version: &str, kind: NoticeKind, reason: &str) {
    let version = version.parse().unwrap();
    registry.notify(&name("usdc"), &version, kind, reason, Timestamp::from_unix(2)).await.unwrap();
}

async fn pick(registry: &dyn Registry, pick: Pick) -> Result<String, ResolveError> {
    registry.resolve(&name("usdc"), &pick).await.map(|record| record.version.to_string())
}

fn matching(text: &str) -> Pick {
    Pick::Matching(text.parse().unwrap())
}

#[tokio::test]
async fn the_latest_is_neither_a_pre_release_nor_yanked() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &["1.9.0", "1.10.0", "2.0.0", "3.0.0-rc.1"]).await;
    assert_eq!(pick(&*registry, Pick::Latest).await.unwrap(), "2.0.0");
    say(&*registry, "2.0.0", NoticeKind::Yank, "wrong sign").await;
    assert_eq!(pick(&*registry, Pick::Latest).await.unwrap(), "1.10.0", "by number, not by text");
    assert_eq!(pick(&*registry, matching("^1")).await.unwrap(), "1.10.0");
    assert_eq!(pick(&*registry, matching("<1.10")).await.unwrap(), "1.9.0");
    assert_eq!(pick(&*registry, Pick::Exact("3.0.0-rc.1".parse().unwrap())).await.unwrap(), "3.0.0-rc.1");
    say(&*registry, "2.0.0", NoticeKind::Unyank, "").await;
    assert_eq!(pick(&*registry, Pick::Latest).await.unwrap(), "2.0.0");
}

#[tokio::test]
async fn what_is_not_there_is_named_with_what_is() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let error = pick(&*registry, Pick::Latest).await.unwrap_err();
    assert!(matches!(error, ResolveError::NoNest { .. }), "{error}");
    publish(&*registry, &["1.0.0-rc.1"]).await;
    let error = pick(&*registry, Pick::Latest).await.unwrap_err();
    assert!(
        matches!(error, ResolveError::NoRelease { .. }) && error.to_string().contains("usdc@1.0.0-rc.1"),
        "{error}"
    );
    say(&*registry, "1.0.0-rc.1", NoticeKind::Yank, "").await;
    let error = pick(&*registry, Pick::Latest).await.unwrap_err().to_string();
    assert!(
        error.ends_with("a yanked one can be pinned by its hash, which 'nuthatch bundle list usdc' shows"),
        "{error}"
    );
    publish(&*registry, &["1.0.0"]).await;
    let error = pick(&*registry, Pick::Exact("1.0.1".parse().unwrap())).await.unwrap_err();
    assert!(matches!(&error, ResolveError::NoVersion { highest, .. } if highest.to_string() == "1.0.0"), "{error}");
    let error = pick(&*registry, matching("^2")).await.unwrap_err();
    assert!(matches!(error, ResolveError::NoMatch { .. }), "{error}");
    let error = registry.resolve(&name("weth"), &Pick::Latest).await.unwrap_err();
    assert!(matches!(error, ResolveError::NoNest { .. }), "{error}");
}

#[tokio::test]
async fn a_yanked_version_is_refused_by_name_and_pulls_by_hash() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &["1.0.0"]).await;
    say(&*registry, "1.0.0", NoticeKind::Yank, "wrong sign").await;
    let hash = usdc("1.0.0").bundle().hash();
    let error = pick(&*registry, Pick::Exact("1.0.0".parse().unwrap())).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("version 1.0.0 of 'usdc' is yanked (wrong sign); take another one, or pin these bytes: usdc@{hash}")
    );
    assert_eq!(registry.pull(hash).await.unwrap().hash(), hash);
}

/// I12: a pinned pull reads one object, and nothing under `nests/` need be there.
#[tokio::test]
async fn i12_a_pull_by_hash_reads_no_name_version_or_notice() {
    let server = Server::start().await;
    let registry = bucket(&server, PATIENT);
    publish(&*registry, &["1.0.0"]).await;
    say(&*registry, "1.0.0", NoticeKind::Yank, "").await;
    server.remove(|key| key.contains("/nests/"));
    let before = server.requests().len();
    let hash = usdc("1.0.0").bundle().hash();
    assert_eq!(registry.pull(hash).await.unwrap().hash(), hash);
    assert_eq!(server.requests()[before..], [format!("GET team-a/v1/bundles/{hash}")]);
}

#[tokio::test]
async fn records_that_cannot_be_believed_are_refused_with_their_place() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &["1.0.0", "1.1.0"]).await;
    let path = |version: &str| place.path().join(format!("v1/nests/usdc/versions/{version}.json"));
    // A record put where another belongs.
    std::fs::copy(path("1.0.0"), path("1.2.0")).unwrap();
    let error = pick(&*registry, Pick::Latest).await.unwrap_err().to_string();
    assert!(
        error.contains("v1/nests/usdc/versions/1.2.0.json")
            && error.contains("its version is '1.0.0', and it stands where that of '1.2.0' belongs"),
        "{error}"
    );
    std::fs::write(path("1.2.0"), "x".repeat(1 << 20)).unwrap();
    let error = pick(&*registry, Pick::Latest).await.unwrap_err().to_string();
    assert!(error.contains("sends more than the 8192 bytes"), "{error}");
    std::fs::remove_file(path("1.2.0")).unwrap();
    std::fs::create_dir_all(place.path().join("v1/nests/usdc/notices")).unwrap();
    std::fs::write(place.path().join("v1/nests/usdc/notices/00000001.json"), "{}").unwrap();
    let error = pick(&*registry, Pick::Latest).await.unwrap_err().to_string();
    assert!(error.contains("v1/nests/usdc/notices/00000001.json"), "{error}");
}
