//! From parts to a bundle's bytes.

use std::collections::BTreeMap;

use super::error::BundleError;
use super::sections::{Sections, push_custom, without_sections};
use super::{Bundle, MAX_BUNDLE_BYTES, SECTION_MANIFEST, SECTION_PLAN, SECTION_PREFIX, SECTION_VIEWS, section_of};
use crate::{ContentHash, FilePath, Manifest, ManifestFile};

/// The parts of a bundle. The same parts always give the same bytes.
#[derive(Clone, Debug)]
pub struct BundleBuilder {
    /// The decoder's component. Sections of a bundle in it are replaced, all others are kept.
    pub component: Vec<u8>,
    /// The manifest. Its list of files is made anew from `files`, and what has no order of its own is sorted.
    pub manifest: Manifest,
    /// What the component's `plan` gave.
    pub plan: Vec<u8>,
    /// The folds' component.
    pub views: Option<Vec<u8>>,
    /// ABIs, SQL views and docs.
    pub files: BTreeMap<FilePath, Vec<u8>>,
}

impl BundleBuilder {
    /// A bundle without folds and files.
    pub fn new(component: Vec<u8>, manifest: Manifest, plan: Vec<u8>) -> Self {
        BundleBuilder { component, manifest, plan, views: None, files: BTreeMap::new() }
    }

    /// Adds a file.
    #[must_use]
    pub fn file(mut self, path: FilePath, bytes: Vec<u8>) -> Self {
        self.files.insert(path, bytes);
        self
    }

    /// The manifest that the bundle will carry.
    pub fn final_manifest(&self) -> Manifest {
        let mut manifest = self.manifest.clone().sorted();
        let entry = |(path, bytes): (&FilePath, &Vec<u8>)| ManifestFile {
            path: path.clone(),
            size: bytes.len() as u64,
            blake3: ContentHash::of(bytes),
        };
        manifest.files = self.files.iter().map(entry).collect();
        manifest
    }

    /// The bundle's bytes: the component, then manifest, folds, files by path, and the plan as custom sections. The
    /// code is validated, and what comes out has been read back as a [`Bundle`].
    pub fn build(&self) -> Result<Vec<u8>, BundleError> {
        let parts = [&self.component, &self.plan].into_iter().chain(&self.views).chain(self.files.values());
        let size = parts.fold(0usize, |sum, part| sum.saturating_add(part.len()));
        if size > MAX_BUNDLE_BYTES {
            return Err(BundleError::TooLarge { bytes: size });
        }
        for component in [&self.component].into_iter().chain(&self.views) {
            validate(component)?;
        }
        let manifest = self.final_manifest().to_canonical_json()?;
        let mut bytes = without_sections(&self.component, |name| name.starts_with(SECTION_PREFIX))?;
        push_custom(SECTION_MANIFEST, manifest.as_bytes(), &mut bytes);
        if let Some(views) = &self.views {
            push_custom(SECTION_VIEWS, views, &mut bytes);
        }
        for (path, content) in &self.files {
            push_custom(&section_of(path), content, &mut bytes);
        }
        // Last because every bundle has it: a file cut short at any point then lacks something.
        push_custom(SECTION_PLAN, &self.plan, &mut bytes);
        Bundle::parse(&bytes)?;
        Ok(bytes)
    }
}

fn validate(component: &[u8]) -> Result<(), BundleError> {
    // First what it is: the validator would also take a core module.
    Sections::of_component(component)?;
    wasmparser::Validator::new()
        .validate_all(component)
        .map(drop)
        .map_err(|error| BundleError::InvalidCode { offset: error.offset(), problem: error.message().to_owned() })
}
