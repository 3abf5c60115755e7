//! A small S3-compatible server on loopback: objects, conditional writes one at a time, listings; and for one object an
//! answer of the test's choice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, Response, StatusCode, header};
use axum::response::IntoResponse;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What the server does when the object in question is read.
#[derive(Clone, Debug)]
pub enum Answer {
    /// These bytes.
    Bytes(Vec<u8>),
    /// So many bytes announced, and then bytes without end.
    Endless(u64),
    /// No announcement, and bytes without end.
    EndlessUnannounced,
    /// A status and a text.
    Status(u16, String),
    /// That there is no such bucket.
    Bucketless,
    /// A status, and a text without end.
    EndlessRefusal(u16),
    /// Nothing at all.
    Silence,
    /// The first byte of so many, then nothing.
    FirstByte(u64),
}

#[derive(Default)]
struct Inner {
    objects: Mutex<BTreeMap<String, Bytes>>,
    answer: Mutex<Option<Answer>>,
    requests: Mutex<Vec<String>>,
    ignores_conditions: bool,
    endless_listing: bool,
    listed: AtomicUsize,
}

/// A server that sends the first half of the announced bytes to so many who come, and then ends the connection. Whoever
/// comes later has all of them. Its URL.
pub async fn half_of(bytes: Vec<u8>, times: usize) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let head = format!("HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: {}\r\n\r\n", bytes.len());
    let answers = [bytes.len() / 2, bytes.len()].map(|end| [head.as_bytes(), &bytes[..end]].concat());
    tokio::spawn(async move {
        let mut came = 0;
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") && connection.read_buf(&mut asked).await.unwrap() > 0 {}
            came += 1;
            connection.write_all(&answers[usize::from(came > times)]).await.unwrap();
            connection.shutdown().await.unwrap();
        }
    });
    url
}

/// The server. It ends with the test's runtime.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
    address: std::net::SocketAddr,
}

impl Server {
    pub async fn start() -> Server {
        Server::with(Inner::default()).await
    }

    /// One that overwrites whatever it is told.
    pub async fn that_ignores_conditions() -> Server {
        Server::with(Inner { ignores_conditions: true, ..Inner::default() }).await
    }

    /// One whose listings never end.
    pub async fn with_endless_listings() -> Server {
        Server::with(Inner { endless_listing: true, ..Inner::default() }).await
    }

    async fn with(inner: Inner) -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server { inner: Arc::new(inner), address: listener.local_addr().unwrap() };
        let router = Router::new().fallback(handle).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on every read of a bundle is answered so.
    pub fn answer(&self, answer: Answer) {
        *self.inner.answer.lock().unwrap() = Some(answer);
    }

    pub fn put(&self, key: &str, bytes: impl Into<Bytes>) {
        self.inner.objects.lock().unwrap().insert(key.to_owned(), bytes.into());
    }

    pub fn keys(&self) -> Vec<String> {
        self.inner.objects.lock().unwrap().keys().cloned().collect()
    }

    pub fn remove(&self, wanted: impl Fn(&str) -> bool) {
        self.inner.objects.lock().unwrap().retain(|key, _| !wanted(key));
    }

    /// Method and key of every request so far.
    pub fn requests(&self) -> Vec<String> {
        self.inner.requests.lock().unwrap().clone()
    }
}

async fn handle(State(server): State<Server>, request: Request) -> Response<Body> {
    let inner = &server.inner;
    let (parts, body) = request.into_parts();
    let key = parts.uri.path().strip_prefix("/nests").unwrap_or_default().trim_start_matches('/').to_owned();
    let query = parts.uri.query().unwrap_or_default();
    inner.requests.lock().unwrap().push(format!("{} {key}", parts.method));
    assert!(parts.headers.get(header::AUTHORIZATION).is_some(), "requests are signed");
    match parts.method {
        Method::GET if key.is_empty() => list(inner, query).into_response(),
        Method::GET => {
            let chosen = inner.answer.lock().unwrap().clone().filter(|_| key.contains("/bundles/"));
            if let Some(answer) = chosen {
                return answered(answer).await;
            }
            let found = inner.objects.lock().unwrap().get(&key).cloned();
            match found {
                Some(bytes) => ([(header::ETAG, "\"e\"")], bytes).into_response(),
                None => refused(404, "NoSuchKey", "The specified key does not exist."),
            }
        }
        Method::PUT => {
            let bytes = to_bytes(body, 64 << 20).await.unwrap();
            // Under one lock: of several conditional writes of a key one succeeds.
            let mut objects = inner.objects.lock().unwrap();
            let conditional = parts.headers.get(header::IF_NONE_MATCH).is_some_and(|value| value == "*");
            if conditional && !inner.ignores_conditions && objects.contains_key(&key) {
                return refused(412, "PreconditionFailed", "At least one of the conditions did not hold.");
            }
            objects.insert(key, bytes);
            [(header::ETAG, "\"e\"")].into_response()
        }
        _ => refused(405, "MethodNotAllowed", ""),
    }
}

fn list(inner: &Inner, query: &str) -> String {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default().replace("%2F", "/");
    let entry = |key: &str, size: usize| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><Size>{size}</Size>\
             <ETag>\"e\"</ETag></Contents>"
        )
    };
    let (more, entries): (bool, String) = match inner.endless_listing {
        true => {
            let first = inner.listed.fetch_add(1_000, Ordering::Relaxed);
            (true, (first..first + 1_000).map(|n| entry(&format!("{prefix}{n}"), 1)).collect())
        }
        false => {
            let objects = inner.objects.lock().unwrap();
            let found: BTreeSet<_> = objects.iter().filter(|(key, _)| key.starts_with(&prefix)).collect();
            (false, found.iter().map(|(key, bytes)| entry(key, bytes.len())).collect())
        }
    };
    let token = if more { "<NextContinuationToken>again</NextContinuationToken>" } else { "" };
    format!("<ListBucketResult><IsTruncated>{more}</IsTruncated>{token}{entries}</ListBucketResult>")
}

fn refused(status: u16, code: &str, message: &str) -> Response<Body> {
    let body = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message>\
         <AWSAccessKeyId>CANARY-ID</AWSAccessKeyId></Error>"
    );
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

async fn answered(answer: Answer) -> Response<Body> {
    let endless = || {
        let piece = Bytes::from(vec![b'x'; 64 << 10]);
        Body::from_stream(futures::stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())))
    };
    let announced = |length: u64, body: Body| {
        Response::builder().header(header::CONTENT_LENGTH, length).header(header::ETAG, "\"e\"").body(body).unwrap()
    };
    match answer {
        Answer::Bytes(bytes) => announced(bytes.len() as u64, bytes.into()),
        Answer::Endless(length) => announced(length, endless()),
        Answer::EndlessUnannounced => Response::new(endless()),
        Answer::Status(status, text) => refused(status, "Refused", &text),
        Answer::Bucketless => refused(404, "NoSuchBucket", "The specified bucket does not exist."),
        Answer::EndlessRefusal(status) => (StatusCode::from_u16(status).unwrap(), endless()).into_response(),
        Answer::Silence => std::future::pending().await,
        Answer::FirstByte(length) => {
            use futures::StreamExt;
            let first = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"x"))]);
            announced(length, Body::from_stream(first.chain(futures::stream::pending())))
        }
    }
}
