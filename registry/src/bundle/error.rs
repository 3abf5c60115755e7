//! Why bytes are not a bundle.

use super::limits::{MAX_BUNDLE_BYTES, MAX_NESTING};
use crate::ManifestError;

/// Why bytes are not a bundle, or parts do not make one.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Larger than [`MAX_BUNDLE_BYTES`].
    #[error("the bundle has {bytes} bytes, more than the {MAX_BUNDLE_BYTES} allowed")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Something else than a WebAssembly component.
    #[error("this is not a bundle but {0}; a bundle is a WebAssembly component made by 'nuthatch bundle build'")]
    NotComponent(OtherFile),
    /// Bytes that break the binary format.
    #[error("the bundle is damaged at byte {offset}: {problem}; fetch or build it again")]
    Malformed {
        /// Where.
        offset: usize,
        /// What is wrong there.
        problem: String,
    },
    /// Components in components, deeper than [`MAX_NESTING`].
    #[error("the component at byte {offset} is nested more than {MAX_NESTING} deep")]
    NestedTooDeep {
        /// Where.
        offset: usize,
    },
    /// A section that every bundle has is not there.
    #[error("the component has no section '{0}', so it is not a whole bundle; make one with 'nuthatch bundle build'")]
    Missing(String),
    /// A section is there twice.
    #[error("the bundle has the section '{0}' twice; build it again")]
    Twice(String),
    /// A section under this project's prefix that the format does not know.
    #[error("the bundle has a section '{0}', which its format does not know; use a nuthatch that fits the bundle")]
    UnknownSection(String),
    /// A section above its own limit.
    #[error("the section '{section}' has {bytes} bytes, more than the {max} allowed")]
    SectionTooLarge {
        /// Its name.
        section: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The manifest is not accepted.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file that the manifest does not list.
    #[error("the bundle holds the file '{0}', which its manifest does not list")]
    Unlisted(String),
    /// A file with other bytes than the manifest says.
    #[error("the bundle's file '{path}' is not the one its manifest lists: {problem}")]
    FileDiffers {
        /// Its path.
        path: String,
        /// Size or hash.
        problem: String,
    },
    /// The code does not validate. Found when a bundle is built; a parsed one is validated when it is compiled.
    #[error("the component does not validate at byte {offset}: {problem}; build the code again")]
    InvalidCode {
        /// Where.
        offset: usize,
        /// What is wrong there.
        problem: String,
    },
}

/// What the bytes are instead of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFile {
    /// No bytes.
    Empty,
    /// A core module, not yet turned into a component.
    CoreModule,
    /// WebAssembly text.
    Text,
    /// Code compiled for a machine.
    MachineCode,
    /// A binary version that this crate does not know.
    OtherVersion,
    /// Anything else.
    Unknown,
}

impl std::fmt::Display for OtherFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            OtherFile::Empty => "an empty file",
            OtherFile::CoreModule => "a WebAssembly core module",
            OtherFile::Text => "WebAssembly text",
            OtherFile::MachineCode => "compiled machine code",
            OtherFile::OtherVersion => "WebAssembly of an unknown version",
            OtherFile::Unknown => "a file of another kind",
        })
    }
}

impl BundleError {
    pub(super) fn malformed(error: wasmparser::BinaryReaderError) -> Self {
        BundleError::Malformed { offset: error.offset(), problem: error.message().to_owned() }
    }
}
