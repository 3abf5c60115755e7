//! `nuthatch sql` over HTTP

use std::io::Write;
use std::process::{Command, Stdio};

use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::*;

/// Answers with the statement itself, so that what was asked can be seen.
async fn echo(headers: HeaderMap, sql: String) -> axum::response::Response {
    if sql.contains("wrong") {
        let error = json!({"error": {
            "code": "unknown-name", "message": "there is no table 'wrong'", "position": {"line": 1, "column": 8},
            "hint": "SHOW TABLES lists what is there",
        }});
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    match headers["accept"].to_str().unwrap() {
        "text/csv" => format!("sql,n\n{sql},1\n").into_response(),
        _ => Json(json!({
            "columns": [{"name": "sql", "type": "string"}, {"name": "n", "type": "uint256"}],
            "rows": [{"sql": sql, "n": "340282366920938463463374607431768211456"}],
            "meta": {},
        }))
        .into_response(),
    }
}

async fn server(nests: &[&str]) -> String {
    let nests: Vec<Value> = nests.iter().map(|name| json!({"name": name, "version": "1.0.0"})).collect();
    let index = json!({"nests": nests});
    serve(Router::new().route("/nests", get(move || async { Json(index) })).route("/nests/walk/sql", post(echo))).await
}

#[tokio::test]
async fn one_nest_is_found_and_answers_in_each_form() {
    let dir = tempfile::tempdir().unwrap();
    let url = server(&["walk"]).await;
    let ask = async |format: &str| run(dir.path(), &["sql", "SELECT 1", "--url", &url, "--format", format]).await;
    assert_eq!(
        ask("table").await.stdout,
        "sql      |                                       n\n\
         -------- | ---------------------------------------\n\
         SELECT 1 | 340282366920938463463374607431768211456\n(1 row)\n"
    );
    assert_eq!(ask("csv").await.stdout, "sql,n\nSELECT 1,1\n");
    let json: Value = serde_json::from_str(&ask("json").await.stdout).unwrap();
    assert_eq!(json["rows"][0]["sql"], "SELECT 1");
}

#[tokio::test]
async fn several_nests_have_to_be_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let url = server(&["walk", "run"]).await;
    refused(&run(dir.path(), &["sql", "SELECT 1", "--url", &url]).await, 2, &["--nest", "walk, run"]);
    done(&run(dir.path(), &["sql", "SELECT 1", "--url", &url, "--nest", "walk"]).await);
    let none = server(&[]).await;
    refused(&run(dir.path(), &["sql", "SELECT 1", "--url", &none]).await, 1, &["serves no nest"]);
}

#[tokio::test]
async fn what_the_server_refuses_is_told_in_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let url = server(&["walk"]).await;
    let wrong = run(dir.path(), &["sql", "SELECT * FROM wrong", "--url", &url]).await;
    let says = "error: there is no table 'wrong' (line 1, column 8)\nhint: SHOW TABLES lists what is there\n";
    refused(&wrong, 1, &[says]);
    let nobody = run(dir.path(), &["sql", "SELECT 1", "--url", "http://127.0.0.1:1"]).await;
    refused(&nobody, 1, &["http://127.0.0.1:1/ cannot be reached", "hint: start `nuthatch dev` first"]);
    refused(&run(dir.path(), &["sql", "SELECT 1", "--dir", "."]).await, 1, &["there is no data in ."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_are_read_from_stdin_and_a_failing_one_ends_it() {
    let url = server(&["walk"]).await;
    let ended = tokio::task::spawn_blocking(move || {
        let mut child = Command::new(EXE)
            .args(["sql", "--url", &url, "--format", "csv"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"SELECT\n 1; SELECT ';' -- two;\n;\nSELECT wrong; SELECT 4").unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    })
    .await
    .unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "sql,n\nSELECT\n 1,1\nsql,n\nSELECT ';' -- two;,1\n");
    assert_eq!(
        String::from_utf8(ended.stderr).unwrap(),
        "error: there is no table 'wrong' (line 1, column 8)\nhint: SHOW TABLES lists what is there\n"
    );
}
