//! What the tests stand on.

pub mod bundles;
pub mod log;
/// The whole-system tests have it; they stand above this crate.
// It does more for others.
#[allow(dead_code)]
#[path = "../../../../tests/src/mount.rs"]
pub mod mount;
pub mod s3;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nuthatch_registry::{NestName, Patience, Registry, RegistryOptions};

/// A registry in this folder.
pub fn folder(path: &Path) -> Arc<dyn Registry> {
    nuthatch_registry::open(path.to_str().unwrap()).unwrap()
}

/// A nest's name.
pub fn name(text: &str) -> NestName {
    text.parse().unwrap()
}

/// Patience of tests in which a server answers.
pub const PATIENT: Patience = Patience {
    answer: Duration::from_secs(20),
    whole: Duration::from_secs(60),
    retries: 1,
    retry_for: Duration::from_secs(10),
};

/// Patience of tests in which nobody answers.
pub const SHORT: Patience = Patience {
    answer: Duration::from_millis(300),
    whole: Duration::from_secs(5),
    retries: 1,
    retry_for: Duration::from_secs(1),
};

/// A bucket of this server.
pub fn bucket(server: &s3::Server, patience: Patience) -> Arc<dyn Registry> {
    bucket_at(&server.url(), patience)
}

/// A bucket of the server at this URL.
pub fn bucket_at(url: &str, patience: Patience) -> Arc<dyn Registry> {
    RegistryOptions::default()
        .patience(patience)
        .s3("aws_endpoint", url)
        .s3("aws_access_key_id", "CANARY-ID")
        .s3("aws_secret_access_key", "CANARY-SECRET")
        .s3("aws_region", "us-east-1")
        .open("s3://nests/team-a/")
        .unwrap()
}

/// Every file below a folder, by its path in it.
pub fn files(folder: &Path) -> Vec<String> {
    fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(at) else { return };
        for entry in entries.flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => walk(&entry.path(), root, found),
                false => found.push(entry.path().strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.sort();
    found
}
