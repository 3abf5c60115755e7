#![allow(clippy::unwrap_used)]
use std::sync::LazyLock;

use super::*;
use crate::plugin::PluginLimits;

static HOST: LazyLock<PluginHost> = LazyLock::new(|| PluginHost::new(PluginLimits::default()).unwrap());

const ABI: &str = r#"[{"type":"event","name":"Moved","inputs":[{"name":"from","type":"address","indexed":true},
  {"name":"count","type":"uint256","indexed":false}]},{"type":"function","name":"f","inputs":[]}]"#;
const NEST: &str = r#"
[nest]
name = "walk"
version = "1.2.0"
chain = "eip155:100"
[[contracts]]
alias = "walker"
address = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
start_block = 7
abi = "abis/walker.json"
[[views]]
name = "moves"
sql = "views/moves.sql"
"#;

fn files() -> BTreeMap<String, Vec<u8>> {
    [("nest.toml", NEST), ("abis/walker.json", ABI), ("views/moves.sql", "SELECT count(*) AS n FROM walker__moved")]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .into()
}

fn with(path: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files();
    files.insert(path.to_owned(), text.as_bytes().to_vec());
    files
}

fn error(files: &BTreeMap<String, Vec<u8>>) -> NestFolderError {
    build_files(&HOST, files, DecoderChoice::Locked).unwrap_err()
}

#[test]
fn a_nest_becomes_a_bundle_with_its_tables_views_and_files() {
    let built = build_files(&HOST, &files(), DecoderChoice::Locked).unwrap();
    let manifest = built.bundle.manifest();
    assert_eq!((manifest.name.as_str(), manifest.chain_id), ("walk", 100));
    assert_eq!(manifest.tables.len(), 1);
    assert_eq!(manifest.tables[0].name, "walker__moved");
    assert_eq!(manifest.filters[0].start_block, 7);
    assert_eq!(built.bundle.sql_views().unwrap(), [("moves", "SELECT count(*) AS n FROM walker__moved")]);
    let again = Bundle::parse(&built.bytes).unwrap();
    assert_eq!(again.hash(), built.bundle.hash());
    assert_eq!(again.component().unwrap(), STANDARD_DECODER);
}

#[test]
fn the_same_folder_gives_the_same_bytes_wherever_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    for (path, bytes) in files() {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    // Not named by nest.toml, so not part of it.
    std::fs::write(dir.path().join("abis/other.json"), "x").unwrap();
    let from_disk = build(&HOST, dir.path()).unwrap();
    let from_memory = build_files(&HOST, &files(), DecoderChoice::Locked).unwrap();
    assert!(from_disk.bytes == from_memory.bytes);
}

#[test]
fn a_view_changes_the_address_and_not_the_data_identity() {
    let one = build_files(&HOST, &files(), DecoderChoice::Locked).unwrap();
    let other = build_files(&HOST, &with("views/moves.sql", "SELECT 1 AS n"), DecoderChoice::Locked).unwrap();
    assert_ne!(one.bundle.hash(), other.bundle.hash());
    assert_eq!(one.bundle.data_identity(), other.bundle.data_identity());
}

#[test]
fn each_missing_or_broken_file_is_named_with_its_role() {
    let without = |path: &str| {
        let mut files = files();
        files.remove(path);
        error(&files)
    };
    assert!(matches!(without("nest.toml"), NestFolderError::NoNest { .. }));
    for (path, role) in
        [("abis/walker.json", "an ABI of contract 'walker'"), ("views/moves.sql", "the SQL of view 'moves'")]
    {
        let message = without(path).to_string();
        assert!(message.contains(path) && message.contains(role), "{message}");
    }
    assert!(matches!(error(&with("nest.toml", "[nest")), NestFolderError::Toml(_)));
    assert!(matches!(error(&with("abis/walker.json", "{")), NestFolderError::PlanConfig(_)));
    let mut latin = files();
    latin.insert("views/moves.sql".to_owned(), b"SELECT '\xe9' AS e".to_vec());
    let message = error(&latin).to_string();
    assert!(message.contains("views/moves.sql"), "{message}");
    let dir = tempfile::tempdir().unwrap();
    let message = build(&HOST, dir.path()).unwrap_err().to_string();
    assert!(message.contains(&dir.path().display().to_string()) && message.contains("nuthatch init"), "{message}");
}

#[test]
fn a_file_larger_than_a_bundle_takes_is_refused_unread() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("abis")).unwrap();
    std::fs::write(dir.path().join("nest.toml"), NEST).unwrap();
    let abi = std::fs::File::create(dir.path().join("abis/walker.json")).unwrap();
    abi.set_len(1 << 40).unwrap();
    assert!(matches!(build(&HOST, dir.path()), Err(NestFolderError::TooLarge { .. })));
}

#[test]
fn an_abi_without_events_is_refused() {
    let message = error(&with("abis/walker.json", r#"[{"type":"function","name":"f","inputs":[]}]"#)).to_string();
    assert!(message.contains("event"), "{message}");
    let unknown = error(&with("nest.toml", &NEST.replace("abi =", "events = [\"Nothing\"]\nabi ="))).to_string();
    assert!(unknown.contains("Nothing"), "{unknown}");
}

#[test]
fn code_of_its_own_is_refused_with_the_way_out() {
    let message = error(&with("nest.toml", &format!("{NEST}\n[code]\ncrate = \"decoder\"\n"))).to_string();
    assert!(message.contains("crate = \"decoder\""), "{message}");
}

#[test]
fn the_lock_keeps_the_decoder_until_it_is_upgraded() {
    let dir = tempfile::tempdir().unwrap();
    let lock_of = |built: &BuiltNest| {
        write_lock(dir.path(), built).unwrap();
        std::fs::read_to_string(dir.path().join("nest.lock")).unwrap()
    };
    let first = build_files(&HOST, &files(), DecoderChoice::Locked).unwrap();
    let lock = lock_of(&first);
    assert!(lock.contains(&ContentHash::of(STANDARD_DECODER).to_string()));
    assert_eq!(build_files(&HOST, &with("nest.lock", &lock), DecoderChoice::Locked).unwrap().new_lock, None);

    let other = with("nest.lock", &format!("decoder = \"{}\"", ContentHash::of(b"another")));
    let message = error(&other).to_string();
    assert!(message.contains("--upgrade-decoder"), "{message}");
    let upgraded = build_files(&HOST, &other, DecoderChoice::Upgrade).unwrap();
    assert_eq!(lock_of(&upgraded), lock);

    let broken = with("nest.lock", "decoder = 1");
    assert!(matches!(error(&broken), NestFolderError::BadLock { .. }));
    assert!(build_files(&HOST, &broken, DecoderChoice::Upgrade).unwrap().new_lock.is_some());
}
