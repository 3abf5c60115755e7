//! Foreign bytes: items 8, 9 and 10 of the list. Each is refused with what is wrong with it.

use nuthatch::plugin::{LoadError, PluginHost, PluginLimits};
use nuthatch_tests::guests::{Core, NEST_WIT, component, evil, evil_logs, host, wat_component};
use proptest::prelude::*;

fn engine() -> PluginHost {
    host(PluginLimits::default())
}

fn refused(bytes: &[u8]) -> String {
    engine().load(bytes).unwrap_err().to_string()
}

fn malformed(bytes: &[u8]) -> String {
    match engine().load(bytes).unwrap_err() {
        LoadError::Malformed { reason } => reason,
        other => panic!("{other}"),
    }
}

#[test]
fn what_is_no_component_is_named() {
    let not = |what: &str| format!("this is not a WebAssembly component but {what}");
    assert_eq!(refused(b""), not("an empty file"));
    assert_eq!(refused(b"  (component)"), not("WebAssembly text; assemble it first"));
    assert_eq!(refused(b"\x7fELF\x02\x01\x01\x00"), not("machine code (.cwasm); only portable components are loaded"));
    assert_eq!(refused(b"\0asm\x01\0\0\0"), not("a core module; make a component of it first"));
    assert_eq!(refused(b"\0asm\x0e\0"), not("a component cut off or of an unknown version"));
    assert_eq!(refused(b"PK\x03\x04"), not("something else"));
}

#[test]
fn a_file_over_the_cap_is_not_even_read() {
    let mut limits = PluginLimits::default();
    limits.component.bytes = 1_000;
    let error = host(limits).load(&evil()).unwrap_err();
    assert_eq!(error, LoadError::TooLarge { found: evil().len(), cap: 1_000 });
}

/// Every prefix of a good component is refused; the whole is not.
#[test]
fn a_component_cut_off_anywhere_is_refused() {
    let (engine, whole) = (engine(), Core::default().component());
    for length in 0..whole.len() {
        let Ok(plugin) = engine.load(&whole[..length]) else { continue };
        // What is left out was a custom section: the code is whole.
        assert_eq!(plugin.code_hash(), engine.load(&whole).unwrap().code_hash(), "at {length}");
    }
    let evil = evil();
    for length in (0..evil.len()).step_by(997) {
        assert!(engine.load(&evil[..length]).is_err(), "at {length}");
    }
}

/// Each byte of a good component changed, one at a time: refused or loaded, never a panic.
#[test]
fn a_component_with_a_changed_byte_never_panics() {
    let (engine, whole) = (engine(), Core::default().component());
    let mut refused = 0;
    for place in (0..whole.len()).step_by(3) {
        let mut changed = whole.clone();
        changed[place] ^= 1 << (place % 8);
        match engine.load(&changed) {
            Ok(_) => {}
            Err(LoadError::Panicked { reason }) => panic!("at {place}: {reason}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), header in any::<bool>()) {
        static ENGINE: std::sync::LazyLock<PluginHost> = std::sync::LazyLock::new(engine);
        if header {
            bytes.splice(0..0, *b"\0asm\x0d\0\x01\0");
        }
        let error = ENGINE.load(&bytes).unwrap_err();
        prop_assert!(!matches!(error, LoadError::Panicked { .. }), "{}", error);
    }
}

#[test]
fn bombs_are_refused_before_they_are_compiled() {
    let functions = format!("(core module {})", "(func)".repeat(50_000));
    assert_eq!(refused(&wat_component(&functions)), "the component has 50001 functions, and at most 20000 are allowed");

    let body = format!("(core module (func {}))", "nop ".repeat(1 << 20));
    assert_eq!(
        refused(&wat_component(&body)),
        "the component has 1048578 bytes in one function body, and at most 262144 are allowed"
    );

    let locals = format!("(core module (func (local {})))", "i32 ".repeat(50_000));
    assert_eq!(
        refused(&wat_component(&locals)),
        "the component has 50000 locals in one function, and at most 2000 are allowed"
    );

    // A minute of compilation in 40 KB: every local is live around a loop of many branches.
    let branch = "(if (local.get 0) (then (local.set 1 (i64.const 7))))".repeat(4_000);
    let body = format!("(loop $l {branch} (br_if $l (local.get 0)))");
    let heavy = format!("(core module (func (param i32) (local {}) {body}))", "i64 ".repeat(2_000)).repeat(2);
    assert!(matches!(
        engine().load(&wat_component(&heavy)).unwrap_err(),
        LoadError::OverLimit { what: "units of work for the compiler (bytes × locals)", .. }
    ));
    let wide = format!("(core module (type (func (param {}))))", "i64 ".repeat(101));
    assert_eq!(
        refused(&wat_component(&wide)),
        "the component has 101 parameters and results of one type, and at most 100 are allowed"
    );
    let lifts = "(func (canon lift (core func $nothing \"f\")))".repeat(70);
    assert_eq!(refused(&wat_component(&lifts)), "the component has 65 canonical functions, and at most 64 are allowed");

    let nested = format!("{}{}", "(component ".repeat(50), ")".repeat(50));
    assert_eq!(
        refused(&wat_component(&nested)),
        "the component has 4 levels of nested components, and at most 3 are allowed"
    );

    let many = "(component)".repeat(50);
    assert_eq!(refused(&wat_component(&many)), "the component has 9 nested components, and at most 8 are allowed");
    let modules = "(core module)".repeat(50);
    assert_eq!(refused(&wat_component(&modules)), "the component has 9 core modules, and at most 8 are allowed");
}

/// Each level instantiates the one below ten times: a few hundred bytes that stand for 10^7 instances.
#[test]
fn an_instance_bomb_is_refused_before_it_is_compiled() {
    let mut text = String::from("(component $c0)");
    for level in 1..7 {
        let below = format!("(instance (instantiate $c{}))", level - 1).repeat(10);
        text.push_str(&format!(
            "(component $c{level} (alias outer 1 $c{} (component $c{})) {below})",
            level - 1,
            level - 1
        ));
    }
    assert_eq!(refused(&wat_component(&text)), "the component has 33 instances, and at most 32 are allowed");
}

/// Reading nested types recurses: bounded before it begins, so that it cannot use up the stack.
#[test]
fn types_nested_a_million_deep_are_refused() {
    let mut section = vec![1_u8];
    // `instance type` with one declaration, `a type`, again and again.
    for _ in 0..1_000_000 {
        section.extend([0x42, 0x01, 0x01]);
    }
    let mut bytes = b"\0asm\x0d\0\x01\0\x07".to_vec();
    let mut length = section.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(&section);
    assert_eq!(refused(&bytes), "the component has 3000001 bytes of component types, and at most 65536 are allowed");
    // As deep as the cap lets it: read in full, and refused by the validator.
    let mut bytes = wat_component("");
    let section: Vec<u8> = std::iter::once(1).chain([0x42, 0x01, 0x01].into_iter().cycle().take(60_000)).collect();
    bytes.extend([0x07, 0xe1, 0xd4, 0x03]);
    bytes.extend(section);
    assert!(matches!(engine().load(&bytes).unwrap_err(), LoadError::Malformed { .. }));
}

const ONLY: &str = "and a nest may import nuthatch:nest/log@1.0.0 and nuthatch:nest/types@1.0.0 only; build it against \
                    the world nuthatch:nest/decoder@1.0.0";

#[test]
fn unknown_imports_are_named() {
    for (import, name) in [
        ("(import \"wasi:clocks/wall-clock@0.2.0\" (instance))", "wasi:clocks/wall-clock@0.2.0"),
        ("(import \"wasi:random/random@0.2.0\" (instance))", "wasi:random/random@0.2.0"),
        ("(import \"env\" (func))", "env"),
        ("(import \"log\" (func))", "log"),
        ("(import \"nuthatch:nest/log@1.1.0\" (instance))", "nuthatch:nest/log@1.1.0"),
        ("(import \"nuthatch:nest/log\" (instance))", "nuthatch:nest/log"),
        ("(import \"nuthatch:nest/log@1.0.0\" (func))", "nuthatch:nest/log@1.0.0"),
        ("(import \"handle\" (type (sub resource)))", "handle"),
        ("(import \"code\" (core module))", "code"),
    ] {
        assert_eq!(refused(&wat_component(import)), format!("the component imports '{name}', {ONLY}"), "{import}");
    }
}

#[test]
fn another_major_version_is_refused_by_its_imports() {
    let wit = NEST_WIT.replace("nuthatch:nest@1.0.0", "nuthatch:nest@2.0.0");
    let guest = component(&wit, &Core::default().text());
    assert_eq!(refused(&guest), format!("the component imports 'nuthatch:nest/types@2.0.0', {ONLY}"));
}

#[test]
fn an_import_of_another_type_is_named() {
    let wit = NEST_WIT.replace("log: func(level: level, message: string)", "log: func(message: string)");
    let imports = "(import \"nuthatch:nest/log@1.0.0\" \"log\" (func (param i32 i32)))";
    let core = Core::default().text().replacen("(module", &format!("(module {imports}"), 1);
    let text = refused(&component(&wit, &core));
    assert_eq!(
        text,
        "the component does not fit the world nuthatch:nest/decoder@1.0.0: component imports instance \
         `nuthatch:nest/log@1.0.0`, but a matching implementation was not found in the linker: instance export `log` \
         has the wrong type: type mismatch with parameters: expected 2-tuple, found 1-tuple"
    );
}

#[test]
fn a_function_among_the_types_is_refused() {
    let wit = NEST_WIT.replace("interface types {", "interface types { spy: func() -> u64;");
    let imports = "(import \"nuthatch:nest/types@1.0.0\" \"spy\" (func (result i64)))";
    let core = Core::default().text().replacen("(module", &format!("(module {imports}"), 1);
    let text = refused(&component(&wit, &core));
    assert!(
        text.starts_with(
            "the component does not fit the world nuthatch:nest/decoder@1.0.0: component imports instance \
             `nuthatch:nest/types@1.0.0`, but a matching implementation was not found in the linker: instance export \
             `spy` has the wrong type"
        ),
        "{text}"
    );
}

#[test]
fn a_missing_export_is_named() {
    let wit = NEST_WIT.replace("export describe: func", "export explain: func");
    let core = Core::default().text().replace("(export \"describe\")", "(export \"explain\")");
    assert_eq!(
        refused(&component(&wit, &core)),
        "the component does not export 'describe', which the world nuthatch:nest/decoder@1.0.0 asks for"
    );
}

#[test]
fn an_export_of_another_type_is_named() {
    assert_eq!(
        refused(&wat_component("")),
        "the component does not fit the world nuthatch:nest/decoder@1.0.0: type-checking export func `decode`: \
         expected 2-tuple, found 0-tuple"
    );
    let wit = NEST_WIT.replace("rejected: list<rejection>, ignored: list<u32>", "rejected: list<rejection>");
    let text = refused(&component(&wit, &Core::default().text()));
    assert!(text.contains("type-checking export func `decode`"), "{text}");
}

#[test]
fn what_is_off_is_refused_by_validation() {
    for (what, part, expected) in [
        (
            "relaxed SIMD",
            "(func (param v128 v128) (result v128) (f32x4.relaxed_min (local.get 0) (local.get 1)))",
            "relaxed SIMD",
        ),
        ("threads", "(memory 1 1 shared)", "threads"),
        ("atomics", "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))", "threads"),
        ("memory64", "(memory i64 1)", "memory64"),
        ("GC", "(type (struct (field i32)))", "gc"),
        ("i31", "(func (drop (ref.i31 (i32.const 1))))", "gc"),
        ("exceptions", "(tag)", "exceptions"),
        ("externref", "(func (param externref))", "gc"),
        ("typed references", "(type $f (func)) (func (param (ref null $f)))", "function references"),
        ("wide arithmetic", "(func (drop (drop (i64.mul_wide_u (i64.const 1) (i64.const 2)))))", "wide arithmetic"),
        ("custom pages", "(memory 1 (pagesize 1))", "custom page sizes"),
    ] {
        let reason = malformed(&wat_component(&format!("(core module {part})")));
        assert!(reason.to_lowercase().contains(&expected.to_lowercase()), "{what}: {reason}");
    }
    let two = wat_component("(core module (memory 1) (memory 1))");
    assert_eq!(refused(&two), "the component has 2 memories, and at most 1 are allowed");
}

#[test]
fn the_hostile_guest_itself_is_a_good_component() {
    let plugin = engine().load(&evil()).unwrap();
    let description = plugin.describe(&plugin.plan(b"healthy").unwrap()).unwrap();
    assert_eq!(description.tables.len(), 2);
    assert_eq!(description.filters[0].addresses, [format!("0x{}", "ee".repeat(20))]);
    let rows = nuthatch_tests::guests::evil_decode("healthy", &evil_logs(0..3, &[])).unwrap();
    assert_eq!(rows.counts.rows, 3);
}
