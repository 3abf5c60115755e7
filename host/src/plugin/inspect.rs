//! A walk over foreign bytes before anything expensive or recursive touches them.

use wasmparser::{
    ComponentExternalKind, ComponentInstance, ComponentTypeRef, CompositeInnerType, Instance, Parser, Payload,
    TypeBounds,
};

use super::limits::{ComponentLimits, PluginLimits};
use super::load::{LoadError, REASON_BYTES};
use super::log::escape;
use super::v1;

const COMPONENT_LAYER: u16 = 1;

const WASM_PAGE: usize = 64 << 10;

/// Walks a component and holds it against the limits and the allowed imports. Returns the BLAKE3 of its code: of all
/// sections but the outer custom ones, so that bundles which differ in manifest and files alone share it.
pub(super) fn inspect(bytes: &[u8], limits: &PluginLimits) -> Result<[u8; 32], LoadError> {
    preamble(bytes)?;
    let mut walk = Walk {
        bytes,
        call: limits,
        limits: &limits.component,
        code: blake3::Hasher::new(),
        depth: Vec::new(),
        found: Found::default(),
    };
    for payload in Parser::new(0).parse_all(bytes) {
        walk.payload(payload.map_err(malformed)?)?;
    }
    for export in v1::EXPORTS {
        if !walk.found.exports.iter().any(|found| found == export) {
            return Err(LoadError::MissingExport { name: export });
        }
    }
    Ok(*walk.code.finalize().as_bytes())
}

fn malformed(error: wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Malformed { reason: escape(&error.to_string(), REASON_BYTES) }
}

/// Tells what the bytes are when they are no component.
fn preamble(bytes: &[u8]) -> Result<(), LoadError> {
    let found = match bytes {
        [0, b'a', b's', b'm', version @ ..] => match version {
            [_, _, layer_low, layer_high, ..] if u16::from_le_bytes([*layer_low, *layer_high]) == COMPONENT_LAYER => {
                return Ok(());
            }
            [1, 0, 0, 0, ..] => "a core module; make a component of it first",
            _ => "a component cut off or of an unknown version",
        },
        [0x7f, b'E', b'L', b'F', ..] => "machine code (.cwasm); only portable components are loaded",
        _ if bytes.trim_ascii_start().starts_with(b"(") => "WebAssembly text; assemble it first",
        [] => "an empty file",
        _ => "something else",
    };
    Err(LoadError::NotAComponent { found })
}

#[derive(Clone, Copy, PartialEq)]
enum Layer {
    Component,
    Module,
}

#[derive(Default)]
struct Found {
    exports: Vec<String>,
    functions: u32,
    module_bytes: usize,
    code_bytes: usize,
    data_bytes: usize,
    type_bytes: usize,
    /// Largest of any type so far.
    arity: usize,
    weight: usize,
    canonicals: u32,
    modules: u32,
    components: u32,
    instances: u32,
    memories: u32,
    tables: u32,
}

struct Walk<'a> {
    bytes: &'a [u8],
    call: &'a PluginLimits,
    limits: &'a ComponentLimits,
    code: blake3::Hasher,
    /// Layers open around the current payload; the outer component is the first.
    depth: Vec<Layer>,
    found: Found,
}

fn at_most(what: &'static str, found: usize, cap: usize) -> Result<(), LoadError> {
    if found <= cap { Ok(()) } else { Err(LoadError::OverLimit { what, found, cap }) }
}

impl Walk<'_> {
    fn payload(&mut self, payload: Payload<'_>) -> Result<(), LoadError> {
        self.hash(&payload);
        let limits = self.limits;
        let outer = self.depth.len() == 1;
        match payload {
            Payload::Version { encoding, .. } => {
                let layer = match encoding {
                    wasmparser::Encoding::Component => Layer::Component,
                    wasmparser::Encoding::Module => Layer::Module,
                };
                self.depth.push(layer);
                let nested = self.depth.iter().filter(|layer| **layer == Layer::Component).count() as u32;
                at_most("levels of nested components", nested.saturating_sub(1) as usize, limits.depth as usize)?;
            }
            Payload::End(_) => {
                self.depth.pop();
            }
            Payload::ModuleSection { unchecked_range, .. } => {
                count("core modules", &mut self.found.modules, 1, limits.modules)?;
                self.found.module_bytes += unchecked_range.len();
                at_most("bytes of core modules", self.found.module_bytes, limits.module_bytes)?;
            }
            Payload::ComponentSection { .. } => {
                count("nested components", &mut self.found.components, 1, limits.components)?;
            }
            Payload::ComponentTypeSection(reader) => self.types(reader.range().len())?,
            Payload::CoreTypeSection(reader) => self.types(reader.range().len())?,
            Payload::InstanceSection(reader) => {
                for instance in reader {
                    if matches!(instance.map_err(malformed)?, Instance::Instantiate { .. }) {
                        count("instances", &mut self.found.instances, 1, limits.instances)?;
                    }
                }
            }
            Payload::ComponentInstanceSection(reader) => {
                for instance in reader {
                    if matches!(instance.map_err(malformed)?, ComponentInstance::Instantiate { .. }) {
                        count("instances", &mut self.found.instances, 1, limits.instances)?;
                    }
                }
            }
            Payload::ComponentCanonicalSection(reader) => {
                count("canonical functions", &mut self.found.canonicals, reader.count(), limits.canonicals)?;
            }
            Payload::TypeSection(reader) => {
                for group in reader {
                    for ty in group.map_err(malformed)?.into_types() {
                        self.arity(&ty.composite_type.inner)?;
                    }
                }
            }
            Payload::MemorySection(reader) => {
                count("memories", &mut self.found.memories, reader.count(), 1)?;
                for memory in reader {
                    let pages = memory.map_err(malformed)?.initial;
                    at_most("pages of initial memory", as_usize(pages), self.call.memory_bytes / WASM_PAGE)?;
                }
            }
            Payload::TableSection(reader) => {
                count("tables", &mut self.found.tables, reader.count(), limits.tables)?;
                for table in reader {
                    let elements = table.map_err(malformed)?.ty.initial;
                    at_most("initial table elements", as_usize(elements), self.call.table_elements)?;
                }
            }
            Payload::FunctionSection(reader) => {
                count("functions", &mut self.found.functions, reader.count(), limits.functions)?;
            }
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            Payload::DataSection(reader) => {
                self.found.data_bytes += reader.range().len();
                at_most("bytes of data segments", self.found.data_bytes, limits.data_bytes)?;
            }
            Payload::ComponentImportSection(reader) if outer => {
                for import in reader {
                    let import = import.map_err(malformed)?;
                    allowed(import.name.name, import.ty)?;
                }
            }
            Payload::ComponentExportSection(reader) if outer => {
                for export in reader {
                    let export = export.map_err(malformed)?;
                    if export.kind == ComponentExternalKind::Func {
                        self.found.exports.push(export.name.name.to_owned());
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Hashes sections of the outer component; those of nested ones lie inside of these.
    fn hash(&mut self, payload: &Payload<'_>) {
        if self.depth.len() > 1 {
            return;
        }
        if matches!(payload, Payload::CustomSection(_)) {
            return;
        }
        let Some((id, range)) = payload.as_section() else { return };
        let section = self.bytes.get(range).unwrap_or_default();
        self.code.update(&[id]).update(&(section.len() as u64).to_le_bytes()).update(section);
    }

    fn types(&mut self, bytes: usize) -> Result<(), LoadError> {
        self.found.type_bytes += bytes;
        at_most("bytes of component types", self.found.type_bytes, self.limits.type_bytes)
    }

    fn arity(&mut self, ty: &CompositeInnerType) -> Result<(), LoadError> {
        let CompositeInnerType::Func(function) = ty else { return Ok(()) };
        let arity = function.params().len() + function.results().len();
        at_most("parameters and results of one type", arity, self.limits.arity)?;
        self.found.arity = self.found.arity.max(arity);
        Ok(())
    }

    fn body(&mut self, body: &wasmparser::FunctionBody<'_>) -> Result<(), LoadError> {
        let bytes = body.range().len();
        at_most("bytes in one function body", bytes, self.limits.body_bytes)?;
        self.found.code_bytes += bytes;
        at_most("bytes of code", self.found.code_bytes, self.limits.code_bytes)?;
        let mut locals = 0_usize;
        for group in body.get_locals_reader().map_err(malformed)? {
            let (count, _) = group.map_err(malformed)?;
            locals += count as usize;
            at_most("locals in one function", locals, self.limits.locals as usize)?;
        }
        self.found.weight += bytes * (locals + self.found.arity);
        at_most("units of work for the compiler (bytes × locals)", self.found.weight, self.limits.weight)
    }
}

fn as_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn count(what: &'static str, found: &mut u32, more: u32, cap: u32) -> Result<(), LoadError> {
    *found = found.saturating_add(more);
    at_most(what, *found as usize, cap as usize)
}

/// An import of the outer component: one of the world's interfaces, or a name for a type of them.
fn allowed(name: &str, ty: ComponentTypeRef) -> Result<(), LoadError> {
    let named = matches!(ty, ComponentTypeRef::Instance(_)) && v1::IMPORTS.contains(&name);
    let type_alias = matches!(ty, ComponentTypeRef::Type(TypeBounds::Eq(_)));
    if named || type_alias {
        return Ok(());
    }
    Err(LoadError::UnknownImport { name: escape(name, 200) })
}
