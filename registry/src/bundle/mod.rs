//! The bundle: one file that is a component, with its manifest, plan and files in custom sections.

mod build;
mod componentize;
mod error;
mod interface;
mod limits;
mod sections;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

pub use build::BundleBuilder;
pub use componentize::{ComponentizeError, componentize};
pub use error::{BundleError, OtherFile};
pub use interface::{Extern, Interface};
pub use limits::{MAX_BUNDLE_BYTES, MAX_FILE_BYTES, MAX_NESTING, MAX_PLAN_BYTES, MAX_VIEWS_BYTES};

use crate::identity::data_identity_of_code;
use crate::manifest::MAX_MANIFEST_BYTES;
use crate::{BundleHash, ContentHash, DataIdentity, FilePath, Manifest, ManifestFile};
pub(crate) use sections::code_alone;
use sections::{Custom, Sections};

/// Custom section of the manifest.
pub const SECTION_MANIFEST: &str = "nuthatch:manifest";
/// Custom section of the decoder's plan.
pub const SECTION_PLAN: &str = "nuthatch:plan";
/// Custom section of the folds, a component of its own.
pub const SECTION_VIEWS: &str = "nuthatch:views";
/// What the name of a file's custom section begins with; the path follows.
pub const SECTION_FILE: &str = "nuthatch:file/";
/// What the names of all of a bundle's own sections begin with.
pub const SECTION_PREFIX: &str = "nuthatch:";

/// A bundle whose bytes have been read: it is a component that holds exactly one canonical manifest, one plan, and the
/// files that the manifest lists. Its code has not been validated or compiled.
#[derive(Clone)]
pub struct Bundle {
    bytes: Arc<[u8]>,
    hash: BundleHash,
    identity: DataIdentity,
    manifest: Manifest,
    manifest_json: Range<usize>,
    plan: Range<usize>,
    views: Option<Range<usize>>,
    files: BTreeMap<FilePath, Range<usize>>,
}

impl std::fmt::Debug for Bundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bundle({} {} {})", self.manifest.name, self.manifest.version, self.hash)
    }
}

impl Bundle {
    /// Reads a bundle from foreign bytes. Never panics; sizes are held against the limits first.
    pub fn parse(bytes: &[u8]) -> Result<Self, BundleError> {
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(BundleError::TooLarge { bytes: bytes.len() });
        }
        let mut found = Found::default();
        for section in Sections::of_component(bytes)? {
            if let Some(custom) = section?.custom()?
                && custom.name.starts_with(SECTION_PREFIX)
            {
                found.take(custom)?;
            }
        }
        let manifest_json = found.manifest.ok_or_else(|| BundleError::Missing(SECTION_MANIFEST.to_owned()))?;
        let plan = found.plan.ok_or_else(|| BundleError::Missing(SECTION_PLAN.to_owned()))?;
        let manifest = Manifest::from_canonical_json(&bytes[manifest_json.clone()])?;
        let files = listed_files(bytes, &manifest.files, found.files)?;
        let identity = data_identity_of_code(&manifest, &sections::code_alone(bytes)?, &bytes[plan.clone()]);
        let hash = BundleHash::of(bytes);
        Ok(Bundle { bytes: bytes.into(), hash, identity, manifest, manifest_json, plan, views: found.views, files })
    }

    /// The bundle's address.
    pub fn hash(&self) -> BundleHash {
        self.hash
    }

    /// The identity of the rows that this bundle makes.
    pub fn data_identity(&self) -> DataIdentity {
        self.identity
    }

    /// What the bundle says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The manifest as it stands in the file.
    pub fn manifest_json(&self) -> &str {
        // A manifest that is not UTF-8 does not parse.
        std::str::from_utf8(&self.bytes[self.manifest_json.clone()]).unwrap_or_default()
    }

    /// The decoder's plan.
    pub fn plan(&self) -> &[u8] {
        &self.bytes[self.plan.clone()]
    }

    /// The folds' component, if there is one.
    pub fn views_component(&self) -> Option<&[u8]> {
        self.views.clone().map(|range| &self.bytes[range])
    }

    /// A file's bytes.
    pub fn file(&self, path: &FilePath) -> Option<&[u8]> {
        self.files.get(path).map(|range| &self.bytes[range.clone()])
    }

    /// All files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&FilePath, &[u8])> {
        self.files.iter().map(|(path, range)| (path, &self.bytes[range.clone()]))
    }

    /// The SQL views in the order of the manifest: name and text. Fails where a view's file is not UTF-8.
    pub fn sql_views(&self) -> Result<Vec<(&str, &str)>, BundleError> {
        let text = |view: &'_ crate::ManifestView| {
            let bytes = self.file(&view.file).ok_or_else(|| BundleError::Missing(section_of(&view.file)))?;
            std::str::from_utf8(bytes).map_err(|_| BundleError::FileDiffers {
                path: view.file.to_string(),
                problem: "a view's text must be UTF-8".to_owned(),
            })
        };
        self.manifest.views.iter().map(|view| Ok((view.name.as_str(), text(view)?))).collect()
    }

    /// The whole file. It is a component as it is, so this is what gets hashed and what gets compiled.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// The component without the bundle's own sections, as [`BundleBuilder`] takes it.
    pub fn component(&self) -> Result<Vec<u8>, BundleError> {
        sections::without_sections(&self.bytes, |name| name.starts_with(SECTION_PREFIX))
    }

    /// What the component imports and exports.
    pub fn interface(&self) -> Result<Interface, BundleError> {
        Interface::of(&self.bytes)
    }
}

/// The bundle's own sections while they are being collected.
#[derive(Default)]
struct Found {
    manifest: Option<Range<usize>>,
    plan: Option<Range<usize>>,
    views: Option<Range<usize>>,
    files: BTreeMap<String, Range<usize>>,
}

impl Found {
    fn take(&mut self, custom: Custom<'_>) -> Result<(), BundleError> {
        let range = custom.offset..custom.offset + custom.data.len();
        let (max, before) = match custom.name {
            SECTION_MANIFEST => (MAX_MANIFEST_BYTES, self.manifest.replace(range)),
            SECTION_PLAN => (MAX_PLAN_BYTES, self.plan.replace(range)),
            SECTION_VIEWS => (MAX_VIEWS_BYTES, self.views.replace(range)),
            name => match name.strip_prefix(SECTION_FILE) {
                Some(path) => (MAX_FILE_BYTES, self.files.insert(path.to_owned(), range)),
                None => return Err(BundleError::UnknownSection(crate::names::shown(name))),
            },
        };
        let section = || crate::names::shown(custom.name);
        if before.is_some() {
            return Err(BundleError::Twice(section()));
        }
        if custom.data.len() > max {
            return Err(BundleError::SectionTooLarge { section: section(), bytes: custom.data.len(), max });
        }
        Ok(())
    }
}

fn section_of(path: &FilePath) -> String {
    format!("{SECTION_FILE}{path}")
}

/// Exactly the files that the manifest lists, each with its size and hash.
fn listed_files(
    bytes: &[u8],
    listed: &[ManifestFile],
    mut found: BTreeMap<String, Range<usize>>,
) -> Result<BTreeMap<FilePath, Range<usize>>, BundleError> {
    let mut files = BTreeMap::new();
    for file in listed {
        let range = found.remove(file.path.as_str()).ok_or_else(|| BundleError::Missing(section_of(&file.path)))?;
        let differs = |problem| BundleError::FileDiffers { path: file.path.to_string(), problem };
        if range.len() as u64 != file.size {
            return Err(differs(format!("{} bytes instead of {}", range.len(), file.size)));
        }
        let hash = ContentHash::of(&bytes[range.clone()]);
        if hash != file.blake3 {
            return Err(differs(format!("BLAKE3 {hash} instead of {}", file.blake3)));
        }
        files.insert(file.path.clone(), range);
    }
    match found.into_keys().next() {
        Some(path) => Err(BundleError::Unlisted(crate::names::shown(&path))),
        None => Ok(files),
    }
}
