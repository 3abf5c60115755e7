//! What a registry has.

use futures::{StreamExt, TryStreamExt, stream};
use semver::Version;

use super::layout::version_of;
use super::{Key, Registry, RegistryError, Shelf};
use crate::{MAX_RECORD_BYTES, NestName, Notice, VersionRecord};

/// Records that are read at once.
const AT_ONCE: usize = 8;

/// A version and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedVersion {
    /// Its record.
    pub record: VersionRecord,
    /// The notice that yanked it, if it is yanked.
    pub yanked: Option<Notice>,
    /// What else is said about it, oldest first.
    pub advisories: Vec<Notice>,
}

impl dyn Registry + '_ {
    /// The nests that the registry knows, sorted. What else lies on that shelf is no nest.
    pub async fn nests(&self) -> Result<Vec<NestName>, RegistryError> {
        let names = self.list(&Shelf::Nests).await?;
        let mut nests: Vec<NestName> = names.iter().filter_map(|name| name.parse().ok()).collect();
        nests.sort();
        Ok(nests)
    }

    /// The version numbers of a nest, lowest first; none of a nest that is not there.
    pub async fn version_numbers(&self, name: &NestName) -> Result<Vec<Version>, RegistryError> {
        let files = self.list(&Shelf::Versions(name.clone())).await?;
        let mut versions: Vec<Version> = files.iter().filter_map(|file| version_of(file)).collect();
        versions.sort();
        Ok(versions)
    }

    /// The versions of a nest with their records and what is said about them, lowest first.
    pub async fn versions(&self, name: &NestName) -> Result<Vec<PublishedVersion>, RegistryError> {
        let standing = self.standing(name).await?;
        let records = stream::iter(self.version_numbers(name).await?)
            .map(|version| async move { self.record(name, &version).await })
            .buffered(AT_ONCE);
        let published = records.map_ok(|record| PublishedVersion {
            yanked: standing.yanked(&record.version).cloned(),
            advisories: standing.advisories(&record.version).to_vec(),
            record,
        });
        published.try_collect().await
    }

    /// The record of one version.
    pub async fn record(&self, name: &NestName, version: &Version) -> Result<VersionRecord, RegistryError> {
        let key = Key::Version(name.clone(), version.clone());
        let bytes = self.read(&key, MAX_RECORD_BYTES).await?;
        VersionRecord::parse(&bytes, name, version).map_err(|problem| self.refused(&key, problem))
    }
}
