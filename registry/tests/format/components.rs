//! Core modules of the guest interface become components, and those become bundles.

use nuthatch_registry::{Bundle, BundleBuilder, Extern, Interface, NestToml, componentize, data_identity};
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection, MemorySection,
    MemoryType, Module, TypeSection, ValType,
};

const WIT: &str = include_str!("../../../schemas/wit/v1/nest.wit");

const NEST: &str = r#"
[nest]
name = "x"
version = "0.1.0"
chain = "anvil"
[code]
crate = "."
"#;

/// A core module with the exports of the world `decoder`, each of which traps.
fn core_module(with_log: bool) -> Vec<u8> {
    use ValType::I32;
    let mut types = TypeSection::new();
    types.ty().function([I32, I32], [I32]);
    types.ty().function([I32], [I32]);
    types.ty().function([I32; 4], [I32]);
    types.ty().function([I32; 3], []);
    let mut imports = ImportSection::new();
    let first = if with_log {
        imports.import("nuthatch:nest/log@1.0.0", "log", EntityType::Function(3));
        1
    } else {
        0
    };
    let mut functions = FunctionSection::new();
    let mut exports = ExportSection::new();
    let mut code = CodeSection::new();
    for (place, (name, ty)) in
        [("plan", 0), ("describe", 0), ("decode", 1), ("cabi_realloc", 2)].into_iter().enumerate()
    {
        functions.function(ty);
        exports.export(name, ExportKind::Func, first + place as u32);
        let mut body = Function::new([]);
        body.instructions().unreachable().end();
        code.function(&body);
    }
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    exports.export("memory", ExportKind::Memory, 0);
    let mut module = Module::new();
    module.section(&types);
    if with_log {
        module.section(&imports);
    }
    module.section(&functions).section(&memories).section(&exports).section(&code);
    module.finish()
}

fn with_world(mut module: Vec<u8>) -> Vec<u8> {
    let mut resolve = wit_parser::Resolve::default();
    let package = resolve.push_str("nest.wit", WIT).unwrap();
    let world = resolve.select_world(&[package], Some("decoder")).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, wit_component::StringEncoding::UTF8).unwrap();
    module
}

fn names(externs: &[Extern]) -> Vec<&str> {
    externs.iter().map(|item| item.name.as_str()).collect()
}

#[test]
fn a_core_module_of_the_world_becomes_a_component_and_a_bundle() {
    let component = componentize(&with_world(core_module(true))).unwrap();
    assert_eq!(component, componentize(&with_world(core_module(true))).unwrap(), "the same bytes each time");
    let interface = Interface::of(&component).unwrap();
    assert_eq!(names(&interface.exports), ["plan", "describe", "decode"]);
    assert!(names(&interface.imports).contains(&"nuthatch:nest/log@1.0.0"), "{:?}", interface.imports);
    // Types that the world uses come in by name; they bring no code.
    let code = interface.imports.iter().filter(|item| item.kind != "type");
    assert!(code.clone().all(|item| item.name.starts_with("nuthatch:nest/")), "{:?}", interface.imports);
    assert_eq!(code.count(), 2);

    let manifest = NestToml::parse(NEST, "nest.toml").unwrap().manifest(vec![], vec![]);
    let bytes = BundleBuilder::new(component.clone(), manifest.clone(), b"plan".to_vec()).build().unwrap();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(bundle.component().unwrap(), component);
    assert_eq!(bundle.interface().unwrap(), interface);

    // The log import is code; a custom section in the core module is not.
    let identity =
        |core: Vec<u8>| data_identity(&manifest, &componentize(&with_world(core)).unwrap(), b"plan").unwrap();
    assert_ne!(identity(core_module(false)), bundle.data_identity());
    let mut noted = core_module(true);
    let section = wasm_encoder::CustomSection { name: "note".into(), data: b"built on a Monday"[..].into() };
    noted.push(0);
    wasm_encoder::Encode::encode(&section, &mut noted);
    let other = componentize(&with_world(noted.clone())).unwrap();
    assert_ne!(other, component);
    assert_eq!(identity(noted), bundle.data_identity());
}

#[test]
fn what_is_no_guest_module_is_refused_with_a_reason() {
    let component = componentize(&with_world(core_module(true))).unwrap();
    for bytes in [&b""[..], b"\0asm", &component, b"(module)"] {
        let error = componentize(bytes).unwrap_err().to_string();
        assert!(error.contains("cannot be made a component"), "{error}");
    }
    // The world asks for exports that this module does not have.
    let error = componentize(&with_world(Module::new().finish())).unwrap_err().to_string();
    assert!(error.contains("plan"), "{error}");
}
