//! The sections of a component or module, without looking into the code.

use std::ops::Range;

use wasm_encoder::Encode;
use wasmparser::BinaryReader;

use super::error::{BundleError, OtherFile};
use super::limits::MAX_NESTING;

const CUSTOM: u8 = 0;
const NESTED_MODULE: u8 = 1;
const NESTED_COMPONENT: u8 = 4;
pub(super) const IMPORT: u8 = 10;
pub(super) const EXPORT: u8 = 11;

const HEADER: usize = 8;
const COMPONENT: [u8; HEADER] = *b"\0asm\x0d\0\x01\0";
const MODULE: [u8; HEADER] = *b"\0asm\x01\0\0\0";

/// What the sections are sections of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Component,
    Module,
}

/// One section.
pub(super) struct Section<'a> {
    pub id: u8,
    pub body: &'a [u8],
    /// Where the body begins in the file.
    pub offset: usize,
    /// All of it in the file, id and length included.
    pub range: Range<usize>,
}

/// A custom section's name and content.
pub(super) struct Custom<'a> {
    pub name: &'a str,
    pub data: &'a [u8],
    /// Where the content begins in the file.
    pub offset: usize,
}

impl<'a> Section<'a> {
    /// The section as a custom one, if it is.
    pub fn custom(&self) -> Result<Option<Custom<'a>>, BundleError> {
        if self.id != CUSTOM {
            return Ok(None);
        }
        let mut reader = BinaryReader::new(self.body, self.offset);
        let name = reader.read_string().map_err(BundleError::malformed)?;
        let offset = reader.original_position();
        let data = reader.read_bytes(reader.bytes_remaining()).map_err(BundleError::malformed)?;
        Ok(Some(Custom { name, data, offset }))
    }
}

/// Walks the sections of one layer. After an error the walk is over.
pub(super) struct Sections<'a> {
    reader: BinaryReader<'a>,
    failed: bool,
}

impl<'a> Sections<'a> {
    /// The sections of a whole file, which has to be a component.
    pub fn of_component(bytes: &'a [u8]) -> Result<Self, BundleError> {
        if bytes.get(..HEADER) != Some(&COMPONENT) {
            return Err(BundleError::NotComponent(what_else(bytes)));
        }
        Ok(Self::after_header(bytes, 0))
    }

    fn after_header(bytes: &'a [u8], offset: usize) -> Self {
        let body = bytes.get(HEADER..).unwrap_or_default();
        Sections { reader: BinaryReader::new(body, offset + HEADER), failed: false }
    }

    fn step(&mut self) -> Result<Section<'a>, wasmparser::BinaryReaderError> {
        let start = self.reader.original_position();
        let id = self.reader.read_u8()?;
        let size = self.reader.read_var_u32()?;
        let offset = self.reader.original_position();
        let body = self.reader.read_bytes(size as usize)?;
        Ok(Section { id, body, offset, range: start..self.reader.original_position() })
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>, BundleError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.reader.eof() {
            return None;
        }
        let step = self.step().map_err(BundleError::malformed);
        self.failed = step.is_err();
        Some(step)
    }
}

fn what_else(bytes: &[u8]) -> OtherFile {
    let text = bytes.trim_ascii_start();
    if bytes.is_empty() {
        OtherFile::Empty
    } else if bytes.starts_with(&MODULE) {
        OtherFile::CoreModule
    } else if bytes.starts_with(b"\0asm") {
        OtherFile::OtherVersion
    } else if bytes.starts_with(b"\x7fELF") {
        OtherFile::MachineCode
    } else if text.starts_with(b"(component") || text.starts_with(b"(module") || text.starts_with(b";;") {
        OtherFile::Text
    } else {
        OtherFile::Unknown
    }
}

/// The component without the custom sections at its top level for which `unwanted` holds. All else is kept byte for
/// byte.
pub(super) fn without_sections(bytes: &[u8], unwanted: impl Fn(&str) -> bool) -> Result<Vec<u8>, BundleError> {
    let mut kept = COMPONENT.to_vec();
    for section in Sections::of_component(bytes)? {
        let section = section?;
        if !section.custom()?.is_some_and(|custom| unwanted(custom.name)) {
            kept.extend_from_slice(&bytes[section.range]);
        }
    }
    Ok(kept)
}

/// The code alone: every custom section is left out, in nested components and modules too, at any depth, and sizes are
/// written in their shortest form. What remains still validates, and means the same.
pub(crate) fn code_alone(bytes: &[u8]) -> Result<Vec<u8>, BundleError> {
    let mut out = COMPONENT.to_vec();
    strip(Sections::of_component(bytes)?, Layer::Component, 1, &mut out)?;
    Ok(out)
}

fn strip(sections: Sections<'_>, layer: Layer, depth: usize, out: &mut Vec<u8>) -> Result<(), BundleError> {
    for section in sections {
        let section = section?;
        let nested = match (layer, section.id) {
            (_, CUSTOM) => {
                // Read for its errors alone: a damaged name is damage, whether or not the section counts.
                section.custom()?;
                continue;
            }
            (Layer::Component, NESTED_MODULE) => Some((Layer::Module, MODULE)),
            (Layer::Component, NESTED_COMPONENT) => Some((Layer::Component, COMPONENT)),
            _ => None,
        };
        out.push(section.id);
        let Some((inner, header)) = nested else {
            section.body.encode(out);
            continue;
        };
        if depth == MAX_NESTING {
            return Err(BundleError::NestedTooDeep { offset: section.offset });
        }
        if section.body.get(..HEADER) != Some(&header) {
            let problem = "a nested module or component has no valid header".to_owned();
            return Err(BundleError::Malformed { offset: section.offset, problem });
        }
        let mut body = header.to_vec();
        strip(Sections::after_header(section.body, section.offset), inner, depth + 1, &mut body)?;
        body.encode(out);
    }
    Ok(())
}

/// Appends a custom section.
pub(super) fn push_custom(name: &str, data: &[u8], out: &mut Vec<u8>) {
    out.push(CUSTOM);
    wasm_encoder::CustomSection { name: name.into(), data: data.into() }.encode(out);
}
