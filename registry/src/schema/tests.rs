#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn every_type_has_one_spelling() {
    let mut all = vec![
        ColumnType::Bool,
        ColumnType::Timestamp,
        ColumnType::Address,
        ColumnType::Bytes,
        ColumnType::String,
        ColumnType::Json,
    ];
    all.extend((1..=32).flat_map(|bytes| [ColumnType::Uint(bytes * 8), ColumnType::Int(bytes * 8)]));
    all.extend((1..=32).map(ColumnType::FixedBytes));
    all.extend((1..=76).flat_map(|p| (0..=p).map(move |s| ColumnType::Decimal(p, s))));
    let spellings: std::collections::BTreeSet<_> = all.iter().map(ColumnType::to_string).collect();
    assert_eq!(spellings.len(), all.len());
    for ty in all {
        assert_eq!(ty.to_string().parse::<ColumnType>().unwrap(), ty);
        let json = serde_json::to_string(&ty).unwrap();
        assert_eq!(serde_json::from_str::<ColumnType>(&json).unwrap(), ty);
    }
}

#[test]
fn other_spellings_are_refused() {
    for bad in [
        "",
        "Bool",
        "uint",
        "int",
        "uint0",
        "uint7",
        "uint12",
        "uint264",
        "uint08",
        "uint+8",
        "uint 8",
        "int-8",
        "bytes0",
        "bytes33",
        "bytes01",
        "decimal",
        "decimal()",
        "decimal(18)",
        "decimal(0,0)",
        "decimal(77,0)",
        "decimal(5,6)",
        "decimal(05,1)",
        "decimal(5, 1)",
        "decimal(5,1",
        "address payable",
        "uint256[]",
        "float64",
        "uint2560000000000",
    ] {
        assert!(bad.parse::<ColumnType>().is_err(), "{bad:?}");
    }
}

#[test]
fn wide_integers_are_those_above_64_bits() {
    assert!(!ColumnType::Uint(64).is_wide_integer());
    assert!(ColumnType::Uint(72).is_wide_integer());
    assert!(ColumnType::Int(256).is_wide_integer());
    assert!(!ColumnType::Decimal(76, 0).is_wide_integer());
}

#[test]
fn provenance_names_are_column_names_and_distinct() {
    let names: std::collections::BTreeSet<_> = PROVENANCE.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), PROVENANCE.len());
    assert!(names.iter().all(|name| crate::is_column_name(name)));
}
