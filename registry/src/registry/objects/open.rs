//! From what a user writes to a registry.

use std::path::Path;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{BackoffConfig, ClientConfigKey, RetryConfig};
use tokio::sync::OnceCell;

use super::connector::BoundedConnector;
use super::{ObjectRegistry, Patience, Writing};
use crate::durable;
use crate::names::shown;
use crate::registry::{Registry, RegistryError};

/// Opens the registry that a user names: a folder, which is made if it is not there, or `s3://bucket/prefix`.
/// Credentials, region and endpoint of a bucket come from the usual `AWS_…` variables and are never shown.
pub fn open(url: &str) -> Result<Arc<dyn Registry>, RegistryError> {
    RegistryOptions::default().open(url)
}

/// As [`open`], to read from: a folder is not made.
pub fn open_existing(url: &str) -> Result<Arc<dyn Registry>, RegistryError> {
    RegistryOptions::default().open_existing(url)
}

/// How a registry is opened, where the usual is not wanted.
///
/// ```no_run
/// use std::time::Duration;
///
/// use nuthatch_registry::{Patience, RegistryOptions};
///
/// let patience = Patience { whole: Duration::from_secs(20), ..Patience::default() };
/// let options = RegistryOptions::default().patience(patience).s3("aws_endpoint", "http://127.0.0.1:9000");
/// let registry = options.open("s3://nests/team-a")?;
/// # Ok::<(), nuthatch_registry::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct RegistryOptions {
    patience: Patience,
    /// May hold credentials: nothing here is `Debug`.
    s3: Vec<(String, String)>,
}

impl RegistryOptions {
    /// How long the registry may take.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// A setting of an S3 bucket, by the name of its environment variable in lower case; it wins over the variable.
    #[must_use]
    pub fn s3(mut self, name: &str, value: &str) -> Self {
        self.s3.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As [`open`].
    pub fn open(&self, url: &str) -> Result<Arc<dyn Registry>, RegistryError> {
        match Place::of(url)? {
            Place::Bucket(rest) => self.bucket(url, rest),
            Place::Folder(path) => {
                durable::make_folder(path).map_err(|error| no_registry(url, error.to_string()))?;
                self.folder(url, path)
            }
        }
    }

    /// As [`open_existing`].
    pub fn open_existing(&self, url: &str) -> Result<Arc<dyn Registry>, RegistryError> {
        match Place::of(url)? {
            Place::Bucket(rest) => self.bucket(url, rest),
            Place::Folder(path) => self.folder(url, path),
        }
    }

    fn folder(&self, url: &str, path: &Path) -> Result<Arc<dyn Registry>, RegistryError> {
        let path = path.canonicalize().map_err(|error| no_registry(url, error.to_string()))?;
        if !path.is_dir() {
            return Err(no_registry(url, "it is a file".to_owned()));
        }
        let objects = LocalFileSystem::new_with_prefix(&path).map_err(|error| no_registry(url, error.to_string()))?;
        Ok(Arc::new(ObjectRegistry {
            name: path.display().to_string(),
            objects: Arc::new(objects),
            patience: self.patience,
            writing: Writing::Folder(path),
        }))
    }

    fn bucket(&self, url: &str, rest: &str) -> Result<Arc<dyn Registry>, RegistryError> {
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_bucket = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
        if bucket.is_empty() || !bucket.bytes().all(is_bucket) {
            let reason = "a bucket's name has letters, digits, '.', '-' and '_'; credentials come from AWS_… variables";
            return Err(no_registry(url, reason.to_owned()));
        }
        let prefix = ObjectPath::parse(prefix.trim_end_matches('/'));
        let prefix = prefix.map_err(|_| no_registry(url, "the prefix is not a path of plain names".to_owned()))?;
        let mut builder = AmazonS3Builder::from_env();
        for (name, value) in &self.s3 {
            let key: AmazonS3ConfigKey =
                name.parse().map_err(|_| no_registry(url, format!("'{}' is no setting of S3", shown(name))))?;
            builder = builder.with_config(key, value);
        }
        let endpoints = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
        let plain_http = endpoints.iter().find_map(|key| builder.get_config_value(key));
        if plain_http.is_some_and(|endpoint| endpoint.starts_with("http://")) {
            builder = builder.with_allow_http(true);
        }
        let Patience { answer, whole, retries, retry_for } = self.patience;
        let store = builder
            .with_bucket_name(bucket)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), format!("{}ms", whole.as_millis()))
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: retries,
                retry_timeout: retry_for,
            })
            .with_http_connector(BoundedConnector { answer })
            .build()
            // The builder's own words may repeat a setting.
            .map_err(|_| no_registry(url, "the AWS_… variables do not fit together; check them".to_owned()))?;
        Ok(Arc::new(ObjectRegistry {
            name: url.trim_end_matches('/').to_owned(),
            objects: Arc::new(PrefixStore::new(store, prefix)),
            patience: self.patience,
            writing: Writing::Bucket(OnceCell::new()),
        }))
    }
}

enum Place<'a> {
    /// Bucket and prefix.
    Bucket(&'a str),
    Folder(&'a Path),
}

impl<'a> Place<'a> {
    fn of(url: &'a str) -> Result<Self, RegistryError> {
        if let Some(rest) = url.strip_prefix("s3://") {
            return Ok(Place::Bucket(rest));
        }
        match url.strip_prefix("file://").unwrap_or(url) {
            "" => Err(no_registry(url, "it is empty".to_owned())),
            other if other.contains("://") => Err(no_registry(url, "this kind of URL is not known".to_owned())),
            folder => Ok(Place::Folder(Path::new(folder))),
        }
    }
}

fn no_registry(url: &str, reason: String) -> RegistryError {
    // What stands before an '@' in a URL may be a password, what stands behind a '?' a token.
    let registry = match url.split_once("://") {
        Some((scheme, rest)) => {
            let rest = rest.split(['?', '#']).next().unwrap_or_default();
            format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host))
        }
        None => url.to_owned(),
    };
    RegistryError::NoRegistry { registry: registry.escape_debug().take(200).collect(), reason }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn refused(url: &str) -> String {
        open(url).err().unwrap_or_else(|| panic!("{url} is no registry")).to_string()
    }

    #[test]
    fn what_is_no_registry_says_what_would_be_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for bad in ["", "https://example.com/x", "gs://bucket", "s3://", "s3:///prefix", file.to_str().unwrap()] {
            assert!(refused(bad).contains("give a folder, or s3://bucket/prefix"), "{bad}");
        }
        let nowhere = folder.path().join("nowhere");
        assert!(open_existing(nowhere.to_str().unwrap()).is_err());
        assert!(!nowhere.exists());
        assert!(open(nowhere.to_str().unwrap()).is_ok());
        assert!(open_existing(&format!("file://{}", nowhere.display())).is_ok());
    }

    #[test]
    fn credentials_in_a_url_are_refused_and_not_shown() {
        for url in ["s3://key:CANARY@bucket/prefix", "https://user:CANARY@host/x", "https://host/x?token=CANARY"] {
            let message = refused(url);
            assert!(!message.contains("CANARY") && !message.contains("key:"), "{message}");
        }
    }

    #[test]
    fn a_setting_that_s3_does_not_have_is_named_and_its_value_is_not() {
        let options = RegistryOptions::default().s3("aws_nothing", "CANARY");
        let message = options.open("s3://bucket").err().unwrap().to_string();
        assert!(message.contains("aws_nothing") && !message.contains("CANARY"), "{message}");
    }
}
