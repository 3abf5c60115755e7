//! From the proxy to the server and back, one request at a time: the server's check of a condition and its write are
//! not one step, and two creators of one key would both win.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, header};
use sha2::{Digest, Sha256};
use tokio::sync::Mutex;

/// Headers that belong to one connection, and those that the client computes itself.
const OWN: [HeaderName; 4] =
    [header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::ACCEPT_ENCODING];

/// A request, whole.
pub(super) struct Asked {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// An answer, whole.
pub(super) struct Answered {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// The way to the server.
#[derive(Clone)]
pub(super) struct Upstream {
    pub url: String,
    pub http: reqwest::Client,
    pub one: Arc<Mutex<()>>,
}

impl Upstream {
    /// Asks the server. Goes through even if nobody waits for the answer any more.
    pub async fn ask(&self, asked: Asked) -> Answered {
        let upstream = self.clone();
        let done = tokio::spawn(async move {
            let _one = upstream.one.lock().await;
            upstream.send(asked).await
        });
        let done = done.await.map_err(|error| error.to_string()).and_then(|sent| sent.map_err(|it| it.to_string()));
        done.unwrap_or_else(|error| Answered {
            status: StatusCode::BAD_GATEWAY,
            headers: HeaderMap::new(),
            body: format!("the proxy of the test: {error}").into(),
        })
    }

    async fn send(&self, asked: Asked) -> reqwest::Result<Answered> {
        if !signed(&asked) {
            return Ok(wrong_payload());
        }
        let mut request = self.http.request(asked.method, format!("{}{}", self.url, asked.uri));
        for (name, value) in asked.headers.iter().filter(|(name, _)| !OWN.contains(name)) {
            request = request.header(name, value);
        }
        let answer = request.body(asked.body).send().await?;
        let (status, mut headers) = (answer.status(), answer.headers().clone());
        headers.remove(header::CONNECTION);
        headers.remove(header::TRANSFER_ENCODING);
        Ok(Answered { status, headers, body: answer.bytes().await? })
    }
}

/// Whether the body is the one that was signed. S3 refuses another; moto looks at no signature.
fn signed(asked: &Asked) -> bool {
    let claimed = asked.headers.get("x-amz-content-sha256").and_then(|value| value.to_str().ok());
    match claimed {
        Some(claimed) if claimed.len() == 64 => claimed == hex::encode(Sha256::digest(&asked.body)),
        _ => asked.method != Method::PUT,
    }
}

fn wrong_payload() -> Answered {
    let text = "<?xml version=\"1.0\"?><Error><Code>XAmzContentSHA256Mismatch</Code><Message>The provided \
                'x-amz-content-sha256' header does not match what was computed.</Message></Error>";
    Answered { status: StatusCode::BAD_REQUEST, headers: HeaderMap::new(), body: text.into() }
}
