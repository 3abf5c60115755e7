//! The proxy: each request with its faults.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode, header};
use futures::StreamExt;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::call::{Call, Op};
use super::fault::{Injection, Moment, S3Fault};
use super::forward::{Answered, Asked, Upstream};

/// Bytes that a slow body moves at a time.
const SLOW_PART: usize = 1_024;

/// What the proxy and the test share.
pub(super) struct Shared {
    pub upstream: Upstream,
    pub injections: Mutex<Vec<Injection>>,
    pub calls: Mutex<Vec<Call>>,
}

/// The connection breaks without an answer.
#[derive(Debug)]
struct Broken;

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection is to break here")
    }
}

impl std::error::Error for Broken {}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes connections until it is aborted.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) -> Infallible {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        connections.spawn(talk(stream, shared.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn talk(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { shared.answer(request).await }
    });
    // Broken connections are what this is for.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Broken> {
        let (head, body) = request.into_parts();
        let expected = length(&head.headers);
        // A deletion names its keys in the body, which is short; any other request is known by its head.
        let mut call = Call::of(&head.method, &head.uri, &head.headers, &[]);
        if call.op != Op::Delete && self.would_cut(&call) {
            read_half(body, expected).await;
            self.faults(&call);
            return Err(Broken);
        }
        let mut body = body.collect().await.map_err(|_| Broken)?.to_bytes();
        call = Call::of(&head.method, &head.uri, &head.headers, &body);
        let faults = self.faults(&call);
        for fault in &faults {
            match fault {
                S3Fault::Status(status) => {
                    call.status = Some(*status);
                    self.count(call);
                    return Ok(refusal(*status));
                }
                S3Fault::Silence => std::future::pending::<()>().await,
                S3Fault::Slow(pause) => tokio::time::sleep(*pause * parts(body.len())).await,
                S3Fault::WrongBit(place) if call.op == Op::Put => body = flipped(&body, *place),
                S3Fault::Hold(Moment::Before, gate) => gate.pass(&call.key).await,
                _ => {}
            }
        }
        let asked = Asked { method: head.method, uri: head.uri, headers: head.headers, body };
        let Answered { status, headers, mut body } = self.upstream.ask(asked).await;
        (call.status, call.received) = (Some(status.as_u16()), body.len() as u64);
        self.count(call.clone());
        let mut pause = None;
        for fault in &faults {
            match fault {
                S3Fault::Hold(Moment::After, gate) => gate.pass(&call.key).await,
                S3Fault::LostAnswer => return Err(Broken),
                S3Fault::Slow(each) => pause = Some(*each),
                S3Fault::WrongBit(place) if call.op == Op::Get && status.is_success() => {
                    let first = call.range.map_or(0, |(first, _)| first);
                    if let Some(place) = place.checked_sub(first) {
                        body = flipped(&body, place);
                    }
                }
                S3Fault::CutOff => return Ok(response(status, headers, half(&body))),
                _ => {}
            }
        }
        let body = match pause {
            Some(pause) => slowly(body, pause),
            None => Body::from(body),
        };
        Ok(response(status, headers, body))
    }

    /// Whether the body of this request is to be cut off, which is decided before it is read.
    fn would_cut(&self, call: &Call) -> bool {
        let mut injections = lock(&self.injections).clone();
        let meant = injections.iter_mut().filter_map(|it| it.takes(call).then_some(&it.fault));
        call.op == Op::Put && meant.into_iter().any(|fault| matches!(fault, S3Fault::CutOff))
    }

    /// The faults of this request; uses up those that are counted.
    fn faults(&self, call: &Call) -> Vec<S3Fault> {
        let mut injections = lock(&self.injections);
        injections.iter_mut().filter_map(|it| it.takes(call).then(|| it.fault.clone())).collect()
    }

    fn count(&self, call: Call) {
        lock(&self.calls).push(call);
    }
}

fn length(headers: &HeaderMap) -> usize {
    let text = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

async fn read_half(mut body: Incoming, expected: usize) {
    let mut read = 0;
    while read * 2 < expected {
        let Some(Ok(frame)) = body.frame().await else { return };
        read += frame.data_ref().map_or(0, Bytes::len);
    }
}

fn parts(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(SLOW_PART)).unwrap_or(u32::MAX)
}

fn flipped(bytes: &Bytes, place: u64) -> Bytes {
    let mut bytes = bytes.to_vec();
    if let Some(byte) = usize::try_from(place).ok().and_then(|place| bytes.get_mut(place)) {
        *byte ^= 0x10;
    }
    bytes.into()
}

/// Half the body, then a broken connection.
fn half(bytes: &Bytes) -> Body {
    let half = bytes.slice(..bytes.len() / 2);
    Body::from_stream(futures::stream::iter([Ok(half), Err(Broken)]))
}

fn slowly(bytes: Bytes, pause: Duration) -> Body {
    let parts: Vec<Bytes> = bytes.chunks(SLOW_PART).map(Bytes::copy_from_slice).collect();
    let parts = futures::stream::iter(parts).then(move |part| async move {
        tokio::time::sleep(pause).await;
        Ok::<_, Infallible>(part)
    });
    Body::from_stream(parts)
}

fn response(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

/// An error as S3 words it. Some of them repeat what was signed, and with which key.
fn refusal(status: u16) -> Response<Body> {
    let code = match status {
        404 => "NoSuchKey",
        503 => "SlowDown",
        _ => "InternalError",
    };
    let text = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>The lab says so.</Message>\
         <AWSAccessKeyId>{}</AWSAccessKeyId></Error>",
        super::S3::KEY_ID
    );
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response(status, HeaderMap::new(), text.into())
}
