//! The command line as a user meets it: what it prints, what it writes, how it exits.
#![allow(clippy::unwrap_used)]

mod bundle;
mod init;
mod shell;
mod sql;

use std::path::Path;

use nuthatch_tests::process::{Finished, run_with};

const EXE: &str = env!("CARGO_BIN_EXE_nuthatch_under_test");
const CONTRACT: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const OTHER: &str = "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512";
const ABI: &str = r#"{"contractName":"Counter","abi":[{"type":"event","name":"Counted","inputs":[
  {"name":"by","type":"address","indexed":true},{"name":"count","type":"uint256","indexed":false}]}]}"#;

async fn run(folder: &Path, args: &[&str]) -> Finished {
    // No test may reach the public server.
    run_env(folder, args, &[("NUTHATCH_SOURCIFY_URL", "http://127.0.0.1:1")]).await
}

async fn run_env(folder: &Path, args: &[&str], env: &[(&str, &str)]) -> Finished {
    run_with(EXE, folder, args, env).await.unwrap()
}

/// A finished command that failed with this code and says all of this.
#[track_caller]
fn refused(finished: &Finished, code: i32, says: &[&str]) {
    assert_eq!(finished.code, code, "{}", finished.stderr);
    assert_eq!(finished.stdout, "");
    assert!(finished.stderr.starts_with("error: "), "{}", finished.stderr);
    for text in says {
        assert!(finished.stderr.contains(text), "'{text}' is not in: {}", finished.stderr);
    }
}

#[track_caller]
fn done(finished: &Finished) {
    assert_eq!(finished.code, 0, "{}", finished.stderr);
}

/// Serves a router on a free port; gives its URL.
async fn serve(router: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}
