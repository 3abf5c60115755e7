//! Publishing a bundle.
//!
//! Which version is "the last" that a new one is held against: the highest release below it, yanked or not. A release
//! below, not the highest of all, so that a fix for an older line can still be published. Yanked ones too: a yank can be
//! taken back, endpoints may still be pinned to them by hash, and a version number that readers relied on has promised
//! something. The lowest release above is looked at as well, from its side: a version put between two others must not
//! make the step to the upper one a breaking one. Pre-releases promise nothing and are held against, not compared with;
//! where there is nothing else one of them still tells the chain.

mod error;
mod neighbours;

use bytes::Bytes;
use semver::Version;

pub use error::{PublishError, Shortfall, Side};

use super::{Created, Key, Registry, RegistryError};
use crate::scan::{Finding, scan_bundle};
use crate::{Bundle, Change, Compatibility, Manifest, Timestamp, VersionRecord, compat};
use neighbours::Neighbours;

/// A bundle that may be published.
///
/// Being a [`Bundle`] shows that its bytes are one, with a manifest that keeps every rule; making this one scans its
/// texts for credentials. What needs an engine is the caller's word, and must have been checked of these very bytes:
///
/// - the code compiles, and imports nothing but what the guest interface allows (I10);
/// - what `describe` answers equals the manifest;
/// - every fixture decodes to its expected rows, at batch sizes one, all and random splits (I10);
/// - every SQL view can be planned, and one that was published before has the columns it had;
/// - what the manifest cannot show and the author's folder can: `nest.toml` holds no credentials.
#[derive(Clone, Debug)]
pub struct CheckedBundle(Bundle);

impl CheckedBundle {
    /// Takes the caller's word for the checks above. Texts that look like credentials are refused, all of them listed.
    pub fn vouched(bundle: Bundle) -> Result<Self, Vec<Finding>> {
        match scan_bundle(&bundle) {
            found if found.is_empty() => Ok(CheckedBundle(bundle)),
            found => Err(found),
        }
    }

    /// The bundle.
    pub fn bundle(&self) -> &Bundle {
        &self.0
    }
}

/// What came of publishing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is published now.
    New {
        /// Its record.
        record: VersionRecord,
        /// The version it was held against, if there was one.
        against: Option<Version>,
        /// What is different from that one.
        changes: Vec<Change>,
    },
    /// These bytes were published under this version before; nothing was changed.
    AlreadyThere {
        /// Its record.
        record: VersionRecord,
    },
}

impl Published {
    /// The record that stands in the registry.
    pub fn record(&self) -> &VersionRecord {
        match self {
            Published::New { record, .. } | Published::AlreadyThere { record } => record,
        }
    }
}

impl dyn Registry + '_ {
    /// Publishes a bundle under the name and version of its manifest: the file first, then the record of the version.
    ///
    /// The same bytes again are fine and change nothing, other bytes under a used version are refused (I7). Of two that
    /// publish one version at once, the record decides: one of them has it, the other is told that the version is taken.
    /// Two that publish different versions at once are each held against what was there before.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use nuthatch_registry::{Bundle, BundleBuilder, CheckedBundle, NestToml, Pick, Published, Timestamp};
    ///
    /// let toml = "[nest]\nname = \"usdc\"\nversion = \"1.3.0\"\nchain = \"mainnet\"\n[code]\ncrate = \".\"\n";
    /// let manifest = NestToml::parse(toml, "nest.toml")?.manifest(vec![], vec![]);
    /// let component = b"\0asm\x0d\0\x01\0".to_vec();
    /// let bundle = Bundle::parse(&BundleBuilder::new(component, manifest, vec![]).build()?)?;
    /// // Here a caller with an engine checks imports, `describe` and fixtures.
    /// let checked = CheckedBundle::vouched(bundle).map_err(|found| found[0].to_string())?;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let registry = nuthatch_registry::open(folder.path().to_str().unwrap())?;
    /// let published = registry.publish(&checked, Timestamp::now()).await?;
    /// assert!(matches!(published, Published::New { against: None, .. }));
    /// let again = registry.publish(&checked, Timestamp::now()).await?;
    /// assert!(matches!(again, Published::AlreadyThere { .. }));
    ///
    /// let record = registry.resolve(&"usdc".parse()?, &Pick::Latest).await?;
    /// assert_eq!(registry.pull(record.hash).await?.bytes(), &checked.bundle().bytes()[..]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn publish(&self, bundle: &CheckedBundle, now: Timestamp) -> Result<Published, PublishError> {
        let bundle = bundle.bundle();
        let record = VersionRecord::of(bundle, now);
        let key = Key::Version(record.name.clone(), record.version.clone());
        if let Some(standing) = self.if_there(self.record(&record.name, &record.version).await)? {
            let standing = same_or_taken(standing, &record)?;
            // The record may have outlived its bundle: a copy that is not whole, or a file taken away by hand.
            self.store_bundle(bundle).await?;
            return Ok(Published::AlreadyThere { record: standing });
        }
        let versions = self.version_numbers(&record.name).await?;
        let (against, changes) = self.hold_against(bundle.manifest(), &versions).await?;
        self.store_bundle(bundle).await?;
        match self.create(&key, record.to_json().into()).await? {
            Created::New => Ok(Published::New { record, against, changes }),
            Created::Taken => {
                let standing = same_or_taken(self.record(&record.name, &record.version).await?, &record)?;
                Ok(Published::AlreadyThere { record: standing })
            }
        }
    }

    /// Holds a bundle against the versions that are published, as publishing does, without writing:
    /// the version it was held against, and what is different.
    pub async fn check_step(&self, manifest: &Manifest) -> Result<(Option<Version>, Vec<Change>), PublishError> {
        let versions = self.version_numbers(&manifest.name).await?;
        self.hold_against(manifest, &versions).await
    }

    /// The manifest of a published version.
    pub async fn manifest(&self, record: &VersionRecord) -> Result<Manifest, PublishError> {
        let unreadable = |problem: String| PublishError::Unreadable {
            record: Box::new(record.clone()),
            registry: self.name().to_owned(),
            problem,
        };
        let bytes = match self.pull(record.hash).await {
            Err(error @ (RegistryError::NotThere { .. } | RegistryError::OtherBytes { .. })) => {
                return Err(unreadable(error.to_string()));
            }
            other => other?,
        };
        let manifest = Bundle::parse(bytes.bytes()).map_err(|error| unreadable(error.to_string()))?.manifest().clone();
        if (&manifest.name, &manifest.version) != (&record.name, &record.version) {
            return Err(unreadable(format!("it is '{}' {}", manifest.name, manifest.version)));
        }
        Ok(manifest)
    }

    async fn hold_against(
        &self,
        new: &Manifest,
        versions: &[Version],
    ) -> Result<(Option<Version>, Vec<Change>), PublishError> {
        let Neighbours { below, above, kin } = Neighbours::of(versions, &new.version);
        let mut changes = Vec::new();
        if let Some(below) = &below {
            let old = self.manifest(&self.record(&new.name, below).await?).await?;
            changes = held(&old, new, Shortfall::of_new)?;
        }
        if let Some(above) = &above {
            let next = self.manifest(&self.record(&new.name, above).await?).await?;
            held(new, &next, Shortfall::of_next)?;
        }
        if let Some(kin) = &kin {
            let other = self.manifest(&self.record(&new.name, kin).await?).await?;
            if let Compatibility::Refused(refusal) = compat(&other, new) {
                return Err(PublishError::Refused { refusal });
            }
        }
        Ok((below, changes))
    }

    async fn store_bundle(&self, bundle: &Bundle) -> Result<(), RegistryError> {
        let bytes = Bytes::copy_from_slice(bundle.bytes());
        match self.create(&Key::Bundle(bundle.hash()), bytes).await? {
            Created::New => Ok(()),
            // A record must not name bytes that nobody can pull.
            Created::Taken => self.pull(bundle.hash()).await.map(drop),
        }
    }

    fn if_there<T>(&self, found: Result<T, RegistryError>) -> Result<Option<T>, RegistryError> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_not_there() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What is different, if the step between the versions says enough about it.
fn held(
    old: &Manifest,
    new: &Manifest,
    too_small: fn(&Manifest, &Manifest, Compatibility) -> Shortfall,
) -> Result<Vec<Change>, PublishError> {
    match compat(old, new) {
        Compatibility::Refused(refusal) => Err(PublishError::Refused { refusal }),
        found if found.fits(&old.version, &new.version) => match found {
            Compatibility::Compatible { changes } | Compatibility::Breaking { changes, .. } => Ok(changes),
            Compatibility::Refused(_) => Ok(Vec::new()),
        },
        found => Err(PublishError::StepTooSmall(Box::new(too_small(old, new, found)))),
    }
}

fn same_or_taken(standing: VersionRecord, ours: &VersionRecord) -> Result<VersionRecord, PublishError> {
    if standing.same_bundle(ours) {
        return Ok(standing);
    }
    Err(PublishError::Taken { standing: Box::new(standing), ours: ours.hash })
}
