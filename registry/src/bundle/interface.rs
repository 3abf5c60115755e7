//! What a component asks for and offers, by name.

use std::fmt;

use wasmparser::{BinaryReader, ComponentExportSectionReader, ComponentImportSectionReader};

use super::error::BundleError;
use super::sections::{EXPORT, IMPORT, Sections};

/// A named import or export.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Extern {
    /// Its name, such as `nuthatch:nest/log@1.0.0` or `decode`.
    pub name: String,
    /// `func`, `instance`, `type`, `module`, `component` or `value`.
    pub kind: &'static str,
}

impl fmt::Display for Extern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// What a component imports and exports at its top level, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// What it asks of the host.
    pub imports: Vec<Extern>,
    /// What it offers.
    pub exports: Vec<Extern>,
}

impl Interface {
    /// Reads the names. The component is not validated.
    pub fn of(component: &[u8]) -> Result<Self, BundleError> {
        let mut interface = Interface::default();
        for section in Sections::of_component(component)? {
            let section = section?;
            let reader = BinaryReader::new(section.body, section.offset);
            match section.id {
                IMPORT => {
                    for import in ComponentImportSectionReader::new(reader).map_err(BundleError::malformed)? {
                        let import = import.map_err(BundleError::malformed)?;
                        let name = import.name.name.to_owned();
                        interface.imports.push(Extern { name, kind: import.ty.kind().desc() });
                    }
                }
                EXPORT => {
                    for export in ComponentExportSectionReader::new(reader).map_err(BundleError::malformed)? {
                        let export = export.map_err(BundleError::malformed)?;
                        interface.exports.push(Extern { name: export.name.name.to_owned(), kind: export.kind.desc() });
                    }
                }
                _ => {}
            }
        }
        Ok(interface)
    }
}
