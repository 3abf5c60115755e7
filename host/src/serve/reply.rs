//! Answers and errors as responses.

use axum::body::Body;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::query::{Answer, Flaw, Position, QueryError};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object.
    Json,
    /// Lines of RFC 4180.
    Csv,
}

impl Format {
    /// What the client asked for: `format` first, else `Accept`, else JSON.
    pub fn wanted(parameter: Option<&str>, headers: &HeaderMap) -> Result<Self, Failure> {
        match parameter {
            Some("json") => return Ok(Format::Json),
            Some("csv") => return Ok(Format::Csv),
            Some(other) => {
                return Err(Failure::bad("format", format!("'{other}' is no format")).hint("json and csv are"));
            }
            None => {}
        }
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
        let named = accept.split(',').map(|part| part.split(';').next().unwrap_or("").trim());
        let first = named.filter_map(|name| match name {
            "text/csv" => Some(Format::Csv),
            "application/json" | "*/*" | "application/*" => Some(Format::Json),
            _ => None,
        });
        Ok(first.into_iter().next().unwrap_or(Format::Json))
    }
}

/// A response that says what went wrong: `{"error":{"code","message","position","hint"}}`.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    code: String,
    message: String,
    position: Option<Position>,
    hint: Option<String>,
}

impl Failure {
    /// A request that cannot be understood.
    pub fn bad(code: &str, message: impl Into<String>) -> Self {
        Failure::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// An error of any status.
    pub fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Failure { status, code: code.to_owned(), message: message.into(), position: None, hint: None }
    }

    /// An error of a request whose path names the table: one that is not there is no mistake in the parameters.
    pub fn of_table(error: QueryError) -> Self {
        let no_table = matches!(&error, QueryError::Bad(bad) if bad.flaw == Flaw::NoTable);
        let failure = Failure::from(error);
        if no_table { Failure { status: StatusCode::NOT_FOUND, ..failure } } else { failure }
    }

    /// With what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        let status = match &error {
            QueryError::Bad(_) => StatusCode::BAD_REQUEST,
            QueryError::NoSuchNest { .. } => StatusCode::NOT_FOUND,
            QueryError::TooLarge { .. } | QueryError::OutOfMemory { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            QueryError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            QueryError::Busy { .. } | QueryError::Store(_) | QueryError::Segment(_) => StatusCode::SERVICE_UNAVAILABLE,
            QueryError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::warn!(%error, "query failed");
        }
        Failure {
            status,
            code: error.code().to_owned(),
            message: error.message(),
            position: error.position(),
            hint: error.hint().map(str::to_owned),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(position) = self.position {
            error["position"] = json!({"line": position.line, "column": position.column});
        }
        if let Some(hint) = self.hint {
            error["hint"] = Value::from(hint);
        }
        let mut response = json(self.status, json!({ "error": error }).to_string());
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

/// A JSON response.
pub fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// An answer in this format, batch by batch, so that its text is never in memory as a whole.
pub fn answer(answer: Answer, format: Format) -> Response {
    write(answer, format, String::new())
}

/// A page: an answer with `"next"`, the cursor of the page after it, and `"more"`, whether there are more rows.
pub fn page(answer: Answer, format: Format, next: Option<&str>, more: bool) -> Response {
    write(answer, format, format!(",\"next\":{},\"more\":{more}", Value::from(next)))
}

/// `more` goes into the JSON object behind `meta`.
fn write(answer: Answer, format: Format, more: String) -> Response {
    let content_type = match format {
        Format::Json => "application/json",
        Format::Csv => "text/csv; charset=utf-8; header=present",
    };
    let batches = answer.batches.len();
    let pieces = (0..batches + 2).map(move |piece| {
        let text = match (format, piece) {
            (Format::Json, 0) => answer.json_head(),
            (Format::Json, piece) if piece <= batches => answer.json_rows(piece - 1),
            (Format::Json, _) => format!("],\"meta\":{}{more}}}", answer.meta.to_json()),
            (Format::Csv, 0) => answer.csv_head(),
            (Format::Csv, piece) if piece <= batches => answer.csv_rows(piece - 1),
            (Format::Csv, _) => String::new(),
        };
        Ok::<_, std::convert::Infallible>(Bytes::from(text))
    });
    let body = Body::from_stream(futures::stream::iter(pieces));
    ([(header::CONTENT_TYPE, content_type)], body).into_response()
}

/// The answer to a path that is not there.
pub async fn no_route(uri: Uri) -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "no-such-path", format!("there is nothing at {}", uri.path())).hint(
        "there are /, /health, /ready, /metrics, /nests, /nests/NAME, /nests/NAME/tables, /nests/NAME/tables/TABLE and \
         /nests/NAME/sql",
    )
}

/// The answer to a method that a path does not have.
pub async fn no_method(method: Method, uri: Uri) -> Failure {
    let message = format!("{} does not take {method}", uri.path());
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, "no-such-method", message)
        .hint("everything answers GET; /nests/NAME/sql answers POST as well")
}
