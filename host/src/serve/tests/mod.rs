#![allow(clippy::unwrap_used)]

mod routes;
mod sql;
mod stored;

use std::sync::Arc;

use serde_json::Value;
use tokio::net::TcpListener;

pub use super::{Surroundings, router, run};
use crate::query::QueryLimits;
use crate::query::tests::{Bench, bench_with};

/// A server on a port of its own, over the bench's nest.
pub struct Server {
    // Its stores live as long as the server.
    _bench: Bench,
    pub url: String,
}

pub async fn server() -> Server {
    server_with(QueryLimits::default(), &[], Surroundings { readiness: Arc::new(()), metrics: Arc::new(String::new) })
        .await
}

pub async fn server_with(limits: QueryLimits, views: &[(&str, &str)], around: Surroundings) -> Server {
    let bench = bench_with(limits, views);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = router(bench.engine.clone(), around);
    tokio::spawn(run(listener, router, std::future::pending()));
    Server { _bench: bench, url }
}

/// Status, content type and body.
pub struct Reply {
    pub status: u16,
    pub content_type: String,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

pub async fn send(request: reqwest::RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let content_type = response.headers().get("content-type").map(|v| v.to_str().unwrap().to_owned());
    Reply { status, content_type: content_type.unwrap_or_default(), body: response.text().await.unwrap() }
}

impl Server {
    pub async fn get(&self, path: &str) -> Reply {
        send(client().get(format!("{}{path}", self.url))).await
    }
}
