#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use super::*;
use crate::bundle::tests::{EMPTY, nested};
use crate::manifest::tests::{TRANSFER, address, column, sample};
use crate::{
    Budget, Bundle, BundleBuilder, CodeKind, ColumnType, ContentHash, ManifestContract, ManifestFile, ManifestView,
    Secret,
};

fn identity(manifest: &Manifest) -> DataIdentity {
    data_identity(manifest, EMPTY, b"plan").unwrap()
}

type Change = fn(&mut Manifest);

#[test]
fn every_field_that_can_change_rows_is_inside() {
    let changes: &[(&str, Change)] = &[
        ("chain", |m| m.chain_id = 10),
        ("world", |m| m.world = "1.1.0".parse().unwrap()),
        ("alias", |m| m.contracts[0].alias = "usdt".to_owned()),
        ("address", |m| m.contracts[0].addresses[0] = address(2)),
        ("another address", |m| m.contracts[0].addresses.push(address(2))),
        ("start block", |m| m.contracts[0].start_block += 1),
        ("another contract", |m| {
            let addresses = vec![address(3)];
            m.contracts.push(ManifestContract { alias: "z".to_owned(), addresses, start_block: 0 });
        }),
        ("filter address", |m| m.filters[0].addresses[0] = address(2).to_string()),
        ("filter without addresses", |m| m.filters[0].addresses.clear()),
        ("filter topic", |m| m.filters[0].topics[0] = TRANSFER.replace('d', "e")),
        ("filter start", |m| m.filters[0].start_block += 1),
        ("topic as address", |m| {
            let topics = std::mem::take(&mut m.filters[0].topics);
            m.filters[0].addresses.extend(topics);
        }),
        ("two filters", |m| m.filters.push(m.filters[0].clone())),
        ("table name", |m| m.tables[0].name.push('x')),
        ("another table", |m| {
            let mut other = m.tables[0].clone();
            other.name.push('x');
            m.tables.push(other);
        }),
        ("column name", |m| m.tables[0].columns[0].name.push('x')),
        ("column type", |m| m.tables[0].columns[1].ty = ColumnType::Uint(128)),
        ("column nullable", |m| m.tables[0].columns[1].nullable = true),
        ("column order", |m| m.tables[0].columns.swap(0, 1)),
        ("another column", |m| m.tables[0].columns.push(column("x", ColumnType::Bool, true))),
        ("a column less", |m| drop(m.tables[0].columns.pop())),
    ];
    let mut seen = BTreeSet::from([identity(&sample())]);
    for (what, change) in changes {
        let mut manifest = sample();
        change(&mut manifest);
        assert!(seen.insert(identity(&manifest)), "{what} is not inside the identity");
    }
    assert!(seen.insert(data_identity(&sample(), EMPTY, b"plan2").unwrap()), "the plan");
    assert!(seen.insert(data_identity(&sample(), &nested(""), b"plan").unwrap()), "the code");
}

#[test]
fn what_cannot_change_rows_is_outside() {
    let changes: &[(&str, Change)] = &[
        ("name", |m| m.name = "other".parse().unwrap()),
        ("version", |m| m.version = "9.9.9".parse().unwrap()),
        ("kind of code", |m| m.code = CodeKind::Own),
        ("views", |m| {
            let file = "v.sql".parse().unwrap();
            m.views.push(ManifestView { name: "v".to_owned(), file, doc: String::new() });
        }),
        ("files", |m| {
            let path = "v.sql".parse().unwrap();
            m.files.push(ManifestFile { path, size: 1, blake3: ContentHash::of(b"x") });
        }),
        ("table doc", |m| m.tables[0].doc = "doc".to_owned()),
        ("column doc", |m| m.tables[0].columns[0].doc = "doc".to_owned()),
        ("secrets", |m| m.secrets.push(Secret { name: "z".to_owned(), purpose: String::new() })),
        ("budget", |m| m.budget = Some(Budget { base: 1, per_log: 1, per_byte: 1 })),
    ];
    for (what, change) in changes {
        let mut manifest = sample();
        change(&mut manifest);
        assert_ne!(manifest, sample(), "{what}");
        assert_eq!(identity(&manifest), identity(&sample()), "{what} is inside the identity");
    }
}

#[test]
fn custom_sections_do_not_count_at_any_depth() {
    let of = |component: &[u8]| data_identity(&sample(), component, b"plan").unwrap();
    assert_ne!(nested("a"), nested("bb"));
    assert_eq!(of(&nested("a")), of(&nested("bb")));
    // A size that is spelled longer than needed is the same size.
    let mut long = EMPTY.to_vec();
    let mut short = EMPTY.to_vec();
    long.extend_from_slice(&[1, 0x88, 0x80, 0x00]);
    short.extend_from_slice(&[1, 8]);
    for bytes in [&mut long, &mut short] {
        bytes.extend_from_slice(b"\0asm\x01\0\0\0");
    }
    assert_eq!(of(&long), of(&short));
    assert_ne!(of(&short), of(EMPTY));
}

#[test]
fn what_is_hashed_of_the_code_still_validates() {
    let stripped = code_alone(&nested("note")).unwrap();
    wasmparser::Validator::new().validate_all(&stripped).unwrap();
    assert!(!stripped.windows(4).any(|window| window == b"note"));
    assert_eq!(code_alone(&stripped).unwrap(), stripped);
}

#[test]
fn a_bundle_has_the_identity_of_its_parts() {
    let bytes = BundleBuilder::new(nested("a"), sample(), b"plan".to_vec()).build().unwrap();
    let bundle = Bundle::parse(&bytes).unwrap();
    assert_eq!(bundle.data_identity(), data_identity(&sample(), &nested("b"), b"plan").unwrap());
    assert_eq!(bundle.data_identity(), data_identity(&sample(), &bytes, b"plan").unwrap());
}

#[test]
fn the_identity_of_a_known_nest_is_fixed() {
    // A change here means that every dataset would be indexed anew.
    assert_eq!(identity(&sample()).to_string(), "fda0aaf2a4bb70fe9ec84f58dc4160dc12a3c3e2990c49769e97a616f9c32abe");
}
