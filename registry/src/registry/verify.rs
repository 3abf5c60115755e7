//! Holding everything in a registry against everything else.

use std::collections::BTreeMap;
use std::fmt;

use semver::Version;

use super::layout::{seq_of, version_of};
use super::{Registry, RegistryError, Shelf};
use crate::{Bundle, BundleHash, DataIdentity, NestName, VersionRecord};

/// What was found in a registry.
#[derive(Debug, Default)]
pub struct Verification {
    /// Bundles that are their address.
    pub bundles: usize,
    /// Version records that agree with their bundle.
    pub versions: usize,
    /// Notices that can be read.
    pub notices: usize,
    /// What is damaged.
    pub problems: Vec<Problem>,
    /// What is unusual and harms nobody.
    pub notes: Vec<Note>,
}

impl Verification {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Something that is damaged.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// A bundle, record or notice that cannot be read, or is not what its place says.
    #[error("{0}")]
    Unreadable(#[from] RegistryError),
    /// A file that is its address and no bundle.
    #[error("bundle {hash} cannot be used: {problem}")]
    NoBundle {
        /// Its address.
        hash: BundleHash,
        /// Why not.
        problem: String,
    },
    /// A record whose bundle is not among the sound ones.
    #[error(
        "version {version} of '{name}' names the bundle {hash}, which is missing or damaged; put it back from a copy or a cache"
    )]
    Lost {
        /// The nest.
        name: NestName,
        /// The version.
        version: Version,
        /// The bundle.
        hash: BundleHash,
    },
    /// A record that says something else than its bundle.
    #[error("the record of version {version} of '{name}' says {field} {recorded}, its bundle {hash} says {found}")]
    Differs {
        /// The nest.
        name: NestName,
        /// The version.
        version: Version,
        /// The bundle.
        hash: BundleHash,
        /// `name`, `version`, `size` or `data identity`.
        field: &'static str,
        /// By the record.
        recorded: String,
        /// By the bundle.
        found: String,
    },
}

/// Something unusual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A bundle that no record names: a publish was cut short, or is under way.
    Orphan(BundleHash),
    /// A name that a registry does not write.
    Foreign {
        /// Where it lies.
        shelf: Shelf,
        /// Its name.
        name: String,
    },
    /// A number without its notice, while later ones are there.
    Gap {
        /// The nest.
        name: NestName,
        /// The number.
        seq: u32,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Orphan(hash) => {
                write!(f, "bundle {hash} belongs to no version: a publish was cut short, or is under way")
            }
            Note::Foreign { shelf, name } => {
                write!(f, "{shelf}/{} is nothing that a registry writes", crate::names::shown(name))
            }
            Note::Gap { name, seq } => write!(f, "notice {seq} about '{name}' is missing: somebody took it away"),
        }
    }
}

/// What a bundle says about itself.
struct Said {
    name: NestName,
    version: Version,
    size: u64,
    identity: DataIdentity,
    named: bool,
}

impl dyn Registry + '_ {
    /// Reads everything: each bundle is hashed against its address, each record is held against its bundle (name,
    /// version, size, data identity), each notice is read. What is damaged is listed, and the rest is still looked at;
    /// only a registry that cannot be listed is an error.
    pub async fn verify(&self) -> Result<Verification, RegistryError> {
        let mut found = Verification::default();
        let mut bundles = self.verify_bundles(&mut found).await?;
        for file in self.list(&Shelf::Nests).await? {
            match file.parse() {
                Ok(name) => {
                    self.verify_versions(&name, &mut bundles, &mut found).await?;
                    self.verify_notices(&name, &mut found).await?;
                }
                Err(_) => found.notes.push(Note::Foreign { shelf: Shelf::Nests, name: file }),
            }
        }
        let orphans = bundles.iter().filter(|(_, said)| !said.named).map(|(hash, _)| Note::Orphan(*hash));
        found.notes.extend(orphans);
        Ok(found)
    }

    async fn verify_bundles(&self, found: &mut Verification) -> Result<BTreeMap<BundleHash, Said>, RegistryError> {
        let mut bundles = BTreeMap::new();
        for file in self.list(&Shelf::Bundles).await? {
            let Some(hash) = file.parse::<BundleHash>().ok().filter(|hash| hash.to_string() == file) else {
                found.notes.push(Note::Foreign { shelf: Shelf::Bundles, name: file });
                continue;
            };
            let bytes = match self.pull(hash).await {
                Ok(bytes) => bytes,
                Err(error) => {
                    found.problems.push(error.into());
                    continue;
                }
            };
            match Bundle::parse(bytes.bytes()) {
                Ok(bundle) => {
                    let VersionRecord { name, version, size, data_identity: identity, .. } =
                        VersionRecord::of(&bundle, crate::Timestamp::from_unix(0));
                    found.bundles += 1;
                    bundles.insert(hash, Said { name, version, size, identity, named: false });
                }
                Err(error) => found.problems.push(Problem::NoBundle { hash, problem: error.to_string() }),
            }
        }
        Ok(bundles)
    }

    async fn verify_versions(
        &self,
        name: &NestName,
        bundles: &mut BTreeMap<BundleHash, Said>,
        found: &mut Verification,
    ) -> Result<(), RegistryError> {
        let shelf = Shelf::Versions(name.clone());
        for file in self.list(&shelf).await? {
            let Some(version) = version_of(&file) else {
                found.notes.push(Note::Foreign { shelf: shelf.clone(), name: file });
                continue;
            };
            let record = match self.record(name, &version).await {
                Ok(record) => record,
                Err(error) => {
                    found.problems.push(error.into());
                    continue;
                }
            };
            match bundles.get_mut(&record.hash) {
                None => {
                    let (name, hash) = (name.clone(), record.hash);
                    found.problems.push(Problem::Lost { name, version, hash });
                }
                Some(said) => {
                    said.named = true;
                    let differing = differing(&record, said);
                    found.versions += usize::from(differing.is_empty());
                    found.problems.extend(differing);
                }
            }
        }
        Ok(())
    }

    async fn verify_notices(&self, name: &NestName, found: &mut Verification) -> Result<(), RegistryError> {
        let shelf = Shelf::Notices(name.clone());
        let mut seqs = Vec::new();
        for file in self.list(&shelf).await? {
            match seq_of(&file) {
                Some(seq) => seqs.push(seq),
                None => found.notes.push(Note::Foreign { shelf: shelf.clone(), name: file }),
            }
        }
        seqs.sort_unstable();
        let mut expected = 1;
        for seq in seqs {
            // Of a long gap the first number is enough.
            if seq != expected {
                found.notes.push(Note::Gap { name: name.clone(), seq: expected });
            }
            expected = seq.saturating_add(1);
            match self.notice(name, seq).await {
                Ok(_) => found.notices += 1,
                Err(error) => found.problems.push(error.into()),
            }
        }
        Ok(())
    }
}

fn differing(record: &VersionRecord, said: &Said) -> Vec<Problem> {
    let fields = [
        ("name", record.name.to_string(), said.name.to_string()),
        ("version", record.version.to_string(), said.version.to_string()),
        ("size", record.size.to_string(), said.size.to_string()),
        ("data identity", record.data_identity.to_string(), said.identity.to_string()),
    ];
    let differs = |(field, recorded, found)| Problem::Differs {
        name: record.name.clone(),
        version: record.version.clone(),
        hash: record.hash,
        field,
        recorded,
        found,
    };
    fields.into_iter().filter(|(_, recorded, found)| recorded != found).map(differs).collect()
}
