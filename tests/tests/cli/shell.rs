//! How the program behaves among others: exit codes, pipes, settings.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use super::*;

#[tokio::test]
async fn exit_codes_and_streams_are_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    for good in [&["--help"][..], &["--version"], &["help"], &["help", "bundle", "build"], &["dev", "--help"]] {
        let finished = run(dir.path(), good).await;
        done(&finished);
        assert!(!finished.stdout.is_empty() && finished.stderr.is_empty(), "{good:?}");
    }
    for wrong in
        [&["nosuch"][..], &["sql", "--format", "xml"], &["help", "nosuch"], &["demo", "--once", "--listen", "1"]]
    {
        let finished = run(dir.path(), wrong).await;
        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{wrong:?}");
    }
    let bare = run(dir.path(), &[]).await;
    assert_eq!(bare.code, 2);
    assert!(bare.stderr.contains("Usage: nuthatch"), "{}", bare.stderr);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child =
        Command::new(EXE).args(["help", "--markdown"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn a_reader_gets_its_first_line_whole() {
    let mut child = Command::new(EXE).args(["help", "--markdown"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(line, "<!-- Written by `nuthatch help --markdown`. -->\n");
}

#[tokio::test]
async fn a_setting_that_is_not_understood_is_told_and_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let finished = run_env(dir.path(), &["help"], &[("RUST_LOG", "nuthatch=loud")]).await;
    done(&finished);
    assert!(finished.stderr.contains("RUST_LOG 'nuthatch=loud' is not understood"), "{}", finished.stderr);
}
