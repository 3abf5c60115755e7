use clap::CommandFactory;

use super::*;

#[test]
fn the_command_tree_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn the_reference_in_docs_is_what_the_program_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == help::markdown(),
        "docs/cli.md is not up to date; run `cargo run --bin nuthatch -- help --markdown > docs/cli.md`"
    );
}
