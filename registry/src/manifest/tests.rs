#![allow(clippy::unwrap_used)]

use super::*;
use crate::{ColumnSchema, ColumnType};

pub(crate) const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

pub(crate) fn column(name: &str, ty: ColumnType, nullable: bool) -> ColumnSchema {
    ColumnSchema { name: name.to_owned(), ty, nullable, doc: String::new() }
}

pub(crate) fn address(last: u8) -> ContractAddress {
    let mut bytes = [0x11; 20];
    bytes[19] = last;
    ContractAddress(bytes)
}

/// A small nest without files.
pub(crate) fn sample() -> Manifest {
    Manifest {
        format: BUNDLE_FORMAT,
        name: "usdc".parse().unwrap(),
        version: Version::new(1, 3, 0),
        chain_id: 1,
        world: WORLD,
        code: CodeKind::Standard,
        contracts: vec![ManifestContract {
            alias: "usdc".to_owned(),
            addresses: vec![address(1)],
            start_block: 6082465,
        }],
        filters: vec![LogFilter {
            addresses: vec![address(1).to_string()],
            topics: vec![TRANSFER.to_owned()],
            start_block: 6082465,
        }],
        tables: vec![TableSchema {
            name: "usdc__transfer".to_owned(),
            columns: vec![
                column("from", ColumnType::Address, false),
                column("value", ColumnType::Uint(256), false),
                column("memo__raw", ColumnType::Bytes, true),
            ],
            doc: String::new(),
        }],
        views: Vec::new(),
        secrets: vec![Secret { name: "rpc_url".to_owned(), purpose: "private endpoint".to_owned() }],
        files: Vec::new(),
        budget: None,
    }
}

fn file(path: &str) -> ManifestFile {
    ManifestFile { path: path.parse().unwrap(), size: 1, blake3: ContentHash::of(b"x") }
}

fn view(name: &str) -> ManifestView {
    ManifestView { name: name.to_owned(), file: "v.sql".parse().unwrap(), doc: String::new() }
}

#[test]
fn the_canonical_spelling_is_fixed() {
    let expected = concat!(
        r#"{"chain_id":1,"code":"standard","contracts":[{"addresses":["0x1111111111111111111111111111111111111101"],"#,
        r#""alias":"usdc","start_block":6082465}],"files":[],"filters":[{"addresses":["#,
        r#""0x1111111111111111111111111111111111111101"],"start_block":6082465,"topics":["#,
        r#""0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"]}],"format":1,"name":"usdc","#,
        r#""secrets":[{"name":"rpc_url","purpose":"private endpoint"}],"tables":[{"columns":["#,
        r#"{"name":"from","nullable":false,"type":"address"},{"name":"value","nullable":false,"type":"uint256"},"#,
        r#"{"name":"memo__raw","nullable":true,"type":"bytes"}],"name":"usdc__transfer"}],"version":"1.3.0","#,
        r#""views":[],"world":"1.0.0"}"#
    );
    assert_eq!(sample().to_canonical_json().unwrap(), expected);
    assert_eq!(Manifest::from_canonical_json(expected.as_bytes()).unwrap(), sample());
}

#[test]
fn optional_parts_round_trip() {
    let mut manifest = sample();
    manifest.budget = Some(Budget { base: 1, per_log: 2, per_byte: u64::MAX });
    manifest.files = vec![file("a.json"), file("v.sql")];
    manifest.views = vec![ManifestView { doc: "Volume of a day,\n\tin USDC".to_owned(), ..view("daily") }];
    manifest.tables[0].doc = "Transfers \"of\" USDC — 🐦".to_owned();
    let json = manifest.to_canonical_json().unwrap();
    assert_eq!(Manifest::from_canonical_json(json.as_bytes()).unwrap(), manifest);
}

#[test]
fn another_spelling_of_the_same_manifest_is_refused() {
    let json = sample().to_canonical_json().unwrap();
    let with_doc = json.replacen(r#""name":"usdc__transfer""#, r#""doc":"","name":"usdc__transfer""#, 1);
    let mut letters = sample();
    letters.contracts[0].addresses[0] = ContractAddress([0xab; 20]);
    let letters = letters.to_canonical_json().unwrap();
    let upper = letters.replacen(&"ab".repeat(20), &"AB".repeat(20), 1);
    assert_ne!(upper, letters);
    for other in [
        format!(" {json}"),
        format!("{json}\n"),
        json.replacen(':', ": ", 1),
        json.replacen("usdc", "\\u0075sdc", 1),
        json.replacen("6082465", "6082465.0", 1),
        json.replacen(r#""chain_id":1,"code":"standard""#, r#""code":"standard","chain_id":1"#, 1),
        json.replacen(r#"{"chain_id":1"#, r#"{"budget":null,"chain_id":1"#, 1),
        with_doc,
        upper,
    ] {
        assert_ne!(other, json);
        let error = Manifest::from_canonical_json(other.as_bytes()).unwrap_err();
        assert!(
            matches!(error, ManifestError::NotCanonical { .. } | ManifestError::Json(_) | ManifestError::Refused(_)),
            "{other}: {error}"
        );
    }
    let spaced = json.replacen(':', ": ", 1);
    let error = Manifest::from_canonical_json(spaced.as_bytes()).unwrap_err();
    assert!(matches!(error, ManifestError::NotCanonical { at: 12 }), "{error}");
}

#[test]
fn unknown_fields_repeated_fields_and_other_formats_are_refused() {
    let json = sample().to_canonical_json().unwrap();
    let unknown = json.replacen(r#""views":[]"#, r#""viewz":[],"views":[]"#, 1);
    assert!(matches!(Manifest::from_canonical_json(unknown.as_bytes()), Err(ManifestError::Json(_))));
    let twice = json.replacen(r#""views":[]"#, r#""views":[],"views":[]"#, 1);
    assert!(matches!(Manifest::from_canonical_json(twice.as_bytes()), Err(ManifestError::Json(_))));
    // A newer format is named as such, even where it brings fields that are unknown here.
    let newer = unknown.replacen(r#""format":1"#, r#""format":2"#, 1);
    assert!(matches!(Manifest::from_canonical_json(newer.as_bytes()), Err(ManifestError::Format { found: 2 })));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(Manifest::from_canonical_json(deep.as_bytes()), Err(ManifestError::Json(_))));
    let large = vec![b' '; MAX_MANIFEST_BYTES + 1];
    assert!(matches!(Manifest::from_canonical_json(&large), Err(ManifestError::TooLarge { .. })));
}

#[test]
fn sorting_gives_the_canonical_order_and_keeps_what_has_a_meaning() {
    let mut manifest = sample();
    manifest.contracts[0].addresses = vec![address(9), address(1)];
    manifest
        .contracts
        .insert(0, ManifestContract { alias: "z".to_owned(), addresses: vec![address(5)], start_block: 3 });
    manifest.files = vec![file("v.sql"), file("a.json")];
    manifest.views = vec![view("b"), view("a")];
    manifest.secrets.insert(0, Secret { name: "z".to_owned(), purpose: String::new() });
    assert!(manifest.check().is_err());
    let sorted = manifest.sorted();
    sorted.check().unwrap();
    assert_eq!(sorted.contracts.iter().map(|c| c.alias.as_str()).collect::<Vec<_>>(), ["usdc", "z"]);
    assert_eq!(sorted.contracts[0].addresses, [address(1), address(9)]);
    assert_eq!(sorted.views.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(sorted.first_block(), 3);
}

/// Changes the sample so that exactly one rule is broken.
type Change = fn(&mut Manifest);

#[test]
fn every_rule_has_its_own_error() {
    let cases: &[(&str, Change)] = &[
        ("its format is 7", |m| m.format = 7),
        ("nest version '1.0.0+x'", |m| m.version = "1.0.0+x".parse().unwrap()),
        ("interface version", |m| m.world = "1.0.0+x".parse().unwrap()),
        ("chain id 0", |m| m.chain_id = 0),
        ("'Usdc' cannot name a contract", |m| m.contracts[0].alias = "Usdc".to_owned()),
        ("contract 'usdc' has no address", |m| m.contracts[0].addresses.clear()),
        ("contract 'usdc' stands twice", |m| {
            let mut other = m.contracts[0].clone();
            other.addresses = vec![address(2)];
            m.contracts.push(other);
        }),
        ("address '0x1111111111111111111111111111111111111101' stands twice", |m| {
            let mut other = m.contracts[0].clone();
            other.alias = "z".to_owned();
            m.contracts.push(other);
        }),
        ("the addresses are not in order", |m| m.contracts[0].addresses.push(address(0))),
        ("the contracts are not in order", |m| {
            let addresses = vec![address(7)];
            m.contracts.push(ManifestContract { alias: "a".to_owned(), addresses, start_block: 0 });
        }),
        ("in filter 0 is not an address", |m| m.filters[0].addresses[0] = address(1).to_string()[2..].to_owned()),
        ("is not an address: 0x and 40 lower-case", |m| {
            m.filters[0].addresses[0] = "0xABCDEF1111111111111111111111111111111111".to_owned();
        }),
        ("in filter 0 is not a topic", |m| m.filters[0].topics.push("0x00".to_owned())),
        ("topic '0xddf2", |m| m.filters[0].topics.push(TRANSFER.to_owned())),
        ("'Transfer' cannot name a table", |m| m.tables[0].name = "Transfer".to_owned()),
        ("'_status' cannot name a table", |m| m.tables[0].name = "_status".to_owned()),
        ("'_rejected' cannot name a view", |m| {
            m.files.push(file("v.sql"));
            m.views.push(view("_rejected"));
        }),
        ("table 'usdc__transfer' stands twice", |m| m.tables.push(m.tables[0].clone())),
        ("'usdc__transfer.To' cannot name a column", |m| m.tables[0].columns[0].name = "To".to_owned()),
        ("column 'usdc__transfer.value' stands twice", |m| m.tables[0].columns[0].name = "value".to_owned()),
        ("the text of table 'usdc__transfer'", |m| m.tables[0].doc = "\u{1b}[31m".to_owned()),
        ("the text of column 'usdc__transfer.from'", |m| m.tables[0].columns[0].doc = "x".repeat(MAX_DOC + 1)),
        ("513 columns in table 'usdc__transfer'", |m| {
            m.tables[0].columns = (0..513).map(|n| column(&format!("c{n}"), ColumnType::Bool, false)).collect();
        }),
        ("view 'a' stands twice", |m| {
            m.files.push(file("v.sql"));
            m.views = vec![view("a"), view("a")];
        }),
        ("view 'usdc__transfer' has the name of a table", |m| {
            m.files.push(file("v.sql"));
            m.views.push(view("usdc__transfer"));
        }),
        ("which is not among the bundle's files", |m| m.views.push(view("a"))),
        ("secret 'rpc_url' stands twice", |m| m.secrets.push(m.secrets[0].clone())),
        ("'RPC' cannot name a secret", |m| m.secrets[0].name = "RPC".to_owned()),
        ("the text of secret 'rpc_url'", |m| m.secrets[0].purpose = "a\0b".to_owned()),
        ("file 'a' stands twice", |m| m.files = vec![file("a"), file("a")]),
        ("the files are not in order", |m| m.files = vec![file("b"), file("a")]),
        ("file 'a' has 4194305 bytes", |m| m.files = vec![ManifestFile { size: (4 << 20) + 1, ..file("a") }]),
        ("65 secrets, more than the 64", |m| {
            let secret = |n| Secret { name: format!("s{n:02}"), purpose: String::new() };
            m.secrets = (0..65).map(secret).collect();
        }),
        ("4097 tables", |m| {
            m.tables = (0..4097).map(|n| TableSchema { name: format!("t{n}"), ..m.tables[0].clone() }).collect();
        }),
        ("4097 filters", |m| m.filters = vec![m.filters[0].clone(); 4097]),
        ("1025 contracts", |m| m.contracts = vec![m.contracts[0].clone(); 1025]),
        ("513 views", |m| m.views = vec![view("a"); 513]),
        ("4097 files", |m| m.files = (0..4097).map(|n| file(&format!("f{n:04}"))).collect()),
        ("65537 addresses", |m| m.contracts[0].addresses = vec![address(1); 65537]),
        ("65537 topics", |m| m.filters[0].topics = vec![String::new(); 65537]),
    ];
    sample().check().unwrap();
    for (expected, change) in cases {
        let mut manifest = sample();
        change(&mut manifest);
        let message = manifest.check().expect_err(expected).to_string();
        assert!(message.contains(expected), "expected {expected:?} in {message:?}");
    }
}

#[test]
fn no_column_can_take_a_provenance_name() {
    for (name, _) in crate::PROVENANCE {
        let mut manifest = sample();
        manifest.tables[0].columns[0].name = name.to_owned();
        let expected = ManifestProblem::Provenance { table: "usdc__transfer".to_owned(), column: name.to_owned() };
        assert_eq!(manifest.check(), Err(expected));
    }
}
