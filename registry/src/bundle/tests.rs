#![allow(clippy::unwrap_used)]

use wasm_encoder::{Component, CustomSection, Module, ModuleSection, NestedComponentSection};

use super::*;
use crate::manifest::tests::sample;
use crate::{ManifestView, WORLD};

/// A component that does nothing.
pub(crate) const EMPTY: &[u8] = b"\0asm\x0d\0\x01\0";

fn custom<'a>(name: &'a str, data: &'a [u8]) -> CustomSection<'a> {
    CustomSection { name: name.into(), data: data.into() }
}

/// A component with a module in a component in it, and custom sections at every level.
pub(crate) fn nested(note: &str) -> Vec<u8> {
    let mut module = Module::new();
    module.section(&custom("producers", note.as_bytes()));
    let mut types = wasm_encoder::TypeSection::new();
    types.ty().function([wasm_encoder::ValType::I32], []);
    module.section(&types);
    module.section(&custom("name", note.as_bytes()));
    let mut inner = Component::new();
    inner.section(&custom("inner-note", note.as_bytes()));
    inner.section(&ModuleSection(&module));
    let mut outer = Component::new();
    outer.section(&ModuleSection(&module));
    outer.section(&NestedComponentSection(&inner));
    outer.section(&custom("component-name", note.as_bytes()));
    outer.finish()
}

fn path(text: &str) -> FilePath {
    text.parse().unwrap()
}

fn builder() -> BundleBuilder {
    let mut manifest = sample();
    manifest.views = vec![ManifestView { name: "daily".to_owned(), file: path("views/daily.sql"), doc: String::new() }];
    BundleBuilder::new(nested("kept"), manifest, b"the plan".to_vec())
        .file(path("views/daily.sql"), b"SELECT 1".to_vec())
        .file(path("abis/usdc.json"), b"[]".to_vec())
}

/// The bundle of [`builder`] with its own sections replaced.
fn with_sections(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = EMPTY.to_vec();
    for (name, data) in sections {
        sections::push_custom(name, data, &mut bytes);
    }
    bytes
}

fn error(bytes: &[u8]) -> BundleError {
    Bundle::parse(bytes).expect_err("these bytes are no bundle")
}

#[test]
fn what_goes_in_comes_out() {
    let mut builder = builder();
    builder.views = Some(EMPTY.to_vec());
    let bytes = builder.build().unwrap();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(bundle.hash(), BundleHash::of(&bytes));
    assert_eq!(bundle.bytes()[..], bytes);
    assert_eq!(*bundle.manifest(), builder.final_manifest());
    assert_eq!(bundle.manifest_json(), builder.final_manifest().to_canonical_json().unwrap());
    assert_eq!(bundle.plan(), b"the plan");
    assert_eq!(bundle.views_component(), Some(EMPTY));
    assert_eq!(bundle.file(&path("abis/usdc.json")), Some(&b"[]"[..]));
    assert_eq!(bundle.file(&path("abis/other.json")), None);
    assert_eq!(
        bundle.files().map(|(path, _)| path.as_str()).collect::<Vec<_>>(),
        ["abis/usdc.json", "views/daily.sql"]
    );
    assert_eq!(bundle.sql_views().unwrap(), [("daily", "SELECT 1")]);
    assert_eq!(bundle.component().unwrap(), nested("kept"), "other custom sections are kept");
    assert_eq!(bundle.manifest().world, WORLD);
}

#[test]
fn the_same_parts_give_the_same_bytes() {
    let bytes = builder().build().unwrap();
    let mut files: Vec<_> = builder().files.into_iter().collect();
    files.reverse();
    let mut other = BundleBuilder::new(nested("kept"), builder().manifest, b"the plan".to_vec());
    for (path, content) in files {
        other = other.file(path, content);
    }
    assert_eq!(other.build().unwrap(), bytes);
    // Taking a bundle apart and building it again changes nothing (I7).
    let bundle = Bundle::parse(&bytes).unwrap();
    other.component = bundle.bytes().to_vec();
    other.manifest = bundle.manifest().clone();
    assert_eq!(other.build().unwrap(), bytes);
}

#[test]
fn the_address_of_a_known_bundle_is_fixed() {
    let hash = BundleBuilder::new(EMPTY.to_vec(), sample(), Vec::new()).build().map(|bytes| BundleHash::of(&bytes));
    // A change here means that every published bundle would get another address.
    assert_eq!(hash.unwrap().to_string(), "7f30f2644e3c0aaaa3ef453b47b030156f126505fc510ac3955d67054d4afb43");
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = builder().build().unwrap();
    for end in 0..bytes.len() {
        assert!(Bundle::parse(&bytes[..end]).is_err(), "cut at {end} of {}", bytes.len());
    }
}

#[test]
fn no_changed_byte_keeps_the_address() {
    let bytes = builder().build().unwrap();
    let hash = BundleHash::of(&bytes);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        if let Ok(bundle) = Bundle::parse(&changed) {
            assert_ne!(bundle.hash(), hash);
        }
    }
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let mut module = Module::new().finish();
    for (bytes, expected) in [
        (&b""[..], OtherFile::Empty),
        (&module.clone(), OtherFile::CoreModule),
        (b"(module)", OtherFile::Text),
        (b"\n  (component)", OtherFile::Text),
        (b"\x7fELF\x02\x01", OtherFile::MachineCode),
        (b"\0asm\x0e\0\x01\0", OtherFile::OtherVersion),
        (b"\0asm\x0d\0", OtherFile::OtherVersion),
        (b"\0as", OtherFile::Unknown),
        (b"PK\x03\x04", OtherFile::Unknown),
    ] {
        assert!(matches!(error(bytes), BundleError::NotComponent(other) if other == expected), "{bytes:?}");
    }
    // Sections of a bundle do not make a core module one, neither when read nor when built.
    sections::push_custom(SECTION_PLAN, b"", &mut module);
    assert!(matches!(error(&module), BundleError::NotComponent(OtherFile::CoreModule)));
    let built = BundleBuilder::new(Module::new().finish(), sample(), Vec::new()).build();
    assert!(matches!(built, Err(BundleError::NotComponent(OtherFile::CoreModule))));
}

#[test]
fn each_section_is_there_once_and_known() {
    let manifest = sample().to_canonical_json().unwrap();
    let manifest = (SECTION_MANIFEST, manifest.as_bytes());
    let plan = (SECTION_PLAN, &b"p"[..]);
    let views = (SECTION_VIEWS, EMPTY);
    assert!(Bundle::parse(&with_sections(&[manifest, plan])).is_ok());

    assert!(matches!(error(EMPTY), BundleError::Missing(s) if s == SECTION_MANIFEST));
    assert!(matches!(error(&with_sections(&[plan])), BundleError::Missing(s) if s == SECTION_MANIFEST));
    assert!(matches!(error(&with_sections(&[manifest])), BundleError::Missing(s) if s == SECTION_PLAN));
    for twice in [manifest, plan, views] {
        let bytes = with_sections(&[manifest, plan, views, twice]);
        assert!(matches!(error(&bytes), BundleError::Twice(s) if s == twice.0));
    }
    let bytes = with_sections(&[manifest, plan, ("nuthatch:extra", b"")]);
    assert!(matches!(error(&bytes), BundleError::UnknownSection(s) if s == "nuthatch:extra"));
    // A section in a nested component is no section of the bundle.
    let mut inner = Component::new();
    inner.section(&custom(manifest.0, manifest.1)).section(&custom(plan.0, plan.1));
    let mut outer = Component::new();
    outer.section(&NestedComponentSection(&inner));
    assert!(matches!(error(&outer.finish()), BundleError::Missing(_)));
}

#[test]
fn files_are_exactly_those_listed() {
    let manifest = builder().final_manifest().to_canonical_json().unwrap();
    let manifest = (SECTION_MANIFEST, manifest.as_bytes());
    let plan = (SECTION_PLAN, &b""[..]);
    let abi = ("nuthatch:file/abis/usdc.json", &b"[]"[..]);
    let sql = ("nuthatch:file/views/daily.sql", &b"SELECT 1"[..]);
    assert!(Bundle::parse(&with_sections(&[manifest, plan, abi, sql])).is_ok());

    assert!(matches!(error(&with_sections(&[manifest, plan, abi])), BundleError::Missing(s) if s == sql.0));
    assert!(matches!(error(&with_sections(&[manifest, plan, abi, sql, abi])), BundleError::Twice(s) if s == abi.0));
    for unlisted in ["nuthatch:file/extra", "nuthatch:file/", "nuthatch:file/../../etc/passwd"] {
        let bytes = with_sections(&[manifest, plan, abi, sql, (unlisted, b"")]);
        assert!(matches!(error(&bytes), BundleError::Unlisted(_)), "{unlisted}");
    }
    for other in [&b"SELECT 2"[..], b"SELECT 11", b""] {
        let bytes = with_sections(&[manifest, plan, abi, (sql.0, other)]);
        assert!(matches!(error(&bytes), BundleError::FileDiffers { path, .. } if path == "views/daily.sql"));
    }
}

#[test]
fn sizes_are_held_against_their_limits() {
    let large = vec![0; MAX_BUNDLE_BYTES + 1];
    assert!(matches!(error(&large), BundleError::TooLarge { .. }));
    let manifest = sample().to_canonical_json().unwrap();
    let manifest = (SECTION_MANIFEST, manifest.as_bytes());
    for (name, max) in [
        (SECTION_PLAN, MAX_PLAN_BYTES),
        (SECTION_VIEWS, MAX_VIEWS_BYTES),
        (SECTION_MANIFEST, MAX_MANIFEST_BYTES),
        ("nuthatch:file/a", MAX_FILE_BYTES),
    ] {
        let bytes = with_sections(&[(name, &vec![0; max + 1])]);
        assert!(matches!(error(&bytes), BundleError::SectionTooLarge { section, .. } if section == name));
    }
    assert!(Bundle::parse(&with_sections(&[manifest, (SECTION_PLAN, &vec![0; MAX_PLAN_BYTES])])).is_ok());
    let built = BundleBuilder::new(EMPTY.to_vec(), sample(), vec![0; MAX_BUNDLE_BYTES]).build();
    assert!(matches!(built, Err(BundleError::TooLarge { .. })));
}

#[test]
fn nesting_has_an_end() {
    let manifest = sample().to_canonical_json().unwrap();
    let deep = |levels: usize| {
        let mut component = Component::new();
        for _ in 1..levels {
            let mut outer = Component::new();
            outer.section(&NestedComponentSection(&component));
            component = outer;
        }
        let mut bytes = component.finish();
        sections::push_custom(SECTION_MANIFEST, manifest.as_bytes(), &mut bytes);
        sections::push_custom(SECTION_PLAN, b"", &mut bytes);
        bytes
    };
    assert!(Bundle::parse(&deep(MAX_NESTING)).is_ok());
    assert!(matches!(error(&deep(MAX_NESTING + 1)), BundleError::NestedTooDeep { .. }));
    assert!(matches!(error(&deep(5_000)), BundleError::NestedTooDeep { .. }));
}

#[test]
fn damage_is_located() {
    let mut bytes = builder().build().unwrap();
    bytes.push(7);
    let end = bytes.len();
    assert!(matches!(error(&bytes), BundleError::Malformed { offset, .. } if offset >= end - 1));
    // A nested module whose header is gone.
    let mut bytes = EMPTY.to_vec();
    bytes.extend_from_slice(&[1, 4, 0, 0, 0, 0]);
    let manifest = sample().to_canonical_json().unwrap();
    sections::push_custom(SECTION_MANIFEST, manifest.as_bytes(), &mut bytes);
    sections::push_custom(SECTION_PLAN, b"", &mut bytes);
    assert!(matches!(error(&bytes), BundleError::Malformed { offset: 10, .. }));
}

#[test]
fn code_that_does_not_validate_is_not_built_into_a_bundle() {
    let mut broken = EMPTY.to_vec();
    // An export section that exports function 0, which does not exist.
    broken.extend_from_slice(&[11, 7, 1, 0, 1, b'f', 1, 0, 0]);
    let built = BundleBuilder::new(broken, sample(), Vec::new()).build();
    assert!(matches!(built, Err(BundleError::InvalidCode { .. })), "{built:?}");
}

#[test]
fn a_view_that_is_not_text_is_an_error_of_its_own() {
    let mut builder = builder();
    builder.files.insert(path("views/daily.sql"), vec![0xff]);
    let bundle = Bundle::parse(&builder.build().unwrap()).unwrap();
    assert!(matches!(bundle.sql_views(), Err(BundleError::FileDiffers { .. })));
}

#[test]
fn imports_and_exports_are_read_by_name() {
    let mut builder = wasm_encoder::ComponentBuilder::default();
    let (ty, mut function) = builder.type_function(None);
    function.params::<[(&str, wasm_encoder::ComponentValType); 0], _>([]).result(None);
    let imported = builder.import("tick", wasm_encoder::ComponentTypeRef::Func(ty));
    let instance = builder.type_instance(None, &wasm_encoder::InstanceType::new());
    builder.import("nuthatch:nest/log@1.0.0", wasm_encoder::ComponentTypeRef::Instance(instance));
    builder.export("decode", wasm_encoder::ComponentExportKind::Func, imported, None);
    let component = builder.finish();
    let bytes = BundleBuilder::new(component, sample(), Vec::new()).build().unwrap();
    let interface = Bundle::parse(&bytes).unwrap().interface().unwrap();
    let shown = |list: &[Extern]| list.iter().map(Extern::to_string).collect::<Vec<_>>();
    assert_eq!(shown(&interface.imports), ["func tick", "instance nuthatch:nest/log@1.0.0"]);
    assert_eq!(shown(&interface.exports), ["func decode"]);
}
