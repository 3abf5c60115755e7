//! The built component that is committed: what it asks of a host, and what it offers.
#![allow(clippy::unwrap_used)]

use wasmparser::{ComponentExternalKind, ComponentTypeRef, Parser, Payload};

#[test]
fn the_built_component_imports_the_log_and_nothing_else() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../dist/abi.wasm");
    let bytes = std::fs::read(path).unwrap();
    wasmparser::Validator::new().validate_all(&bytes).unwrap();
    let (mut imports, mut exports, mut core_exports) = (Vec::new(), Vec::new(), Vec::new());
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(&bytes) {
        match payload.unwrap() {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                // Beside interfaces there are names for their types, which a host need not give.
                let given = section.into_iter().map(Result::unwrap);
                let given = given.filter(|import| !matches!(import.ty, ComponentTypeRef::Type(_)));
                imports.extend(given.map(|import| import.name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 0 => {
                exports.extend(section.into_iter().map(Result::unwrap).map(|export| {
                    assert_eq!(export.kind, ComponentExternalKind::Func);
                    export.name.name.to_owned()
                }));
            }
            Payload::ExportSection(section) => {
                core_exports.extend(section.into_iter().map(|export| export.unwrap().name.to_owned()));
            }
            _ => {}
        }
    }
    imports.sort();
    exports.sort();
    assert_eq!(imports, ["nuthatch:nest/log@1.0.0", "nuthatch:nest/types@1.0.0"]);
    assert_eq!(exports, ["decode", "describe", "plan"]);
    assert!(core_exports.contains(&"cabi_realloc".to_owned()), "{core_exports:?}");
}
