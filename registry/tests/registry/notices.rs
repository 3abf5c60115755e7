//! Yank, unyank, advisory.

use std::sync::Arc;

use nuthatch_registry::{NoticeKind, NotifyError, Registry, Timestamp};
use semver::Version;

use crate::support::bundles::usdc;
use crate::support::s3::Server;
use crate::support::{PATIENT, bucket, files, folder, name};

const V: Version = Version::new(1, 0, 0);

async fn say(registry: &dyn Registry, kind: NoticeKind, reason: &str) -> Result<u32, NotifyError> {
    registry.notify(&name("usdc"), &V, kind, reason, Timestamp::from_unix(7)).await.map(|notice| notice.seq)
}

#[tokio::test]
async fn notices_are_appended_and_the_last_yank_or_unyank_counts() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    registry.publish(&usdc("1.0.0").checked(), Timestamp::from_unix(1)).await.unwrap();
    for (seq, kind, reason) in [
        (1, NoticeKind::Yank, "wrong sign"),
        (2, NoticeKind::Advisory, "reads slowly"),
        (3, NoticeKind::Unyank, ""),
        (4, NoticeKind::Yank, "wrong after all"),
    ] {
        assert_eq!(say(&*registry, kind, reason).await.unwrap(), seq);
        // Said again it is the same notice.
        assert_eq!(say(&*registry, kind, reason).await.unwrap(), seq);
    }
    let shown = registry.versions(&name("usdc")).await.unwrap().remove(0);
    assert_eq!(shown.yanked.unwrap().reason, "wrong after all");
    assert_eq!(shown.advisories.len(), 1);
    assert_eq!(shown.record.size, usdc("1.0.0").bytes().len() as u64);
    let notices = files(&place.path().join("v1/nests/usdc/notices"));
    assert_eq!(notices, ["00000001.json", "00000002.json", "00000003.json", "00000004.json"]);
    let first = std::fs::read_to_string(place.path().join("v1/nests/usdc/notices/00000001.json")).unwrap();
    assert_eq!(
        first,
        r#"{"at":"1970-01-01T00:00:07Z","kind":"yank","name":"usdc","reason":"wrong sign","seq":1,"version":"1.0.0"}"#
    );
}

#[tokio::test]
async fn what_cannot_be_said_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let error = say(&*registry, NoticeKind::Yank, "").await.unwrap_err();
    assert!(matches!(error, NotifyError::NoVersion { .. }), "{error}");
    registry.publish(&usdc("1.0.0").checked(), Timestamp::from_unix(1)).await.unwrap();
    for reason in ["two\nlines", &"x".repeat(1_025)] {
        assert!(matches!(say(&*registry, NoticeKind::Yank, reason).await, Err(NotifyError::Reason)));
    }
    let last = place.path().join("v1/nests/usdc/notices/4294967295.json");
    std::fs::create_dir_all(last.parent().unwrap()).unwrap();
    std::fs::write(
        last,
        r#"{"at":"1970-01-01T00:00:07Z","kind":"unyank","name":"usdc","reason":"","seq":4294967295,"version":"1.0.0"}"#,
    )
    .unwrap();
    let error = say(&*registry, NoticeKind::Yank, "").await.unwrap_err();
    assert!(matches!(error, NotifyError::NoNumber { .. }), "{error}");
}

async fn many_at_once(registry: Arc<dyn Registry>) {
    registry.publish(&usdc("1.0.0").checked(), Timestamp::from_unix(1)).await.unwrap();
    let speakers: Vec<_> = (0..20)
        .map(|speaker| {
            let registry = Arc::clone(&registry);
            tokio::spawn(async move { say(&*registry, NoticeKind::Advisory, &format!("{speaker}")).await.unwrap() })
        })
        .collect();
    let mut seqs = Vec::new();
    for speaker in speakers {
        seqs.push(speaker.await.unwrap());
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=20).collect::<Vec<u32>>(), "each has a number of its own, none is lost");
    let shown = registry.versions(&name("usdc")).await.unwrap().remove(0);
    assert_eq!(shown.advisories.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_speak_at_once_all_find_a_number() {
    let place = tempfile::tempdir().unwrap();
    many_at_once(folder(place.path())).await;
    let server = Server::start().await;
    many_at_once(bucket(&server, PATIENT)).await;
}
