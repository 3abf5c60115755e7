//! The layout that every reader relies on: inside `host/src` imports point down one list of rooms, never up.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOMS: [&str; 11] =
    ["cli", "worker", "serve", "control", "cursor", "query", "segments", "store", "plugin", "chain", "model"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The rooms that a file names after `crate::`, comments left out.
fn rooms_named(text: &str) -> BTreeSet<&'static str> {
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let statement = match rest.strip_prefix('{') {
            Some(group) => &group[..group.find("};").unwrap_or(group.len())],
            None => &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())],
        };
        let mut depth = 0;
        let mut word = String::new();
        let mut first = true;
        for c in statement.chars().chain([',']) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ if depth > 0 => {}
                _ if c.is_alphanumeric() || c == '_' => word.push(c),
                _ => {
                    if first && let Some(room) = ROOMS.iter().find(|room| **room == word) {
                        named.insert(*room);
                    }
                    first = c == ',' || (first && c.is_whitespace());
                    word.clear();
                }
            }
        }
    }
    named
}

#[test]
fn imports_point_down_the_list_of_rooms() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let mut wrong = Vec::new();
    let mut imports = 0;
    for file in files {
        let place = file.strip_prefix(&src).unwrap();
        let room = place.components().next().unwrap().as_os_str().to_str().unwrap();
        if room == "main.rs" || room == "lib.rs" {
            continue;
        }
        let Some(height) = ROOMS.iter().position(|name| *name == room) else {
            wrong.push(format!("{}: '{room}' is not a room", place.display()));
            continue;
        };
        for named in rooms_named(&std::fs::read_to_string(&file).unwrap()) {
            imports += 1;
            if ROOMS.iter().position(|name| *name == named).unwrap() < height {
                wrong.push(format!("{}: {room} imports {named}, which stands above it", place.display()));
            }
        }
    }
    assert!(imports > 10, "the check sees the imports");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_check_sees_an_import_that_points_up() {
    assert!(rooms_named("use crate::query::QueryEngine;").contains("query"));
    assert_eq!(rooms_named("use crate::{model::{self, chain}, store};"), BTreeSet::from(["model", "store"]));
    assert!(rooms_named("// crate::cli\nlet x = 1;").is_empty());
}
