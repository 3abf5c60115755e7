//! `/nests/{name}/sql`: one statement, as `?q=` or as the body.

use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use super::Shared;
use super::reply::{Failure, Format, answer};
use crate::model::NestName;

/// Parameters of both methods.
#[derive(Debug, Deserialize)]
pub struct Parameters {
    q: Option<String>,
    format: Option<String>,
}

/// The name in the path, or 404.
pub fn nest(name: &str) -> Result<NestName, Failure> {
    name.parse().map_err(|error: nuthatch_registry::BadName| {
        Failure::new(axum::http::StatusCode::NOT_FOUND, "no-such-nest", error.to_string())
    })
}

/// `GET /nests/{name}/sql?q=…`
pub async fn get(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let sql = parameters.q.ok_or_else(|| {
        Failure::bad("no-statement", "there is no statement")
            .hint("give it as ?q=SELECT… or as the body of a POST, for example ?q=SHOW+TABLES")
    })?;
    let format = Format::wanted(parameters.format.as_deref(), &headers)?;
    Ok(answer(app.engine.query(&nest(&name)?, &sql).await?, format))
}

/// `POST /nests/{name}/sql` with the statement as text or as `{"q": "…"}`, whatever the content type.
pub async fn post(
    State(app): State<Shared>,
    Path(name): Path<String>,
    Query(parameters): Query<Parameters>,
    headers: HeaderMap,
    body: String,
) -> Result<Response, Failure> {
    let format = Format::wanted(parameters.format.as_deref(), &headers)?;
    let sql = statement(&body)?;
    Ok(answer(app.engine.query(&nest(&name)?, &sql).await?, format))
}

#[derive(Deserialize)]
struct Asked {
    q: String,
}

fn statement(body: &str) -> Result<String, Failure> {
    let body = body.trim();
    if body.starts_with('{') {
        let asked: Asked = serde_json::from_str(body)
            .map_err(|error| Failure::bad("body", format!("the body is not {{\"q\": \"SELECT …\"}}: {error}")))?;
        return Ok(asked.q);
    }
    // `curl -d q=…` and HTML forms.
    if body.starts_with("q=") {
        let pairs = url::form_urlencoded::parse(body.as_bytes());
        return Ok(pairs.filter(|(key, _)| key == "q").map(|(_, value)| value.into_owned()).next().unwrap_or_default());
    }
    Ok(body.to_owned())
}
