//! Whether the process lives, is ready, and how it fares.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::watch;

use super::Shared;
use super::reply::json as json_reply;

/// Knows why the process should not get traffic.
pub trait Readiness: Send + Sync {
    /// Reasons in words, such as a stalled or halted cursor; none when ready.
    fn reasons(&self) -> Vec<String>;
}

impl Readiness for watch::Receiver<Vec<String>> {
    fn reasons(&self) -> Vec<String> {
        self.borrow().clone()
    }
}

/// Always ready: a process that only serves.
impl Readiness for () {
    fn reasons(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What the routes need beside the engine.
#[derive(Clone)]
pub struct Surroundings {
    /// Answers `/ready`.
    pub readiness: Arc<dyn Readiness>,
    /// Renders `/metrics` in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

/// `GET /health`: the process answers.
pub(super) async fn health() -> Response {
    json_reply(StatusCode::OK, json!({"status": "ok"}).to_string())
}

/// `GET /ready`: 503 with the reasons while the process should not get traffic.
pub(super) async fn ready(State(app): State<Shared>) -> Response {
    let reasons = app.around.readiness.reasons();
    let status = if reasons.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json_reply(status, json!({"ready": reasons.is_empty(), "reasons": reasons}).to_string())
}

/// `GET /metrics`.
pub(super) async fn metrics(State(app): State<Shared>) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], (app.around.metrics)()).into_response()
}
