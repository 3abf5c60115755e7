//! A data folder that belongs to someone else, cannot be written, or was written by a newer version.

use std::fs;

use nuthatch_tests::mock_nest::MockNest;
use nuthatch_tests::mount::Mount;
use nuthatch_tests::process::run;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

use super::{EXE, Lab, NEST, refused};

#[tokio::test]
async fn the_folder_of_another_nest() {
    let lab = Lab::indexed().await;
    let other = MockNest { name: "others", ..NEST }.write(lab.scratch.path(), &lab.chain).unwrap();
    fs::rename(lab.nest.join(".nuthatch"), other.join(".nuthatch")).unwrap();
    let ended = lab.dev_ends(&other, &["--rpc", &lab.rpc.url()]).await;
    refused(&ended, &["holds nest 'tokens', not 'others'", "nuthatch reset", "--data"]);
    fs::rename(other.join(".nuthatch"), lab.nest.join(".nuthatch")).unwrap();
    lab.goes_on(lab.dev().await).await;
}

#[tokio::test]
async fn a_second_process_is_refused_with_the_pid_of_the_first() {
    let lab = Lab::new().await;
    let dev = lab.dev().await;
    let holder = format!("in use by process {}; stop it first", dev.pid().unwrap());
    lab.refused(&[&holder, "--data"]).await;
    let reset = run(EXE, &lab.nest, &["reset", "--yes"]).await.unwrap();
    refused(&reset, &[&format!("process {}", dev.pid().unwrap())]);
    lab.goes_on(dev).await;
}

/// I1: with the lock file gone the second process takes the store over; the first one finds out though it has nothing to
/// write.
#[tokio::test]
async fn a_second_process_past_a_deleted_lock_takes_the_store_over() {
    let lab = Lab::new().await;
    let first = lab.dev().await;
    first.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    fs::remove_file(lab.nest.join(".nuthatch/lock")).unwrap();
    let second = lab.dev().await;
    second.wait_at(NEST.name, lab.chain.head()).await.unwrap();
    let (code, log) = first.ended().await.unwrap();
    assert_eq!(code, 1, "{log}");
    assert_eq!(log.matches("error: ").count(), 1, "{log}");
    assert!(log.contains("error: this process held the store with fence 1"), "{log}");
    assert!(log.contains("owns it now with fence 2") && log.contains("stop one of the two"), "{log}");
    lab.goes_on(second).await;
}

#[tokio::test]
async fn a_port_that_is_taken() {
    let lab = Lab::indexed().await;
    let before = lab.rows_at_rest().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = run(EXE, &lab.nest, &["dev", "--listen", &address, "--rpc", &lab.rpc.url()]).await.unwrap();
    refused(&ended, &[&format!("{address} is in use by another process; stop it, or give --listen another port")]);
    assert_eq!(lab.rows_at_rest().await, before);
    lab.goes_on(lab.dev().await).await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_written() {
    let lab = Lab::indexed().await;
    {
        let view = Mount::read_only_view(&lab.nest);
        let ended = lab.dev_ends(view.path(), &["--rpc", &lab.rpc.url()]).await;
        refused(&ended, &[".nuthatch", "cannot be written", "Read-only file system", "--data"]);
        let rows = run(EXE, view.path(), &["sql", "--dir", ".", "SELECT count(*) FROM token__transfer"]).await.unwrap();
        assert_eq!(rows.code, 0, "rows can be read: {}", rows.stderr);
    }
    lab.goes_on(lab.dev().await).await;
}

#[tokio::test]
async fn a_database_of_a_newer_version() {
    let lab = Lab::indexed().await;
    let version = async |statement: String| {
        let mut database = SqliteConnectOptions::new().filename(lab.database()).connect().await.unwrap();
        let version: Option<i64> =
            sqlx::query_scalar(sqlx::AssertSqlSafe(statement)).fetch_optional(&mut database).await.unwrap();
        version
    };
    let known = version("PRAGMA user_version".to_owned()).await.unwrap();
    version("PRAGMA user_version = 99".to_owned()).await;
    lab.refused(&["chain-31337.sqlite has schema version 99", "use a newer nuthatch"]).await;
    assert_eq!(version("PRAGMA user_version".to_owned()).await, Some(99), "left as it was");
    let read = run(EXE, &lab.nest, &["sql", "--dir", ".", "SELECT 1"]).await.unwrap();
    refused(&read, &["schema version 99", "use a newer nuthatch"]);
    let back = format!("PRAGMA user_version = {}", known);
    version(back).await;
    lab.goes_on(lab.dev().await).await;
}

#[tokio::test]
async fn a_database_that_is_none() {
    let lab = Lab::indexed().await;
    let whole = fs::read(lab.database()).unwrap();
    fs::write(lab.database(), b"not a database, but long enough to be taken for the header of one".repeat(4)).unwrap();
    lab.refused(&["chain-31337.sqlite"]).await;
    fs::write(lab.database(), whole).unwrap();
    lab.goes_on(lab.dev().await).await;
}
