#![allow(clippy::unwrap_used)]

use super::*;
use crate::manifest::tests::{address, column, sample};
use crate::{CodeKind, ContentHash, ManifestFile, ManifestView, Secret};

type Edit = fn(&mut Manifest);

fn edited(edit: Edit) -> Manifest {
    let mut manifest = base();
    edit(&mut manifest);
    manifest
}

fn base() -> Manifest {
    let mut manifest = sample();
    add_view(&mut manifest, "daily", b"SELECT 1");
    manifest
}

fn add_view(manifest: &mut Manifest, name: &str, text: &[u8]) {
    let file: crate::FilePath = format!("views/{name}.sql").parse().unwrap();
    manifest.files.push(ManifestFile { path: file.clone(), size: 1, blake3: ContentHash::of(text) });
    manifest.views.push(ManifestView { name: name.to_owned(), file, doc: String::new() });
}

#[test]
fn every_compatible_change_is_named_with_its_bump() {
    let cases: &[(&str, Bump, Edit)] = &[
        ("table 'usdc__approval' is new", Bump::Minor, |m| {
            let columns = vec![column("owner", ColumnType::Address, false)];
            m.tables.push(TableSchema { name: "usdc__approval".to_owned(), columns, doc: String::new() });
        }),
        ("column 'usdc__transfer.memo' is new", Bump::Minor, |m| {
            m.tables[0].columns.push(column("memo", ColumnType::String, true));
        }),
        ("column 'usdc__transfer.memo__raw' is no longer NULL", Bump::Minor, |m| {
            m.tables[0].columns[2].nullable = false
        }),
        ("the columns of table 'usdc__transfer' stand in another order", Bump::Minor, |m| {
            m.tables[0].columns.swap(0, 1)
        }),
        ("view 'weekly' is new", Bump::Minor, |m| add_view(m, "weekly", b"SELECT 2")),
        ("view 'daily' has another text", Bump::Patch, |m| m.files[0].blake3 = ContentHash::of(b"SELECT 3")),
        ("the code asks for other logs", Bump::Patch, |m| m.filters[0].topics.clear()),
        ("the kind of code", Bump::Patch, |m| m.code = CodeKind::Own),
        ("secret 'z' is new", Bump::Minor, |m| {
            m.secrets.push(Secret { name: "z".to_owned(), purpose: String::new() });
        }),
        ("secret 'rpc_url' is no longer used", Bump::Patch, |m| m.secrets.clear()),
    ];
    for (expected, bump, edit) in cases {
        let verdict = compat(&base(), &edited(*edit));
        let Compatibility::Compatible { changes } = &verdict else { panic!("{expected}: {verdict:?}") };
        let sentences: Vec<_> = changes.iter().map(Change::to_string).collect();
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(sentences[0].contains(expected), "expected {expected:?} in {sentences:?}");
        assert_eq!(verdict.required_bump(), Some(*bump), "{expected}");
    }
}

#[test]
fn what_readers_cannot_notice_is_no_change() {
    let edits: &[Edit] = &[
        |_| {},
        |m| m.version = "1.4.0".parse().unwrap(),
        |m| m.tables[0].doc = "doc".to_owned(),
        |m| m.views[0].doc = "doc".to_owned(),
        |m| {
            // The same text under another path.
            m.files[0].path = "sql/daily.sql".parse().unwrap();
            m.views[0].file = "sql/daily.sql".parse().unwrap();
        },
    ];
    for edit in edits {
        let verdict = compat(&base(), &edited(*edit));
        assert_eq!(verdict, Compatibility::Compatible { changes: vec![] });
        assert_eq!(verdict.required_bump(), Some(Bump::Patch));
    }
}

#[test]
fn every_breaking_reason_is_named() {
    let cases: &[(&[&str], Edit)] = &[
        (&["table 'usdc__transfer' is gone"], |m| m.tables.clear()),
        (&["table 'usdc__transfer' is gone ('usdc__moved' has the same columns"], |m| {
            m.tables[0].name = "usdc__moved".to_owned();
        }),
        (&["column 'usdc__transfer.value' is gone"], |m| drop(m.tables[0].columns.remove(1))),
        (
            &[
                "column 'usdc__transfer.value' is gone ('amount' has the same type",
                "column 'usdc__transfer.amount' is new and not nullable",
            ],
            |m| m.tables[0].columns[1].name = "amount".to_owned(),
        ),
        (&["column 'usdc__transfer.value' is uint128 instead of uint256"], |m| {
            m.tables[0].columns[1].ty = ColumnType::Uint(128);
        }),
        (&["column 'usdc__transfer.value' can be NULL"], |m| m.tables[0].columns[1].nullable = true),
        (&["column 'usdc__transfer.x' is new and not nullable"], |m| {
            m.tables[0].columns.push(column("x", ColumnType::Bool, false));
        }),
        (&["view 'daily' is gone"], |m| m.views.clear()),
        (&["view 'daily' is gone"], |m| m.views[0].name = "per_day".to_owned()),
        (&["contract 'usdc' is gone", "contract 'usdt' is new"], |m| m.contracts[0].alias = "usdt".to_owned()),
        (&["contract 'zrx' is new"], |m| {
            let addresses = vec![address(7)];
            m.contracts.push(ManifestContract { alias: "zrx".to_owned(), addresses, start_block: 0 });
        }),
        (
            &[
                "contract 'usdc' no longer has the address 0x1111111111111111111111111111111111111101",
                "contract 'usdc' also has the address 0x1111111111111111111111111111111111111102",
            ],
            |m| m.contracts[0].addresses = vec![address(2)],
        ),
        (&["contract 'usdc' starts at block 5 instead of 6082465"], |m| m.contracts[0].start_block = 5),
    ];
    for (expected, edit) in cases {
        let verdict = compat(&base(), &edited(*edit));
        let Compatibility::Breaking { reasons, .. } = &verdict else { panic!("{expected:?}: {verdict:?}") };
        let sentences: Vec<_> = reasons.iter().map(Reason::to_string).collect();
        assert_eq!(sentences.len(), expected.len(), "{sentences:?}");
        for (sentence, expected) in sentences.iter().zip(*expected) {
            assert!(sentence.starts_with(expected), "expected {expected:?}, got {sentence:?}");
        }
        assert_eq!(verdict.required_bump(), Some(Bump::Major));
    }
}

#[test]
fn all_reasons_are_listed_beside_the_harmless_changes() {
    let new = edited(|m| {
        m.tables[0].columns.remove(0);
        m.tables[0].columns[0].ty = ColumnType::Int(256);
        m.tables[0].columns.push(column("x", ColumnType::Bool, true));
        m.views.clear();
        m.contracts[0].start_block = 0;
    });
    let Compatibility::Breaking { reasons, changes } = compat(&base(), &new) else { panic!("not breaking") };
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert_eq!(changes, [Change::ColumnAdded { table: "usdc__transfer".to_owned(), column: "x".to_owned() }]);
}

#[test]
fn another_chain_or_nest_is_refused() {
    let verdict = compat(&base(), &edited(|m| m.chain_id = 10));
    assert_eq!(verdict, Compatibility::Refused(Refusal::Chain { old: Chain(1), new: Chain(10) }));
    assert_eq!(verdict.required_bump(), None);
    assert!(!verdict.fits(&"1.0.0".parse().unwrap(), &"2.0.0".parse().unwrap()));
    let Compatibility::Refused(refusal) = verdict else { panic!("not refused") };
    assert!(refusal.to_string().starts_with("the chain is optimism instead of mainnet"), "{refusal}");
    let verdict = compat(&base(), &edited(|m| m.name = "dai".parse().unwrap()));
    assert!(matches!(verdict, Compatibility::Refused(Refusal::Nest { .. })));
}

#[test]
fn a_version_step_says_enough_or_not() {
    let cases = [
        // (old, new, patch, minor, major)
        ("1.2.3", "1.2.4", true, false, false),
        ("1.2.3", "1.3.0", true, true, false),
        ("1.2.3", "2.0.0", true, true, true),
        ("1.2.3", "1.2.3", false, false, false),
        ("1.2.3", "1.2.2", false, false, false),
        ("1.2.3", "0.9.0", false, false, false),
        ("2.0.0", "1.9.9", false, false, false),
        ("0.1.0", "0.1.1", true, true, false),
        ("0.1.0", "0.2.0", true, true, true),
        ("0.1.0", "1.0.0", true, true, true),
        ("2.0.0-rc.1", "2.0.0-rc.2", true, true, true),
        ("2.0.0-rc.1", "2.0.0", true, true, true),
        ("1.0.0", "1.0.1-rc.1", true, false, false),
        ("1.0.0", "2.0.0-rc.1", true, true, true),
        ("1.0.0", "1.0.0-rc.1", false, false, false),
        ("0.1.0", "0.1.1-rc.1", true, true, false),
    ];
    for (old, new, patch, minor, major) in cases {
        let (before, after): (Version, Version) = (old.parse().unwrap(), new.parse().unwrap());
        for (bump, expected) in [(Bump::Patch, patch), (Bump::Minor, minor), (Bump::Major, major)] {
            assert_eq!(bump.is_made_by(&before, &after), expected, "{bump} from {old} to {new}");
        }
    }
}
