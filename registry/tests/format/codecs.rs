//! Codecs under random input: what is built reads back, and no foreign bytes make the reader panic.

use std::collections::BTreeMap;

use nuthatch_registry::{
    Budget, Bundle, BundleBuilder, CodeKind, ColumnSchema, ColumnType, ContractAddress, FilePath, LogFilter, Manifest,
    ManifestContract, ManifestView, NestToml, PROVENANCE, Secret, TableSchema, WORLD, data_identity,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use wasm_encoder::{Component, CustomSection, Module, ModuleSection, NestedComponentSection, RawSection};

fn text(pattern: &'static str) -> impl Strategy<Value = String> {
    proptest::string::string_regex(pattern).unwrap()
}

fn doc() -> impl Strategy<Value = String> {
    text("[ -~\n\té🐦\"\\\\]{0,20}")
}

fn column_type() -> impl Strategy<Value = ColumnType> {
    prop_oneof![
        Just(ColumnType::Bool),
        Just(ColumnType::Timestamp),
        Just(ColumnType::Address),
        Just(ColumnType::Bytes),
        Just(ColumnType::String),
        Just(ColumnType::Json),
        (1u16..=32).prop_map(|bytes| ColumnType::Uint(bytes * 8)),
        (1u16..=32).prop_map(|bytes| ColumnType::Int(bytes * 8)),
        (1u8..=32).prop_map(ColumnType::FixedBytes),
        (1u8..=76).prop_flat_map(|p| (Just(p), 0..=p)).prop_map(|(p, s)| ColumnType::Decimal(p, s)),
    ]
}

fn table() -> impl Strategy<Value = Vec<ColumnSchema>> {
    let column = (text("[a-z_][a-z0-9_]{0,8}"), (column_type(), any::<bool>(), doc()));
    vec(column, 0..6).prop_map(|columns| {
        let columns: BTreeMap<_, _> = columns.into_iter().collect();
        let own = columns.into_iter().filter(|(name, _)| PROVENANCE.iter().all(|(taken, _)| taken != name));
        own.map(|(name, (ty, nullable, doc))| ColumnSchema { name, ty, nullable, doc }).collect()
    })
}

fn filter() -> impl Strategy<Value = LogFilter> {
    let addresses = btree_set(any::<[u8; 20]>(), 0..3);
    let topics = btree_set(text("0x[0-9a-f]{64}"), 0..3);
    (addresses, topics, any::<u64>()).prop_map(|(addresses, topics, start_block)| LogFilter {
        addresses: addresses.into_iter().map(|address| ContractAddress(address).to_string()).collect(),
        topics: topics.into_iter().collect(),
        start_block,
    })
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let head = (text("[a-z][a-z0-9-]{0,10}"), any::<[u16; 3]>(), 1..=u64::MAX, any::<bool>());
    let contracts = btree_map(text("[a-z][a-z0-9]{0,3}(_[a-z0-9]{1,3}){0,2}"), any::<u64>(), 0..4);
    let addresses = btree_set(any::<[u8; 20]>(), 8);
    let tables = btree_map(text("t[a-z0-9_]{0,10}"), (table(), doc()), 0..4);
    let secrets = btree_map(text("[a-z][a-z0-9_]{0,6}"), doc(), 0..3);
    let budget = proptest::option::of(any::<[u64; 3]>());
    (head, contracts, addresses, vec(filter(), 0..3), tables, secrets, budget).prop_map(
        |((name, [major, minor, patch], chain_id, own), contracts, addresses, filters, tables, secrets, budget)| {
            let mut addresses: Vec<_> = addresses.into_iter().map(ContractAddress).collect();
            let contract = |(alias, start_block)| {
                let addresses = addresses.split_off(addresses.len() - 2);
                ManifestContract { alias, addresses, start_block }
            };
            Manifest {
                format: 1,
                name: name.parse().unwrap(),
                version: semver::Version::new(major.into(), minor.into(), patch.into()),
                chain_id,
                world: WORLD,
                code: if own { CodeKind::Own } else { CodeKind::Standard },
                contracts: contracts.into_iter().map(contract).collect(),
                filters,
                tables: tables.into_iter().map(|(name, (columns, doc))| TableSchema { name, columns, doc }).collect(),
                views: Vec::new(),
                secrets: secrets.into_iter().map(|(name, purpose)| Secret { name, purpose }).collect(),
                files: Vec::new(),
                budget: budget.map(|[base, per_log, per_byte]| Budget { base, per_log, per_byte }),
            }
        },
    )
}

fn component() -> impl Strategy<Value = Vec<u8>> {
    let custom = (text("[a-z:]{0,8}"), vec(any::<u8>(), 0..16));
    let leaf = vec(custom, 0..3).prop_map(|customs| {
        let mut module = Module::new();
        let mut component = Component::new();
        for (name, data) in &customs {
            let section = CustomSection { name: name.into(), data: data.into() };
            module.section(&section);
            component.section(&section);
        }
        component.section(&ModuleSection(&module));
        component.finish()
    });
    leaf.prop_recursive(4, 8, 2, |inner| {
        vec(inner, 1..3).prop_map(|inner| {
            let mut outer = Component::new();
            for component in inner {
                outer.section(&RawSection { id: 4, data: &component });
            }
            outer.section(&NestedComponentSection(&Component::new()));
            outer.finish()
        })
    })
}

fn bundle() -> impl Strategy<Value = BundleBuilder> {
    let files = btree_map(text("[A-Za-z0-9_-]{1,5}(/[a-z.]{3,6}[a-z]){0,2}"), vec(any::<u8>(), 0..40), 0..5);
    let views = proptest::option::of(component());
    (component(), manifest(), vec(any::<u8>(), 0..64), files, views).prop_map(
        |(component, mut manifest, plan, files, views)| {
            let files: BTreeMap<FilePath, _> = files.into_iter().map(|(path, b)| (path.parse().unwrap(), b)).collect();
            let view = |(place, path): (usize, &FilePath)| ManifestView {
                name: format!("v{place}"),
                file: path.clone(),
                doc: String::new(),
            };
            manifest.views = files.keys().take(2).enumerate().map(view).collect();
            BundleBuilder { component, manifest, plan, views, files }
        },
    )
}

/// One change of a file's bytes.
#[derive(Clone, Debug)]
enum Damage {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
    Copy(prop::sample::Index, prop::sample::Index, usize),
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = any::<prop::sample::Index>;
    let one = prop_oneof![
        (index(), 1..=255u8).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        index().prop_map(Damage::Cut),
        (index(), vec(any::<u8>(), 1..12)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (index(), 1..40usize).prop_map(|(at, count)| Damage::Remove(at, count)),
        (index(), index(), 1..200usize).prop_map(|(from, to, count)| Damage::Copy(from, to, count)),
    ];
    vec(one, 1..4)
}

fn damaged(mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for one in damage {
        if bytes.is_empty() {
            break;
        }
        let len = bytes.len();
        match one {
            Damage::Flip(at, bits) => bytes[at.index(len)] ^= bits,
            Damage::Cut(at) => bytes.truncate(at.index(len)),
            Damage::Insert(at, new) => drop(bytes.splice(at.index(len)..at.index(len), new.iter().copied())),
            Damage::Remove(at, count) => drop(bytes.drain(at.index(len)..(at.index(len) + count).min(len))),
            Damage::Copy(from, to, count) => {
                let piece = bytes[from.index(len)..(from.index(len) + count).min(len)].to_vec();
                drop(bytes.splice(to.index(len)..to.index(len), piece));
            }
        }
    }
    bytes
}

const NEST: &str = r#"
[nest]
name = "usdc"
version = "1.3.0"
chain = "mainnet"
docs = ["README.md"]
[[contracts]]
alias = "usdc"
address = ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x1111111111111111111111111111111111111111"]
start_block = 6082465
abi = "abis/é.json"
events = ["Transfer"]
[[views]]
name = "daily"
sql = "views/daily.sql"
[[secrets]]
name = "rpc_url"
purpose = "x"
"#;

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_built_reads_back(builder in bundle()) {
        let bytes = builder.build().unwrap();
        let bundle = Bundle::parse(&bytes).unwrap();
        prop_assert_eq!(bundle.manifest(), &builder.final_manifest());
        prop_assert_eq!(bundle.plan(), &builder.plan[..]);
        prop_assert_eq!(bundle.views_component(), builder.views.as_deref());
        let files: BTreeMap<_, _> = bundle.files().map(|(path, bytes)| (path.clone(), bytes.to_vec())).collect();
        prop_assert_eq!(&files, &builder.files);
        prop_assert_eq!(
            bundle.data_identity(),
            data_identity(&builder.manifest, &builder.component, &builder.plan).unwrap()
        );
        // Apart and together again: the same bytes, so the same address.
        let again = BundleBuilder { component: bundle.component().unwrap(), manifest: bundle.manifest().clone(), ..builder };
        prop_assert_eq!(again.build().unwrap(), bytes);
    }

    #[test]
    fn a_manifest_has_one_spelling(manifest in manifest()) {
        let json = manifest.to_canonical_json().unwrap();
        let read = Manifest::from_canonical_json(json.as_bytes()).unwrap();
        prop_assert_eq!(&read, &manifest);
        prop_assert_eq!(read.to_canonical_json().unwrap(), json);
    }

    #[test]
    fn damaged_bundles_never_panic(builder in bundle(), damage in damage()) {
        let bytes = builder.build().unwrap();
        let changed = damaged(bytes.clone(), &damage);
        if let Ok(bundle) = Bundle::parse(&changed) {
            prop_assert_eq!(bundle.hash() == Bundle::parse(&bytes).unwrap().hash(), changed == bytes);
            prop_assert_eq!(bundle.manifest().to_canonical_json().unwrap(), bundle.manifest_json());
            prop_assert_eq!(bundle.manifest().files.len(), bundle.files().count());
            let _ = (bundle.interface(), bundle.component(), bundle.sql_views());
        }
    }

    #[test]
    fn every_cut_of_a_bundle_is_an_error(builder in bundle(), at in any::<prop::sample::Index>()) {
        let bytes = builder.build().unwrap();
        prop_assert!(Bundle::parse(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        let mut component = b"\0asm\x0d\0\x01\0".to_vec();
        component.extend_from_slice(&bytes);
        prop_assert!(Bundle::parse(&bytes).is_err());
        prop_assert!(Bundle::parse(&component).is_err());
        let _ = nuthatch_registry::Interface::of(&component);
    }

    #[test]
    fn damaged_nest_files_never_panic(damage in damage()) {
        let text = damaged(NEST.replace('é', "usdc").into_bytes(), &damage);
        match NestToml::parse(&String::from_utf8_lossy(&text), "nest.toml") {
            Ok(nest) => prop_assert!(!nest.contracts.is_empty()),
            Err(error) => prop_assert!(error.to_string().starts_with("nest.toml:")),
        }
    }
}
