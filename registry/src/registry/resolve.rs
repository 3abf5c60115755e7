//! From a name to a bundle.

use semver::{Version, VersionReq};

use super::{Registry, RegistryError};
use crate::{NestName, VersionRecord};

/// Which version of a nest is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The highest that is neither a pre-release nor yanked.
    Latest,
    /// This one. If it is yanked it is refused, with its hash: by hash it can still be had.
    Exact(Version),
    /// The highest that is not yanked and meets this.
    Matching(VersionReq),
}

/// Why no version was chosen.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// No such nest.
    #[error("there is no nest '{name}' in the registry {registry}; 'nuthatch bundle list' shows which there are")]
    NoNest {
        /// The name.
        name: NestName,
        /// The registry.
        registry: String,
    },
    /// No such version.
    #[error("there is no version {version} of '{name}' in the registry {registry}; the highest is {highest}")]
    NoVersion {
        /// The nest.
        name: NestName,
        /// The version.
        version: Version,
        /// The highest there is.
        highest: Version,
        /// The registry.
        registry: String,
    },
    /// No version meets the requirement.
    #[error(
        "no version of '{name}' in the registry {registry} that is not yanked meets {requirement}; the highest is {highest}"
    )]
    NoMatch {
        /// The nest.
        name: NestName,
        /// What was asked for.
        requirement: VersionReq,
        /// The highest there is.
        highest: Version,
        /// The registry.
        registry: String,
    },
    /// Only pre-releases and yanked versions.
    #[error(
        "every version of '{name}' in the registry {registry} is a pre-release or yanked; {}",
        match .pre_release {
            Some(version) => format!("name one: {name}@{version}"),
            None => format!("a yanked one can be pinned by its hash, which 'nuthatch bundle list {name}' shows"),
        }
    )]
    NoRelease {
        /// The nest.
        name: NestName,
        /// The highest pre-release that is not yanked.
        pre_release: Option<Version>,
        /// The registry.
        registry: String,
    },
    /// The version asked for is yanked.
    #[error("version {} of '{}' is yanked ({reason}); take another one, or pin these bytes: {}@{}", .record.version, .record.name, .record.name, .record.hash)]
    Yanked {
        /// Its record.
        record: Box<VersionRecord>,
        /// Why it was yanked.
        reason: String,
    },
}

impl dyn Registry + '_ {
    /// Chooses a version by name. What to keep of the answer is its hash: a later call may choose another one.
    pub async fn resolve(&self, name: &NestName, pick: &Pick) -> Result<VersionRecord, ResolveError> {
        let versions = self.version_numbers(name).await?;
        let registry = || self.name().to_owned();
        let Some(highest) = versions.last().cloned() else {
            return Err(ResolveError::NoNest { name: name.clone(), registry: registry() });
        };
        let standing = self.standing(name).await?;
        let free = || versions.iter().rev().filter(|version| standing.yanked(version).is_none());
        let name = name.clone();
        let chosen = match pick {
            Pick::Exact(version) if !versions.contains(version) => {
                return Err(ResolveError::NoVersion { name, version: version.clone(), highest, registry: registry() });
            }
            Pick::Exact(version) => version,
            Pick::Latest => match free().find(|version| version.pre.is_empty()) {
                Some(version) => version,
                None => {
                    let pre_release = free().next().cloned();
                    return Err(ResolveError::NoRelease { name, pre_release, registry: registry() });
                }
            },
            Pick::Matching(requirement) => match free().find(|version| requirement.matches(version)) {
                Some(version) => version,
                None => {
                    let (requirement, registry) = (requirement.clone(), registry());
                    return Err(ResolveError::NoMatch { name, requirement, highest, registry });
                }
            },
        };
        let record = self.record(&name, chosen).await?;
        match standing.yanked(chosen) {
            None => Ok(record),
            Some(notice) => {
                let reason = if notice.reason.is_empty() { "no reason given" } else { &notice.reason };
                Err(ResolveError::Yanked { record: Box::new(record), reason: reason.to_owned() })
            }
        }
    }
}
