#![allow(clippy::unwrap_used)]
use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::json;

use super::*;

const PROXY: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const IMPLEMENTATION: &str = "0x43506849D7C04F9138D1A2050bbF3A0c054402dd";
const PLAIN: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

type Answers = Arc<HashMap<String, (StatusCode, String)>>;

async fn answer(State(answers): State<Answers>, Path((chain, address)): Path<(u64, String)>) -> (StatusCode, String) {
    let absent = (StatusCode::NOT_FOUND, json!({"match": null}).to_string());
    if chain == 1 { answers.get(&address).cloned().unwrap_or(absent) } else { absent }
}

/// A server with these answers, by address.
async fn server(answers: impl IntoIterator<Item = (&'static str, StatusCode, String)>) -> Sourcify {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let answers: HashMap<_, _> =
        answers.into_iter().map(|(at, status, body)| (at.to_owned(), (status, body))).collect();
    let router = axum::Router::new()
        .route("/server/v2/contract/{chain}/{address}", axum::routing::get(answer))
        .with_state(Arc::new(answers));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/server/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    Sourcify::at(base.parse().unwrap())
}

fn abi(event: &str) -> Value {
    json!([{"type": "event", "name": event, "inputs": []}])
}

fn ok(address: &'static str, body: Value) -> (&'static str, StatusCode, String) {
    (address, StatusCode::OK, body.to_string())
}

async fn ask(sourcify: &Sourcify, address: &str) -> Result<Verified, SourcifyError> {
    sourcify.contract(ChainId(1), address.parse().unwrap()).await
}

fn events(verified: &Verified) -> Vec<&str> {
    verified.abis.iter().flat_map(Abi::events).collect()
}

#[tokio::test]
async fn a_plain_contract_gives_abi_name_and_deployment_block() {
    let body = json!({
        "match": "exact_match", "abi": abi("Mined"), "compilation": {"name": "Mine"},
        "deployment": {"blockNumber": "6082465", "transactionHash": "0x00"},
        "proxyResolution": {"isProxy": false, "proxyType": null, "implementations": []},
    });
    let sourcify = server([ok(PLAIN, body)]).await;
    let verified = ask(&sourcify, PLAIN).await.unwrap();
    assert_eq!((verified.name.as_deref(), verified.deployed_at), (Some("Mine"), Some(6_082_465)));
    assert_eq!(events(&verified), ["Mined"]);
}

#[tokio::test]
async fn behind_a_proxy_the_implementations_events_come_too() {
    let proxy = json!({
        "abi": abi("Upgraded"), "compilation": {"name": "Proxy"}, "deployment": {"blockNumber": 7},
        "proxyResolution": {"isProxy": true, "implementations": [
            {"address": IMPLEMENTATION, "name": "Token"}, {"address": PLAIN},
        ]},
    });
    let implementation = json!({"abi": abi("Transfer"), "compilation": {"name": "Token"}});
    let sourcify = server([ok(PROXY, proxy), ok(IMPLEMENTATION, implementation)]).await;
    let verified = ask(&sourcify, PROXY).await.unwrap();
    assert_eq!(events(&verified), ["Upgraded", "Transfer"]);
    assert_eq!((verified.name.as_deref(), verified.deployed_at), (Some("Token"), Some(7)));
    assert_eq!(verified.unverified_implementations, [PLAIN.parse::<Address>().unwrap()]);
}

#[tokio::test]
async fn each_failure_is_told_apart_and_names_the_way_out() {
    let sourcify = server([
        (PLAIN, StatusCode::INTERNAL_SERVER_ERROR, String::new()),
        (PROXY, StatusCode::OK, "<html>".to_owned()),
        ok(IMPLEMENTATION, json!({"match": "match"})),
    ])
    .await;
    let told = |error: SourcifyError| error.to_string();
    assert!(told(ask(&sourcify, PLAIN).await.unwrap_err()).contains("500"));
    assert!(told(ask(&sourcify, PROXY).await.unwrap_err()).contains("not as documented"));
    for unknown in ["0x0000000000000000000000000000000000000001", IMPLEMENTATION] {
        let error = ask(&sourcify, unknown).await.unwrap_err();
        assert!(matches!(error, SourcifyError::NotVerified { .. }), "{error}");
        assert!(told(error).contains("--abi FILE"));
    }
    let nobody = Sourcify::at("http://127.0.0.1:1/server".parse().unwrap());
    let error = ask(&nobody, PLAIN).await.unwrap_err();
    assert!(matches!(error, SourcifyError::Failed { .. }), "{error}");
}
