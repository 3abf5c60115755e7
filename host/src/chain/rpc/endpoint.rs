//! One member of the pool: its client, what was learned about it, and how it fares.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::{Value, json};

use crate::chain::error::Trouble;
use crate::chain::range::RangeController;
use crate::chain::refusal::is_rate_limit;
use crate::chain::wire::{self, OptionalHeader, QuantityText, Reply, RpcError};
use crate::model::{BlockHash, BlockNumber, ChainId, Header};

use super::batch::BatchSize;
use super::http::Http;

/// How an endpoint fares.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Health {
    /// Failures in a row.
    pub failures: u32,
    /// The failures were told in the log.
    pub told: bool,
    /// Left alone until then.
    pub rests_until: Option<Instant>,
    /// Its chain id was checked since it last failed or came into use.
    pub chain_checked: bool,
}

/// One endpoint.
pub(super) struct Endpoint {
    /// Place in the configuration.
    pub place: usize,
    http: Http,
    health: Mutex<Health>,
    range: Mutex<RangeController>,
    /// The highest head that it has shown.
    head_seen: AtomicU64,
    batch: Mutex<BatchSize>,
    /// Whether it answers `eth_getLogs` by block hash.
    by_hash: AtomicBool,
}

impl Endpoint {
    pub fn new(place: usize, http: Http, range: RangeController, batch: usize) -> Self {
        Endpoint {
            place,
            http,
            health: Mutex::default(),
            range: Mutex::new(range),
            head_seen: AtomicU64::new(0),
            batch: Mutex::new(BatchSize::new(batch)),
            by_hash: AtomicBool::new(true),
        }
    }

    pub fn label(&self) -> &str {
        self.http.label()
    }

    // A panic in a few lines of arithmetic leaves nothing half-written that matters.
    pub fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn range(&self) -> MutexGuard<'_, RangeController> {
        self.range.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn head_seen(&self) -> BlockNumber {
        BlockNumber(self.head_seen.load(Ordering::Relaxed))
    }

    pub fn saw_head(&self, number: BlockNumber) {
        self.head_seen.fetch_max(number.0, Ordering::Relaxed);
    }

    /// How many requests to send in one batch.
    pub fn batch_size(&self) -> MutexGuard<'_, BatchSize> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask for logs by block hash.
    pub fn takes_block_hash(&self) -> bool {
        self.by_hash.load(Ordering::Relaxed)
    }

    /// Asks for logs by number from now on.
    pub fn refuses_block_hash(&self) {
        self.by_hash.store(false, Ordering::Relaxed);
    }

    pub fn scrub(&self, text: &str) -> String {
        self.http.scrub(text)
    }

    /// What an error object means for this method.
    pub fn rpc_trouble(&self, error: RpcError) -> Trouble {
        let message = self.scrub(&error.message);
        if is_rate_limit(error.code, &message) {
            Trouble::RateLimited { retry_after: None, text: message }
        } else {
            Trouble::Rpc { code: error.code, message }
        }
    }

    /// Posts one request.
    pub async fn post(&self, method: &'static str, params: Value) -> Result<bytes::Bytes, Trouble> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.http.post(method, body.to_string().into_bytes()).await
    }

    /// Posts a batch; the ids are the places in `params`.
    pub async fn post_batch(&self, method: &'static str, params: Vec<Value>) -> Result<bytes::Bytes, Trouble> {
        let request = |(id, params)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let body = Value::Array(params.into_iter().enumerate().map(request).collect());
        self.http.post(method, body.to_string().into_bytes()).await
    }

    /// One request whose result is read by serde.
    pub async fn call<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T, Trouble> {
        let body = self.post(method, params).await?;
        self.read(&body, std::marker::PhantomData::<T>)
    }

    /// Reads an answer with a seed.
    pub fn read<'de, S: DeserializeSeed<'de>>(&self, body: &'de [u8], seed: S) -> Result<S::Value, Trouble> {
        match wire::reply(body, seed) {
            Ok(Reply::Result(value)) => Ok(value),
            Ok(Reply::Error(error)) => Err(self.rpc_trouble(error)),
            Err(bad) => Err(Trouble::BadAnswer(self.scrub(&bad.to_string()))),
        }
    }

    pub async fn chain_id(&self) -> Result<ChainId, Trouble> {
        let id: QuantityText = self.call("eth_chainId", json!([])).await?;
        Ok(ChainId(id.0))
    }

    /// A block by number or tag; none for null.
    pub async fn block(&self, number_or_tag: &str) -> Result<Option<Header>, Trouble> {
        let found: OptionalHeader = self.call("eth_getBlockByNumber", json!([number_or_tag, false])).await?;
        if let (Some(header), "latest") = (&found.0, number_or_tag) {
            self.saw_head(header.number);
        }
        Ok(found.0)
    }

    /// The block of a height; none where it is not there.
    pub async fn block_at(&self, number: BlockNumber) -> Result<Option<Header>, Trouble> {
        match unknown_as_none(self.block(&format!("{:#x}", number.0)).await)? {
            Some(header) if header.number != number => {
                Err(Trouble::BadAnswer(format!("block {} came where block {number} was asked for", header.number)))
            }
            found => Ok(found),
        }
    }

    /// The block of a hash; none where it is unknown.
    pub async fn block_of(&self, hash: BlockHash) -> Result<Option<Header>, Trouble> {
        let params = json!([format!("{hash:#x}"), false]);
        let found = self.call("eth_getBlockByHash", params).await.map(|OptionalHeader(header)| header);
        match unknown_as_none(found)? {
            Some(header) if header.hash != hash => {
                Err(Trouble::BadAnswer(format!("block {} came where block {hash} was asked for", header.hash)))
            }
            found => Ok(found),
        }
    }
}

/// Whether an error's words mean that the node does not know a block.
pub(super) fn says_unknown(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["unknown", "not found", "no block", "missing", "not available"].iter().any(|word| lower.contains(word))
}

/// Some nodes say in an error what others say with null.
fn unknown_as_none(found: Result<Option<Header>, Trouble>) -> Result<Option<Header>, Trouble> {
    match found {
        Err(Trouble::Rpc { message, .. }) if says_unknown(&message) => Ok(None),
        found => found,
    }
}
