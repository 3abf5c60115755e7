//! Why a bundle was not published.

use std::fmt;

use semver::Version;

use crate::registry::RegistryError;
use crate::{Bump, BundleHash, Change, Compatibility, Manifest, NestName, Reason, Refusal, VersionRecord};

/// Why a bundle was not published. Nothing is then under its version that was not there before.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The version has other bytes.
    #[error(
        "version {} of '{}' is taken: {} was published under it at {}, and this bundle is {ours}. A version is never free \
         again; give this bundle the next one", .standing.version, .standing.name, .standing.hash, .standing.published_at
    )]
    Taken {
        /// What is published.
        standing: Box<VersionRecord>,
        /// What was to be.
        ours: BundleHash,
    },
    /// The version number says less than what is different.
    #[error("{0}")]
    StepTooSmall(Box<Shortfall>),
    /// Not a version of what is published.
    #[error("{refusal}")]
    Refused {
        /// Another chain.
        refusal: Refusal,
    },
    /// A published version cannot be compared with.
    #[error(
        "the bundle {} of '{}' {} in the registry {registry}, which this one has to be held against, cannot be used: \
         {problem}. Put it back from a copy or a cache, then publish again", .record.hash, .record.name, .record.version
    )]
    Unreadable {
        /// Its record.
        record: Box<VersionRecord>,
        /// The registry.
        registry: String,
        /// What is wrong.
        problem: String,
    },
}

/// A step between two versions that says too little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The nest.
    pub name: NestName,
    /// The lower version.
    pub old: Version,
    /// The upper one.
    pub new: Version,
    /// The step that would say enough.
    pub required: Bump,
    /// Everything that breaks readers of the lower one.
    pub reasons: Vec<Reason>,
    /// What is different besides.
    pub changes: Vec<Change>,
    /// Which of the two is being published.
    pub publishing: Side,
}

/// Which version of a step is being published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The upper one: the usual case.
    Upper,
    /// The lower one: a version that is put between two others.
    Lower,
}

impl Shortfall {
    pub(super) fn of_new(old: &Manifest, new: &Manifest, found: Compatibility) -> Self {
        Shortfall::of(old, new, found, Side::Upper)
    }

    pub(super) fn of_next(old: &Manifest, new: &Manifest, found: Compatibility) -> Self {
        Shortfall::of(old, new, found, Side::Lower)
    }

    fn of(old: &Manifest, new: &Manifest, found: Compatibility, publishing: Side) -> Self {
        let required = found.required_bump().unwrap_or(Bump::Major);
        let (reasons, changes) = match found {
            Compatibility::Breaking { reasons, changes } => (reasons, changes),
            Compatibility::Compatible { changes } => (Vec::new(), changes),
            Compatibility::Refused(_) => Default::default(),
        };
        let (name, old, new) = (new.name.clone(), old.version.clone(), new.version.clone());
        Shortfall { name, old, new, required, reasons, changes, publishing }
    }

    /// The lowest version that would say enough.
    pub fn enough(&self) -> Version {
        let Version { major, minor, patch, .. } = self.old;
        match (self.required, major) {
            (Bump::Major, 0) | (Bump::Minor, 1..) => Version::new(major, minor + 1, 0),
            (Bump::Major, _) => Version::new(major + 1, 0, 0),
            _ => Version::new(major, minor, patch + 1),
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortfall { name, old, new, .. } = self;
        let what = if self.reasons.is_empty() { "adds to" } else { "breaks readers of" };
        match self.publishing {
            Side::Upper => write!(f, "'{name}' {new} {what} {old}; publish it as {} or higher:", self.enough())?,
            Side::Lower => write!(
                f,
                "'{name}' {old} cannot come before the published {new}, which then {what} it; give it a version above {new}:"
            )?,
        }
        for reason in &self.reasons {
            write!(f, "\n  {reason}")?;
        }
        if self.reasons.is_empty() {
            for change in self.changes.iter().filter(|change| change.bump() == self.required) {
                write!(f, "\n  {change}")?;
            }
        }
        Ok(())
    }
}
