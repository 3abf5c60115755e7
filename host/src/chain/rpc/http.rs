//! One HTTP request to one endpoint: bounded in time, in size and in number.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use tokio::sync::Semaphore;

use crate::chain::error::{ChainError, Trouble};
use crate::chain::refusal::{Refusal, RefusalKind, is_rate_limit};
use crate::chain::wire;
use crate::model::ChainId;

use super::url::EndpointConfig;

/// Longest `Retry-After` that is believed.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Bytes of an error's body that are read.
const ERROR_BODY: usize = 64 * 1024;

/// A client bound to one endpoint.
pub(super) struct Http {
    client: reqwest::Client,
    endpoint: EndpointConfig,
    label: String,
    chain: ChainId,
    permits: Arc<Semaphore>,
    timeout: Duration,
    body_cap: usize,
}

impl Http {
    pub fn new(
        client: reqwest::Client,
        endpoint: EndpointConfig,
        label: String,
        chain: ChainId,
        permits: Arc<Semaphore>,
        (timeout, body_cap): (Duration, usize),
    ) -> Self {
        Http { client, endpoint, label, chain, permits, timeout, body_cap }
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    /// Foreign text made fit for a message.
    pub fn scrub(&self, text: &str) -> String {
        self.endpoint.scrub(text)
    }

    /// Posts a JSON-RPC body and returns the whole answer.
    pub async fn post(&self, method: &'static str, body: Vec<u8>) -> Result<Bytes, Trouble> {
        // The semaphore is never closed.
        let permit = self.permits.acquire().await;
        let started = Instant::now();
        let answer = match tokio::time::timeout(self.timeout, self.exchange(method, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(Trouble::Timeout(self.timeout)),
        };
        drop(permit);
        let outcome = answer.as_ref().err().map_or("ok", Trouble::outcome);
        let labels =
            [("chain", self.chain.to_string()), ("endpoint", self.label.clone()), ("method", method.to_owned())];
        metrics::histogram!("nuthatch_rpc_request_seconds", &labels).record(started.elapsed().as_secs_f64());
        let [chain, endpoint, method] = labels;
        let labels = [chain, endpoint, method, ("outcome", outcome.to_owned())];
        metrics::counter!("nuthatch_rpc_requests_total", &labels).increment(1);
        answer
    }

    async fn exchange(&self, method: &'static str, body: Vec<u8>) -> Result<Bytes, Trouble> {
        let request = self
            .client
            .post(self.endpoint.url.expose().clone())
            .headers(self.endpoint.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        let response = request.send().await.map_err(|error| self.transport(error))?;
        let status = response.status();
        if status.is_success() {
            return self.read(response, self.body_cap).await;
        }
        let retry_after = retry_after(&response);
        let body = self.read(response, ERROR_BODY).await.unwrap_or_default();
        Err(self.failed_status(method, status, retry_after, &body))
    }

    fn failed_status(&self, method: &str, status: StatusCode, wait: Option<Duration>, body: &[u8]) -> Trouble {
        let said = match wire::reply(body, std::marker::PhantomData::<serde::de::IgnoredAny>) {
            Ok(wire::Reply::Error(error)) => error,
            _ => wire::RpcError { code: 0, message: String::from_utf8_lossy(body).into_owned() },
        };
        let text = self.scrub(&said.message);
        let code = status.as_u16();
        if code == 429 || is_rate_limit(said.code, &text) {
            return Trouble::RateLimited { retry_after: wait, text };
        }
        match code {
            400 | 413 if method == GET_LOGS => Trouble::Refused(Refusal::read(&format!("HTTP status {code}: {text}"))),
            300..=399 => {
                Trouble::Status { status: code, text: "redirects are not followed; give the final URL".into() }
            }
            401 | 403 => Trouble::Status { status: code, text: format!("the endpoint wants another key: {text}") },
            503 if wait.is_some() => Trouble::RateLimited { retry_after: wait, text },
            _ => Trouble::Status { status: code, text },
        }
    }

    async fn read(&self, mut response: Response, cap: usize) -> Result<Bytes, Trouble> {
        let too_big = || {
            let text = format!("the answer is larger than {cap} bytes");
            Trouble::Refused(Refusal::new(RefusalKind::Results, text))
        };
        if response.content_length().is_some_and(|length| length > cap as u64) {
            return Err(too_big());
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport(error))? {
            if body.len() + chunk.len() > cap {
                return Err(too_big());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn transport(&self, error: reqwest::Error) -> Trouble {
        if error.is_timeout() {
            return Trouble::Timeout(self.timeout);
        }
        // The URL holds the key.
        Trouble::Transport(self.scrub(&with_causes(&error.without_url())))
    }
}

/// The method whose range adapts.
pub(super) const GET_LOGS: &str = "eth_getLogs";

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse::<f64>().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(LONGEST_WAIT.as_secs_f64())))
}

/// An error with what caused it, which says more than its outermost text.
fn with_causes(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// The client that these endpoints share.
pub(super) fn client(endpoints: &[EndpointConfig]) -> Result<reqwest::Client, ChainError> {
    // Does nothing where the process has chosen its provider already.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(30))
        .user_agent(concat!("nuthatch/", env!("CARGO_PKG_VERSION")));
    // A machine without CA certificates can still use a node of its own over plain HTTP.
    if !endpoints.iter().any(|endpoint| endpoint.url.is_https()) {
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| {
        let text = with_causes(&error);
        ChainError::BadEndpoint(format!("no HTTPS client can be made: {text}; is the package ca-certificates there?"))
    })
}
