//! A chain over JSON-RPC, served by a pool of endpoints.

mod ask;
mod backoff;
mod batch;
mod endpoint;
mod finality;
mod head;
mod headers;
mod http;
mod logs;
mod pool;
mod tip;
mod url;

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::model::{Address, BlockHash, BlockNumber, BlockRange, BlockRef, ChainId, Header, LogBatch};

use super::error::{ChainError, Result, Trouble};
use super::filters::LogFilters;
use super::queries::QueryLimits;
use super::range::{RangeBounds, RangeController};
use super::settle::check_headers;
use super::source::{Source, Tip};
use super::table::ChainSpec;
use super::wire::Bytes0x;

pub use backoff::Backoff;
pub use pool::RetryPolicy;
pub use url::{EndpointConfig, EndpointUrl};

use endpoint::Endpoint;
use headers::headers_of;
use http::Http;
use pool::{Attempts, Pool};

/// Limits of a [`RpcSource`]. The defaults suit public and paid endpoints alike.
#[derive(Clone, Debug)]
pub struct RpcLimits {
    /// Longest wait for one answer.
    pub call_timeout: Duration,
    /// Retry budget and waits.
    pub retry: RetryPolicy,
    /// Requests under way at once, on all endpoints together.
    pub in_flight: usize,
    /// Largest answer, in bytes after decompression.
    pub body_cap: usize,
    /// Largest batch of logs that one call of [`Source::logs`] returns, in bytes.
    pub batch_cap: usize,
    /// Headers in one JSON-RPC batch; 1 for none.
    pub header_batch: usize,
    /// Blocks per request, and logs per answer to aim at.
    pub range: RangeBounds,
    /// Contracts in one request.
    pub addresses: usize,
    /// Contracts above which a request names topics only.
    pub topic_only: usize,
    /// Requests for one range before unlike filters are joined.
    pub requests: usize,
}

impl Default for RpcLimits {
    fn default() -> Self {
        RpcLimits {
            call_timeout: Duration::from_secs(30),
            retry: RetryPolicy {
                attempts: 8,
                backoff: Backoff { base: Duration::from_millis(250), ceiling: Duration::from_secs(15) },
            },
            in_flight: 6,
            body_cap: 96 << 20,
            batch_cap: 64 << 20,
            header_batch: 50,
            range: RangeBounds { first: 512, max: 100_000, logs: 20_000 },
            addresses: 500,
            topic_only: 5_000,
            requests: 4,
        }
    }
}

/// The endpoints of one chain.
#[derive(Clone, Debug)]
pub struct RpcConfig {
    /// Chain.
    pub chain: ChainSpec,
    /// Endpoints, the preferred one first.
    pub endpoints: Vec<EndpointConfig>,
    /// Limits.
    pub limits: RpcLimits,
}

/// A chain over JSON-RPC.
pub struct RpcSource {
    chain: ChainSpec,
    limits: RpcLimits,
    pool: Pool,
    /// Contracts per request that no endpoint has refused.
    addresses: AtomicUsize,
    /// The final block that was confirmed last.
    confirmed: Mutex<Option<BlockRef>>,
}

impl RpcSource {
    /// Connects, and checks the chain id of every endpoint that answers. Refused when one serves another chain, or
    /// when none answers within the retry budget.
    pub async fn connect(config: RpcConfig) -> Result<Self> {
        let source = RpcSource::unconnected(config)?;
        source.check_all_chains().await?;
        Ok(source)
    }

    /// As [`RpcSource::connect`], but asks nothing yet: each endpoint's chain id is checked before its first use.
    pub fn unconnected(config: RpcConfig) -> Result<Self> {
        let RpcConfig { chain, endpoints, limits } = config;
        let pool = build_pool(chain.id, endpoints, &limits)?;
        let addresses = AtomicUsize::new(limits.addresses.max(1));
        Ok(RpcSource { chain, limits, pool, addresses, confirmed: Mutex::default() })
    }

    async fn check_all_chains(&self) -> Result<()> {
        let checks = self.pool.endpoints.iter().map(|endpoint| async move {
            let checked = self.pool.check_chain(endpoint).await;
            (endpoint, checked)
        });
        for (endpoint, checked) in futures::future::join_all(checks).await {
            match checked {
                Ok(()) => {}
                Err(Trouble::OtherChain(found)) => {
                    let endpoint = endpoint.label().to_owned();
                    return Err(ChainError::WrongChain { endpoint, wanted: self.chain.id, found });
                }
                Err(trouble) => {
                    tracing::warn!(chain = %self.chain.id, endpoint = endpoint.label(), %trouble, "endpoint does not answer");
                    self.pool.note_health(endpoint, &trouble);
                }
            }
        }
        self.pool.next(&mut self.pool.attempts("eth_chainId", None)).await.map(drop)
    }

    /// Asks one endpoint, and where that one has nothing, the others: it may only be behind.
    async fn anywhere<F>(&self, attempts: Attempts, ask: impl Fn(Arc<Endpoint>) -> F) -> Result<Option<Header>>
    where
        F: Future<Output = Result<Option<Header>, Trouble>>,
    {
        let first =
            self.pool.run(attempts, async |endpoint: Arc<Endpoint>| Ok((endpoint.clone(), ask(endpoint).await?)));
        let (first, found) = first.await?;
        if found.is_some() {
            return Ok(found);
        }
        for other in self.pool.others(&first) {
            let asked = async {
                self.pool.check_chain(&other).await?;
                ask(other.clone()).await
            };
            match asked.await {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(trouble) => self.pool.note_health(&other, &trouble),
            }
        }
        Ok(None)
    }

    /// The chain's settings.
    pub fn chain(&self) -> &ChainSpec {
        &self.chain
    }

    fn query_limits(&self) -> QueryLimits {
        QueryLimits {
            requests: self.limits.requests,
            addresses: self.addresses.load(Ordering::Relaxed),
            topic_only: self.limits.topic_only,
        }
    }

    /// A request with so many contracts was refused for their number.
    fn learn_addresses(&self, refused: usize) {
        self.addresses.fetch_min((refused / 2).max(1), Ordering::Relaxed);
    }

    fn gauge_range(&self, endpoint: &Endpoint) {
        let labels = [("chain", self.chain.id.to_string()), ("endpoint", endpoint.label().to_owned())];
        metrics::gauge!("nuthatch_rpc_range_blocks", &labels).set(endpoint.range().size() as f64);
    }
}

fn build_pool(chain: ChainId, endpoints: Vec<EndpointConfig>, limits: &RpcLimits) -> Result<Pool> {
    if endpoints.is_empty() {
        return Err(ChainError::NoEndpoint(chain));
    }
    let client = http::client(&endpoints)?;
    let permits = Arc::new(Semaphore::new(limits.in_flight.max(1)));
    let mut labels = HashSet::new();
    let members = endpoints.into_iter().enumerate().map(|(place, config)| {
        let host = config.url.host();
        let label = if labels.insert(host.clone()) { host } else { format!("{host}#{}", place + 1) };
        let bounds = (limits.call_timeout, limits.body_cap);
        let http = Http::new(client.clone(), config, label, chain, permits.clone(), bounds);
        Arc::new(Endpoint::new(place, http, RangeController::new(limits.range), limits.header_batch))
    });
    Ok(Pool::new(chain, members.collect(), limits.retry))
}

/// Asks an endpoint which chain it serves.
pub async fn probe_chain(endpoint: EndpointConfig, limits: &RpcLimits) -> Result<ChainId> {
    let pool = build_pool(ChainId(0), vec![endpoint], limits)?;
    let endpoint = pool.endpoints[0].clone();
    let mut attempts = pool.attempts("eth_chainId", None);
    loop {
        match endpoint.chain_id().await {
            Ok(id) => return Ok(id),
            Err(trouble) => pool.failed(&mut attempts, &endpoint, trouble)?,
        }
        limits.retry.backoff.pause(attempts.made()).await;
    }
}

#[async_trait]
impl Source for RpcSource {
    fn chain_id(&self) -> ChainId {
        self.chain.id
    }

    async fn head(&self) -> Result<Header> {
        self.highest_head().await
    }

    async fn finalized(&self) -> Result<Option<BlockRef>> {
        self.confirmed_final().await
    }

    async fn header(&self, number: BlockNumber) -> Result<Option<Header>> {
        let range = BlockRange { first: number, last: number };
        let attempts = self.pool.attempts("eth_getBlockByNumber", Some(range));
        self.anywhere(attempts, |endpoint| async move { endpoint.block_at(number).await }).await
    }

    async fn header_by_hash(&self, hash: BlockHash) -> Result<Option<Header>> {
        let attempts = self.pool.attempts("eth_getBlockByHash", None);
        self.anywhere(attempts, |endpoint| async move { endpoint.block_of(hash).await }).await
    }

    async fn headers(&self, range: BlockRange) -> Result<Vec<Header>> {
        let attempts = self.pool.attempts("eth_getBlockByNumber", Some(range));
        let operation = |endpoint: Arc<Endpoint>| async move {
            let numbers: Vec<u64> = (range.first.0..=range.last.0).collect();
            let headers = headers_of(&endpoint, &numbers).await?;
            check_headers(range.first.0, &headers).map_err(Trouble::Inconsistent)?;
            Ok(headers)
        };
        self.pool.run(attempts, operation).await
    }

    async fn logs(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch> {
        self.final_logs(filters, range).await
    }

    async fn tip_window(&self, filters: &LogFilters, parent: BlockRef, last: BlockNumber) -> Result<Tip> {
        self.tip(filters, parent, last).await
    }

    async fn code_at(&self, address: Address, block: BlockNumber) -> Result<Bytes> {
        let params = json!([format!("{address:#x}"), format!("{:#x}", block.0)]);
        let range = BlockRange { first: block, last: block };
        let attempts = self.pool.attempts("eth_getCode", Some(range)).errors_are_final();
        let operation = |endpoint: Arc<Endpoint>| {
            let params = params.clone();
            async move { endpoint.call("eth_getCode", params).await }
        };
        let code: Bytes0x = self.pool.run(attempts, operation).await?;
        Ok(code.0.into())
    }

    fn range_hint(&self) -> u64 {
        self.pool.in_use().map_or(1, |endpoint| endpoint.range().size())
    }

    fn poll(&self) -> Duration {
        self.chain.poll
    }
}
