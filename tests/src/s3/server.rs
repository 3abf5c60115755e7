//! Server and proxy together.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use super::call::Call;
use super::fault::Injection;
use super::forward::Upstream;
use super::moto::{Moto, SIGNATURE};
use super::proxy::{self, Shared, lock};
use crate::clock::Clock;

/// A bucket behind a proxy. Ends when dropped.
pub struct S3 {
    shared: Arc<Shared>,
    url: String,
    proxy: tokio::task::JoinHandle<Infallible>,
    _moto: Moto,
}

impl Drop for S3 {
    fn drop(&mut self) {
        self.proxy.abort();
    }
}

impl S3 {
    /// The bucket.
    pub const BUCKET: &'static str = "lab-bucket";
    /// The access key, which must show up nowhere.
    pub const KEY_ID: &'static str = "AKIA-s3cr3t-of-the-lab";
    /// Its secret, which must show up nowhere.
    pub const SECRET: &'static str = "s3cr3t-access-key-of-the-lab";

    /// Starts both, by this clock, and makes the bucket.
    pub async fn start(clock: &Clock) -> Result<S3> {
        let moto = Moto::start(clock).await?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_gzip().no_proxy().timeout(Duration::from_secs(60)).build()?;
        let upstream = Upstream { url: moto.url.clone(), http, one: Arc::new(Mutex::new(())) };
        let shared = Arc::new(Shared { upstream, injections: Default::default(), calls: Default::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let proxy = tokio::spawn(proxy::serve(listener, shared.clone()));
        Ok(S3 { shared, url, proxy, _moto: moto })
    }

    /// Variables by which a process finds the bucket. No request may take longer than two seconds.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.url.clone()),
            ("AWS_ACCESS_KEY_ID", Self::KEY_ID.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", Self::SECRET.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_TIMEOUT", "2s".to_owned()),
        ]
    }

    /// A place in the bucket, as `--segments` takes it.
    pub fn place(&self, prefix: &str) -> String {
        format!("s3://{}/{prefix}", Self::BUCKET)
    }

    /// Switches a fault on.
    pub fn inject(&self, injection: impl Into<Injection>) {
        lock(&self.shared.injections).push(injection.into());
    }

    /// Switches all faults off. What is held already stays held until its gate is opened.
    pub fn heal(&self) {
        lock(&self.shared.injections).clear();
    }

    /// Keys and sizes of all objects, asked of the server itself.
    pub async fn objects(&self) -> Result<BTreeMap<String, u64>> {
        let list = format!("{}/{}?list-type=2&max-keys=1000", self.shared.upstream.url, Self::BUCKET);
        let one = self.shared.upstream.one.lock().await;
        let xml = self.shared.upstream.http.get(list).header("authorization", SIGNATURE).send().await?.text().await?;
        drop(one);
        ensure!(xml.contains("<IsTruncated>false</IsTruncated>"), "not a whole listing: {xml}");
        let inner = |text: &str, tag: &str| {
            let (_, rest) = text.split_once(&format!("<{tag}>"))?;
            rest.split_once(&format!("</{tag}>")).map(|(inner, _)| inner.to_owned())
        };
        let object = |text: &str| Some((inner(text, "Key")?, inner(text, "Size")?.parse().ok()?));
        let objects = xml.split("<Contents>").skip(1).map(|text| object(text).with_context(|| text.to_owned()));
        objects.collect()
    }

    /// Puts an object there past the proxy, as another operator's tool would.
    pub async fn upload(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let url = format!("{}/{}/{key}", self.shared.upstream.url, Self::BUCKET);
        let one = self.shared.upstream.one.lock().await;
        let put = self.shared.upstream.http.put(url).header("authorization", SIGNATURE).body(bytes).send().await?;
        drop(one);
        put.error_for_status()?;
        Ok(())
    }

    /// All requests so far, in the order in which they were done.
    pub fn calls(&self) -> Vec<Call> {
        lock(&self.shared.calls).clone()
    }

    /// Forgets all requests so far.
    pub fn forget_calls(&self) {
        lock(&self.shared.calls).clear();
    }
}
