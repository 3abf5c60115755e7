//! The credential scan passes what real nests are made of.

use std::path::{Path, PathBuf};

use nuthatch_registry::scan_text;

fn texts(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | ".git" | "node_modules" | ".nuthatch") {
                texts(&path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

fn pass(folder: &Path, endings: &[&str], least: usize) {
    let mut paths = Vec::new();
    texts(folder, endings, &mut paths);
    assert!(paths.len() >= least, "{} of {}", paths.len(), folder.display());
    let found: Vec<_> = paths
        .iter()
        .flat_map(|path| scan_text(&path.display().to_string(), &std::fs::read(path).unwrap()))
        .map(|finding| finding.to_string())
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_abis_views_and_docs_of_this_repository_pass() {
    pass(&repository().join("host/assets"), &[".json", ".sql", ".toml", ".md"], 5);
    pass(&repository().join("bundles"), &[".json", ".sql", ".toml", ".md", ".rs"], 5);
    pass(&repository().join("schemas"), &[".json", ".sql", ".wit"], 5);
}

#[test]
fn real_abis_pass() {
    match std::env::var_os("NUTHATCH_REAL_DATA") {
        Some(data) => pass(&Path::new(&data).join("abis"), &[".json"], 50),
        None if std::env::var_os("NUTHATCH_REQUIRE_REAL_DATA").is_some() => panic!("NUTHATCH_REAL_DATA is not set"),
        None => println!("NUTHATCH_REAL_DATA is not set: real ABIs are not looked at"),
    }
}

/// The shipped component has no credential in its code.
#[test]
fn the_standard_decoder_passes() {
    let component = std::fs::read(repository().join("bundles/dist/abi.wasm")).unwrap();
    let manifest = crate::support::bundles::usdc("1.0.0").bundle().manifest().clone();
    let mut builder = nuthatch_registry::BundleBuilder::new(component, manifest, Vec::new());
    builder.files.insert("abi.json".parse().unwrap(), b"[]".to_vec());
    let bundle = nuthatch_registry::Bundle::parse(&builder.build().unwrap()).unwrap();
    assert_eq!(nuthatch_registry::scan_bundle(&bundle), []);
}
