//! The HTTP side: counts, faults of the transport, batches.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{Response, StatusCode, header};
use axum::routing::post;
use nuthatch::chain::{EndpointConfig, EndpointUrl};
use serde_json::{Value, json};

use super::answer::{Answer, Node};
use super::chain::MockChain;
use super::fault::{Fault, Injection};

#[derive(Default)]
struct Switches {
    injections: Vec<Injection>,
    calls: BTreeMap<String, u64>,
    requests: u64,
    under_way: u64,
    peak: u64,
    /// Block ranges of `eth_getLogs`, in order.
    ranges: Vec<(u64, u64)>,
    /// Those of them that brought logs, or none, but no refusal.
    answered: Vec<(u64, u64)>,
}

struct Shared {
    chain: Mutex<MockChain>,
    switches: Mutex<Switches>,
}

impl Shared {
    fn switches(&self) -> MutexGuard<'_, Switches> {
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chain(&self) -> MockChain {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A JSON-RPC server on a port of its own. Stops when dropped.
pub struct MockRpc {
    shared: Arc<Shared>,
    address: SocketAddr,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for MockRpc {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl MockRpc {
    /// Serves the chain. The caller keeps a handle on it to advance and reorganise it.
    pub async fn start(chain: &MockChain) -> Self {
        let shared = Arc::new(Shared { chain: Mutex::new(chain.clone()), switches: Mutex::default() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let router = Router::new().route("/{*key}", post(serve)).with_state(shared.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        MockRpc { shared, address, server }
    }

    /// The URL, with a key in its path that must show up nowhere.
    pub fn url(&self) -> String {
        format!("http://{}/v2/{}", self.address, Self::KEY)
    }

    /// The key in the URL.
    pub const KEY: &'static str = "s3cr3t-k3y-of-the-mock";

    /// Host and port, as errors name the endpoint.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// The endpoint for a pool.
    pub fn endpoint(&self) -> EndpointConfig {
        EndpointConfig::new(self.url().parse::<EndpointUrl>().expect("the mock's URL is one"))
    }

    /// Switches a fault on.
    pub fn inject(&self, injection: impl Into<Injection>) {
        self.shared.switches().injections.push(injection.into());
    }

    /// Switches all faults off.
    pub fn heal(&self) {
        self.shared.switches().injections.clear();
    }

    /// Serves another chain from now on.
    pub fn switch_chain(&self, chain: &MockChain) {
        *self.shared.chain.lock().unwrap_or_else(PoisonError::into_inner) = chain.clone();
    }

    /// Calls of a method so far, each member of a batch counted.
    pub fn calls(&self, method: &str) -> u64 {
        self.shared.switches().calls.get(method).copied().unwrap_or_default()
    }

    /// The most requests that were under way at once.
    pub fn peak(&self) -> u64 {
        self.shared.switches().peak
    }

    /// HTTP requests so far.
    pub fn requests(&self) -> u64 {
        self.shared.switches().requests
    }

    /// Block ranges of the `eth_getLogs` calls by number, in order.
    pub fn ranges(&self) -> Vec<(u64, u64)> {
        self.shared.switches().ranges.clone()
    }

    /// Block ranges of the `eth_getLogs` calls by number that were not refused, in order.
    pub fn answered_ranges(&self) -> Vec<(u64, u64)> {
        self.shared.switches().answered.clone()
    }

    /// Forgets all counts.
    pub fn reset_counts(&self) {
        let mut switches = self.shared.switches();
        switches.calls.clear();
        switches.ranges.clear();
        switches.answered.clear();
        (switches.requests, switches.peak) = (0, 0);
    }
}

async fn serve(State(shared): State<Arc<Shared>>, body: Bytes) -> Response<Body> {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else {
        return respond(StatusCode::BAD_REQUEST, "not JSON".into());
    };
    let _under_way = UnderWay::of(&shared);
    let items = request.as_array().cloned();
    let each = items.as_deref().unwrap_or(std::slice::from_ref(&request));
    shared.count(each);
    let faults = shared.take_faults(each.first().and_then(|item| item["method"].as_str()).unwrap_or_default());
    if let Some(spoilt) = transport(&faults, items.is_some()).await {
        return spoilt;
    }
    let chain = shared.chain();
    let node = Node { chain: &chain, faults: &faults };
    let mut answers = Vec::new();
    for item in each {
        let answer = match node.answer(item["method"].as_str().unwrap_or_default(), &item["params"]) {
            Answer::Result(result) => {
                shared.switches().answered.extend(block_range(item));
                json!({ "jsonrpc": "2.0", "id": item["id"], "result": result })
            }
            Answer::Error(code, message) => {
                json!({ "jsonrpc": "2.0", "id": item["id"], "error": { "code": code, "message": message } })
            }
            Answer::Status(status) => {
                return respond(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST), String::new());
            }
        };
        answers.push(answer);
    }
    // A batch may come back in any order.
    answers.reverse();
    let text = match items {
        Some(_) => Value::Array(answers).to_string(),
        None => answers.pop().unwrap_or_default().to_string(),
    };
    if faults.contains(&Fault::CutOff) {
        return cut_off(text);
    }
    if faults.contains(&Fault::Truncated) {
        return respond(StatusCode::OK, text[..text.len() / 2].to_owned());
    }
    respond(StatusCode::OK, text)
}

impl Shared {
    fn count(&self, items: &[Value]) {
        let mut switches = self.switches();
        for item in items {
            *switches.calls.entry(item["method"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            switches.ranges.extend(block_range(item));
        }
    }

    /// The faults of a call to this method; uses up those that are counted.
    fn take_faults(&self, method: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        for injection in &mut self.switches().injections {
            let meant = injection.method.is_none_or(|only| only == method) && injection.fault.touches(method);
            if !meant || injection.left == Some(0) {
                continue;
            }
            injection.left = injection.left.map(|left| left - 1);
            faults.push(injection.fault);
        }
        faults
    }
}

/// First and last block of an `eth_getLogs` by number.
fn block_range(item: &Value) -> Option<(u64, u64)> {
    let edge = |name: &str| {
        let text = item["params"][0][name].as_str()?.strip_prefix("0x")?;
        u64::from_str_radix(text, 16).ok()
    };
    Some((edge("fromBlock")?, edge("toBlock")?))
}

/// Counts a request for as long as it is answered, or until the client goes away.
struct UnderWay(Arc<Shared>);

impl UnderWay {
    fn of(shared: &Arc<Shared>) -> Self {
        let mut switches = shared.switches();
        switches.requests += 1;
        switches.under_way += 1;
        switches.peak = switches.peak.max(switches.under_way);
        drop(switches);
        UnderWay(shared.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.switches().under_way -= 1;
    }
}

async fn transport(faults: &[Fault], batch: bool) -> Option<Response<Body>> {
    for fault in faults {
        match *fault {
            Fault::Slow(ms) => tokio::time::sleep(std::time::Duration::from_millis(ms)).await,
            Fault::Hang => std::future::pending::<()>().await,
            Fault::Status(status) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                return Some(respond(status, format!("upstream trouble at /v2/{}", MockRpc::KEY)));
            }
            Fault::RateLimited(wait) => {
                let mut response = respond(StatusCode::TOO_MANY_REQUESTS, "slow down".into());
                if let Some(wait) = wait {
                    response.headers_mut().insert(header::RETRY_AFTER, wait.into());
                }
                return Some(response);
            }
            Fault::RateLimitedInWords => {
                let text = json!({ "id": 1, "error": { "code": -32005, "message": "daily request count: rate limit exceeded" } });
                return Some(respond(StatusCode::OK, text.to_string()));
            }
            Fault::NotJson => return Some(respond(StatusCode::OK, "<html>We are busy</html>".into())),
            Fault::Redirect => {
                let mut response = respond(StatusCode::TEMPORARY_REDIRECT, String::new());
                response
                    .headers_mut()
                    .insert(header::LOCATION, header::HeaderValue::from_static("http://127.0.0.1:1/"));
                return Some(response);
            }
            Fault::NoBatches if batch => {
                let text = json!({ "id": null, "error": { "code": -32600, "message": "batches are not supported" } });
                return Some(respond(StatusCode::OK, text.to_string()));
            }
            _ => {}
        }
    }
    None
}

fn respond(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

/// Half the body, then a broken connection.
fn cut_off(text: String) -> Response<Body> {
    let half = Bytes::from(text[..text.len() / 2].to_owned());
    let pieces = [Ok(half), Err(std::io::Error::other("cut"))];
    Response::new(Body::from_stream(futures::stream::iter(pieces)))
}
