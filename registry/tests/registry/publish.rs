//! Publishing: what is written, what is refused, and with which words.

use nuthatch_registry::{
    BundleHash, CheckedBundle, Created, Key, PublishError, Published, Registry, RegistryError, Suspect, Timestamp,
};

use crate::support::bundles::{Recipe, usdc};
use crate::support::mount::Mount;
use crate::support::s3::Server;
use crate::support::{PATIENT, bucket, files, folder, name};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix(seconds)
}

async fn publish(registry: &dyn Registry, recipe: &Recipe) -> Result<Published, PublishError> {
    registry.publish(&recipe.checked(), at(1_000_000_000)).await
}

#[tokio::test]
async fn a_published_bundle_lies_where_the_design_says() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let recipe = usdc("1.3.0");
    let hash = recipe.bundle().hash();
    let published = publish(&*registry, &recipe).await.unwrap();
    assert!(matches!(&published, Published::New { against: None, changes, .. } if changes.is_empty()));
    let expected = [format!("v1/bundles/{hash}"), "v1/nests/usdc/versions/1.3.0.json".to_owned()];
    assert_eq!(files(place.path()), expected);
    assert_eq!(std::fs::read(place.path().join(&expected[0])).unwrap(), recipe.bytes());
    let json = format!(
        "{{\"data_identity\":\"{}\",\"hash\":\"{hash}\",\"name\":\"usdc\",\"published_at\":\"2001-09-09T01:46:40Z\",\
         \"size\":{},\"version\":\"1.3.0\"}}",
        recipe.bundle().data_identity(),
        recipe.bytes().len(),
    );
    assert_eq!(std::fs::read_to_string(place.path().join(&expected[1])).unwrap(), json);
}

#[tokio::test]
async fn a_bucket_is_laid_out_as_a_folder_is() {
    let server = Server::start().await;
    let registry = bucket(&server, PATIENT);
    assert_eq!(registry.name(), "s3://nests/team-a");
    let hash = usdc("1.3.0").bundle().hash();
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    assert_eq!(
        server.keys(),
        [format!("team-a/v1/bundles/{hash}"), "team-a/v1/nests/usdc/versions/1.3.0.json".to_owned()]
    );
    // The bundle first: a crash between leaves a bundle that no record names, never the other way round.
    let puts: Vec<_> = server.requests().into_iter().filter(|request| request.starts_with("PUT")).collect();
    assert!(puts.last().unwrap().ends_with("1.3.0.json"), "{puts:?}");
    assert_eq!(registry.nests().await.unwrap(), [name("usdc")]);
    assert_eq!(registry.pull(hash).await.unwrap().bytes(), usdc("1.3.0").bytes());
}

/// I7: publishing again changes nothing.
#[tokio::test]
async fn i7_the_same_bytes_again_are_fine() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    let before = files(place.path());
    let again = registry.publish(&usdc("1.3.0").checked(), at(2_000_000_000)).await.unwrap();
    assert!(matches!(&again, Published::AlreadyThere { record } if record.published_at == at(1_000_000_000)));
    assert_eq!(files(place.path()), before);
    // A bundle that was taken away by hand is put back.
    std::fs::remove_file(place.path().join(Key::Bundle(again.record().hash).to_string())).unwrap();
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    assert_eq!(files(place.path()), before);
}

#[tokio::test]
async fn other_bytes_under_a_used_version_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    let before = files(place.path());
    let other = usdc("1.3.0").readme("Another nest.");
    let error = publish(&*registry, &other).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "version 1.3.0 of 'usdc' is taken: {} was published under it at 2001-09-09T01:46:40Z, and this bundle is {}. \
             A version is never free again; give this bundle the next one",
            usdc("1.3.0").bundle().hash(),
            other.bundle().hash(),
        )
    );
    assert_eq!(files(place.path()), before, "nothing of it is left");
}

#[tokio::test]
async fn a_breaking_bundle_needs_a_major_version() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    let broken = |version| usdc(version).columns(&[("amount", false)]).address(2);
    let error = publish(&*registry, &broken("1.4.0")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "'usdc' 1.4.0 breaks readers of 1.3.0; publish it as 2.0.0 or higher:\
         \n  contract 'usdc' no longer has the address 0x1111111111111111111111111111111111111101\
         \n  contract 'usdc' also has the address 0x1111111111111111111111111111111111111102\
         \n  column 'usdc__transfer.value' is gone ('amount' has the same type; a renamed column breaks its readers)\
         \n  column 'usdc__transfer.amount' is new and not nullable; only nullable columns may be added"
    );
    assert_eq!(files(place.path()).len(), 2);
    assert!(matches!(publish(&*registry, &broken("2.0.0")).await.unwrap(), Published::New { against: Some(_), .. }));
}

#[tokio::test]
async fn what_is_added_needs_a_minor_version() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.3.0")).await.unwrap();
    let wider = |version| usdc(version).columns(&[("value", false), ("memo", true)]);
    let error = publish(&*registry, &wider("1.3.1")).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "'usdc' 1.3.1 adds to 1.3.0; publish it as 1.4.0 or higher:\n  column 'usdc__transfer.memo' is new"
    );
    let published = publish(&*registry, &wider("1.4.0")).await.unwrap();
    assert!(matches!(published, Published::New { against: Some(version), changes, .. }
        if version.to_string() == "1.3.0" && changes.len() == 1));
    // A fix for the older line is held against that line, and must not break the step to the newer one.
    publish(&*registry, &usdc("1.3.1")).await.unwrap();
    let error = publish(&*registry, &usdc("1.3.2").columns(&[("value", false), ("memo", true), ("extra", true)])).await;
    assert!(matches!(error, Err(PublishError::StepTooSmall(_))), "{error:?}");
    let error = publish(&*registry, &usdc("1.3.9").columns(&[])).await.unwrap_err().to_string();
    assert!(error.starts_with("'usdc' 1.3.9 breaks readers of 1.3.1"), "{error}");
}

#[tokio::test]
async fn a_version_between_two_others_must_not_break_the_upper_step() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.0.0")).await.unwrap();
    publish(&*registry, &usdc("1.2.0")).await.unwrap();
    let error = publish(&*registry, &usdc("1.1.0").columns(&[("value", false), ("memo", true)])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "'usdc' 1.1.0 cannot come before the published 1.2.0, which then breaks readers of it; give it a version above \
         1.2.0:\n  column 'usdc__transfer.memo' is gone"
    );
    publish(&*registry, &usdc("1.1.0")).await.unwrap();
}

/// A yank can be taken back, so it does not free from compatibility.
#[tokio::test]
async fn a_yanked_version_still_counts_as_the_last() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.0.0").columns(&[("value", false), ("memo", true)])).await.unwrap();
    let version = "1.0.0".parse().unwrap();
    registry.notify(&name("usdc"), &version, nuthatch_registry::NoticeKind::Yank, "", at(5)).await.unwrap();
    let error = publish(&*registry, &usdc("1.1.0")).await.unwrap_err();
    assert!(error.to_string().starts_with("'usdc' 1.1.0 breaks readers of 1.0.0"), "{error}");
}

#[tokio::test]
async fn a_nest_stays_on_its_chain_at_any_version() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    publish(&*registry, &usdc("1.0.0-rc.1")).await.unwrap();
    for version in ["1.0.0", "2.0.0", "0.1.0"] {
        let error = publish(&*registry, &usdc(version).chain("gnosis")).await.unwrap_err();
        assert!(matches!(error, PublishError::Refused { .. }), "{error}");
        assert!(error.to_string().contains("a nest stays on its chain"), "{error}");
    }
    // A pre-release has promised nothing else.
    publish(&*registry, &usdc("1.0.0").columns(&[("amount", false)])).await.unwrap();
}

#[tokio::test]
async fn a_published_bundle_that_cannot_be_read_stops_the_next_version() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let first = publish(&*registry, &usdc("1.0.0")).await.unwrap();
    let path = place.path().join(Key::Bundle(first.record().hash).to_string());
    std::fs::write(&path, "other").unwrap();
    let error = publish(&*registry, &usdc("1.1.0")).await.unwrap_err();
    assert!(
        matches!(&error, PublishError::Unreadable { record, .. } if record.version.to_string() == "1.0.0"),
        "{error}"
    );
    std::fs::remove_file(&path).unwrap();
    let error = publish(&*registry, &usdc("1.1.0")).await.unwrap_err().to_string();
    assert!(error.contains("is not in the registry") && error.contains("Put it back"), "{error}");
}

/// I11: a record never names bytes that are not its address.
#[tokio::test]
async fn i11_a_bundle_is_not_published_over_other_bytes_at_its_address() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let hash = usdc("1.0.0").bundle().hash();
    assert_eq!(registry.create(&Key::Bundle(hash), "other".into()).await.unwrap(), Created::New);
    let error = publish(&*registry, &usdc("1.0.0")).await.unwrap_err();
    let expected = BundleHash::of(b"other");
    assert!(
        matches!(&error, PublishError::Registry(RegistryError::OtherBytes { found, .. }) if *found == expected),
        "{error}"
    );
    assert_eq!(registry.version_numbers(&name("usdc")).await.unwrap(), []);
}

#[tokio::test]
async fn a_store_that_ignores_conditions_is_refused_before_a_version_is_written() {
    let server = Server::that_ignores_conditions().await;
    let error = publish(&*bucket(&server, PATIENT), &usdc("1.0.0")).await.unwrap_err();
    assert!(matches!(error, PublishError::Registry(RegistryError::Overwrites { .. })), "{error}");
    assert!(server.keys().iter().all(|key| key.contains("/bundles/")), "{:?}", server.keys());
}

/// I13: a bundle that holds a secret cannot become one that may be published.
#[test]
fn i13_a_planted_credential_is_refused_with_file_and_line() {
    let planted = usdc("1.0.0").readme("# usdc\n\nhttps://mainnet.infura.io/v3/9aa3d95b3bc440fa88ea12eaa4456161\n");
    let found = CheckedBundle::vouched(planted.bundle()).unwrap_err();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].file.as_str(), found[0].line, found[0].what), ("README.md", 3, Suspect::UrlKey));
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let place = tempfile::tempdir().unwrap();
    let view = Mount::read_only_view(place.path());
    let error = publish(&*folder(view.path()), &usdc("1.0.0")).await.unwrap_err();
    let hash = usdc("1.0.0").bundle().hash();
    assert_eq!(
        error.to_string(),
        format!(
            "the registry {} cannot write v1/bundles/{hash}: Read-only file system (os error 30); try again, or use \
             another one",
            view.path().display()
        )
    );
    assert_eq!(files(place.path()), [""; 0]);
}

#[tokio::test]
async fn what_is_no_file_is_not_waited_for() {
    let place = tempfile::tempdir().unwrap();
    let registry = folder(place.path());
    let hash = BundleHash([7; 32]);
    let path = place.path().join(Key::Bundle(hash).to_string());
    std::fs::create_dir_all(&path).unwrap();
    let refused = |error: RegistryError| assert!(error.to_string().contains("it is not a file"), "{error}");
    refused(registry.pull(hash).await.unwrap_err());
    std::fs::remove_dir(&path).unwrap();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    refused(registry.pull(hash).await.unwrap_err());
}
