//! A registry that answers badly: each way has its error, nothing of it is kept, and no credential is told.

use std::time::Duration;

use nuthatch_registry::{BundleHash, Cache, MAX_BUNDLE_BYTES, Patience, PullError, Puller, RegistryError};

use crate::support::bundles::usdc;
use crate::support::s3::{Answer, Server, half_of};
use crate::support::{PATIENT, SHORT, bucket, bucket_at, files, name};

/// Asks for a bundle, and gives the error.
async fn asked(answer: Answer) -> RegistryError {
    let server = Server::start().await;
    server.answer(answer);
    asked_of(&server.url(), PATIENT).await
}

/// Asks the server at this URL through cache and registry.
async fn asked_of(url: &str, patience: Patience) -> RegistryError {
    let place = tempfile::tempdir().unwrap();
    let puller = Puller::new(Cache::at(place.path()), Some(bucket_at(url, patience)));
    let hash = usdc("1.0.0").bundle().hash();
    let error = puller.get(&name("usdc"), hash).await.expect_err("the answer is bad");
    assert!(!error.to_string().contains("CANARY"), "{error}");
    assert!(error.to_string().starts_with(&format!("bundle {hash} of 'usdc' cannot be had: ")), "{error}");
    assert_eq!(files(place.path()), [""; 0], "nothing of it is kept");
    match error {
        PullError::Registry { problem, .. } => problem,
        other => panic!("{other}"),
    }
}

fn good() -> Vec<u8> {
    usdc("1.0.0").bytes()
}

#[tokio::test]
async fn a_good_answer_is_taken() {
    let server = Server::start().await;
    server.answer(Answer::Bytes(good()));
    let hash = BundleHash::of(&good());
    assert_eq!(bucket(&server, PATIENT).pull(hash).await.unwrap().bytes(), good());
}

/// I11: other bytes are refused, in every way they can be other.
#[tokio::test]
async fn i11_other_bytes() {
    let mut flipped = good();
    flipped[30] ^= 1;
    let cut = good()[..good().len() - 1].to_vec();
    let longer = [good(), vec![0]].concat();
    for other in [flipped, cut, longer, usdc("1.0.1").bytes(), Vec::new()] {
        let found = BundleHash::of(&other);
        let error = asked(Answer::Bytes(other)).await;
        assert!(matches!(&error, RegistryError::OtherBytes { found: told, .. } if *told == found), "{error}");
        assert!(error.to_string().contains("sent other bytes than those of bundle"), "{error}");
    }
}

#[tokio::test]
async fn half_a_body() {
    let error = asked_of(&half_of(good(), usize::MAX).await, PATIENT).await;
    let (got, expected) = (good().len() as u64 / 2, good().len() as u64);
    assert!(
        matches!(&error, RegistryError::BrokenOff { got: g, expected: e, .. } if (*g, *e) == (got, expected)),
        "{error}"
    );
    assert!(error.to_string().contains(&format!("sent only {got} of the {expected} bytes")), "{error}");
}

#[tokio::test]
async fn a_connection_that_breaks_once_is_forgiven() {
    let url = half_of(good(), 1).await;
    let hash = BundleHash::of(&good());
    assert_eq!(bucket_at(&url, PATIENT).pull(hash).await.unwrap().bytes(), good());
}

#[tokio::test]
async fn an_endless_body() {
    for announced in [u64::MAX >> 1, MAX_BUNDLE_BYTES as u64 + 1] {
        let error = asked(Answer::Endless(announced)).await;
        assert!(matches!(&error, RegistryError::TooLarge { max: MAX_BUNDLE_BYTES, .. }), "{error}");
    }
    // Without a length it is not even begun.
    let error = asked(Answer::EndlessUnannounced).await;
    assert!(matches!(&error, RegistryError::Failed { doing: "read", .. }), "{error}");
    assert!(error.to_string().to_lowercase().contains("content-length"), "{error}");
}

#[tokio::test]
async fn refusals() {
    let error = asked(Answer::Status(404, "gone".to_owned())).await;
    assert!(matches!(&error, RegistryError::NotThere { .. }), "{error}");
    assert!(error.to_string().ends_with("is not in the registry s3://nests/team-a"), "{error}");

    let error = asked(Answer::Bucketless).await;
    assert!(matches!(&error, RegistryError::Failed { doing: "read", .. }), "{error}");
    assert!(error.to_string().contains("404 Not Found: NoSuchBucket"), "{error}");

    for status in [401, 403] {
        let error = asked(Answer::Status(status, "no\u{1b}[31m".to_owned())).await;
        assert!(matches!(&error, RegistryError::Denied { doing: "read", .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("{status}")) && text.contains("Refused: no\\u{1b}[31m"), "{text}");
        assert!(text.contains("check the credentials"), "{text}");
    }

    let error = asked(Answer::Status(500, "x".repeat(5_000))).await;
    assert!(matches!(&error, RegistryError::Failed { doing: "read", .. }), "{error}");
    assert!(error.to_string().contains("500 Internal Server Error: Refused: xxx"), "{error}");
    assert!(error.to_string().len() < 700, "{error}");
}

#[tokio::test]
async fn a_refusal_without_end_takes_neither_memory_nor_time() {
    let error = asked(Answer::EndlessRefusal(500)).await;
    assert!(matches!(&error, RegistryError::Failed { .. }), "{error}");
    assert!(error.to_string().contains("500 Internal Server Error;"), "{error}");
}

#[tokio::test]
async fn silence() {
    for answer in [Answer::Silence, Answer::FirstByte(good().len() as u64)] {
        let server = Server::start().await;
        server.answer(answer);
        let error = asked_of(&server.url(), SHORT).await;
        assert!(matches!(&error, RegistryError::Silent { doing: "read", .. }), "{error}");
        assert!(error.to_string().contains("did not answer in time"), "{error}");
    }
}

#[tokio::test]
async fn nobody_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let registry = bucket_at(&format!("http://CANARY:CANARY@{gone}"), PATIENT);
    let error = registry.pull(BundleHash([0; 32])).await.unwrap_err();
    assert!(matches!(&error, RegistryError::Failed { .. }), "{error}");
    assert!(!error.to_string().contains("CANARY"), "{error}");
}

#[tokio::test]
async fn what_can_pass_is_tried_again_and_what_cannot_is_not() {
    let patience =
        Patience { retries: 3, retry_for: Duration::from_secs(30), whole: Duration::from_secs(30), ..PATIENT };
    for (status, tries) in [(500, 4), (503, 4), (429, 4), (403, 1), (404, 1)] {
        let server = Server::start().await;
        server.answer(Answer::Status(status, String::new()));
        bucket(&server, patience).pull(BundleHash([0; 32])).await.unwrap_err();
        assert_eq!(server.requests().len(), tries, "{status}");
    }
}

#[tokio::test]
async fn a_listing_without_end_ends() {
    let server = Server::with_endless_listings().await;
    let patience = Patience { whole: Duration::from_secs(60), ..PATIENT };
    let error = bucket(&server, patience).nests().await.unwrap_err();
    assert!(matches!(&error, RegistryError::TooMany { max: 100_000, .. }), "{error}");
}
