#![allow(clippy::unwrap_used)]

use super::*;

fn parse(text: &str) -> Result<Type, TypeError> {
    Type::parse(text, None)
}

fn field(name: &str, ty: Type) -> Field {
    Field { name: name.to_owned(), ty }
}

#[test]
fn spellings_become_canonical() {
    for (text, canonical, dynamic, slot) in [
        ("uint", "uint256", false, 32),
        ("int", "int256", false, 32),
        ("byte", "bytes1", false, 32),
        ("uint8[3]", "uint8[3]", false, 96),
        ("uint8[3][2]", "uint8[3][2]", false, 192),
        ("int24[][2]", "int24[][2]", true, 32),
        ("string[]", "string[]", true, 32),
        ("function", "function", false, 32),
        ("bytes", "bytes", true, 32),
        ("bytes32", "bytes32", false, 32),
    ] {
        let ty = parse(text).unwrap();
        assert_eq!((ty.to_string().as_str(), ty.is_dynamic(), ty.slot()), (canonical, dynamic, slot), "{text}");
    }
    let inner = Type::tuple(vec![field("a", parse("bool").unwrap()), field("b", parse("bytes").unwrap())]).unwrap();
    let outer = Type::parse("tuple[2][]", Some(vec![field("x", inner), field("", parse("uint").unwrap())])).unwrap();
    assert_eq!(outer.to_string(), "((bool,bytes),uint256)[2][]");
}

#[test]
fn a_tuple_is_named_only_when_every_component_is() {
    let bool_ = || parse("bool").unwrap();
    assert!(Type::tuple(vec![field("a", bool_()), field("b", bool_())]).unwrap().is_named());
    assert!(!Type::tuple(vec![field("a", bool_()), field("", bool_())]).unwrap().is_named());
    assert!(!Type::tuple(vec![field("a", bool_()), field("a", bool_())]).unwrap().is_named());
}

#[test]
fn what_is_no_type_is_refused_with_words() {
    for text in [
        "",
        "uint7",
        "uint264",
        "uint08",
        "uint+8",
        "int0",
        "bytes0",
        "bytes33",
        "bytes032",
        "address payable",
        "uint8[",
        "uint8]",
        "uint8[]]",
        "uint8[-1]",
        "uint8[0]",
        "uint8[01]",
        "uint8[ 1]",
        "uint8[1]x",
        "tuple",
        "mapping",
        "fixed",
        "ufixed128x18",
        "fixed128x18[]",
        "uint256[99999]",
        "uint8[4294967295][4294967295]",
        "u\u{131}nt8",
    ] {
        let error = parse(text).expect_err(text);
        assert!(!error.0.is_empty());
    }
    assert!(parse("fixed128x18").unwrap_err().0.contains("fixed-point"));
    assert!(Type::parse("tuple", Some(vec![])).is_err());
}

#[test]
fn depth_is_bounded() {
    assert!(parse(&format!("bool{}", "[]".repeat(16))).is_ok());
    assert!(parse(&format!("bool{}", "[]".repeat(17))).is_err());
    assert!(parse(&format!("bool{}", "[]".repeat(100_000))).is_err());
}
