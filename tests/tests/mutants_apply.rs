//! Every mutant still fits the code: `tests/mutants/run` builds and runs them, this only keeps them from going stale.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// The text of all sources, to look for the names of tests in.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn each_mutant_applies_and_names_tests_that_are_there() {
    let root = root();
    let mut text = String::new();
    ["host/src", "registry/src", "registry/tests", "bundles/abi", "sdk/src", "tests/tests"]
        .iter()
        .for_each(|folder| sources(&root.join(folder), &mut text));
    let mut wrong = Vec::new();
    let mut mutants = 0;
    for entry in std::fs::read_dir(root.join("tests/mutants")).unwrap() {
        let patch = entry.unwrap().path();
        if patch.extension().is_none_or(|end| end != "patch") {
            continue;
        }
        mutants += 1;
        let name = patch.file_stem().unwrap().to_string_lossy().into_owned();
        let applied = Command::new("git").current_dir(&root).args(["apply", "--check"]).arg(&patch).output().unwrap();
        if !applied.status.success() {
            wrong.push(format!("{name}: {}", String::from_utf8_lossy(&applied.stderr)));
        }
        let header = std::fs::read_to_string(&patch).unwrap();
        let named: Vec<&str> = header.lines().filter_map(|line| line.strip_prefix("Fails: ")).collect();
        let missing = |test: &&str| {
            let function = test.rsplit([' ', ':']).next().unwrap_or_default();
            !text.contains(&format!("fn {function}("))
        };
        wrong.extend(named.iter().copied().filter(missing).map(|test| format!("{name}: no test {test}")));
        if named.is_empty() || !header.starts_with("Guard: ") {
            wrong.push(format!("{name}: names no guard, or no test that must fail"));
        }
    }
    assert!(mutants >= 40, "{mutants} mutants");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
