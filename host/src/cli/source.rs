//! From URLs to a chain's source.

use std::sync::Arc;

use nuthatch_registry::Chain;
use url::Url;

use crate::chain::{
    ChainError, ChainSpec, EndpointConfig, ReplayOptions, ReplaySource, RpcConfig, RpcLimits, RpcSource, Source,
    probe_chain,
};
use crate::model::ChainId;

/// What stands between URLs and a source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The chain's own error.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A recording cannot be one of a pool.
    #[error("a recorded chain (file://) is played alone; take the other --rpc away")]
    RecordingInPool,
}

/// The chain that an endpoint serves, or that a recording is of.
pub async fn probe(url: &Url, limits: &RpcLimits) -> Result<ChainId, SourceError> {
    match recording(url) {
        Some(opened) => Ok(opened?.chain_id()),
        None => Ok(probe_chain(endpoint(url)?, limits).await?),
    }
}

/// When a pool of endpoints is asked for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// Before anything else: a mistake in a URL shows at once.
    AtOnce,
    /// When something is needed of it: there are rows to serve, whether or not it answers.
    WhenNeeded,
}

/// A source of this chain: a pool of endpoints, or one recording.
pub async fn open(
    chain: ChainId,
    urls: &[Url],
    limits: RpcLimits,
    contact: Contact,
) -> Result<Arc<dyn Source>, SourceError> {
    if let [url] = urls
        && let Some(opened) = recording(url)
    {
        let source = opened?;
        let found = source.chain_id();
        if found != chain {
            let endpoint = url.path().to_owned();
            return Err(ChainError::WrongChain { endpoint, wanted: chain, found }.into());
        }
        return Ok(Arc::new(source));
    }
    if urls.iter().any(|url| url.scheme() == "file") {
        return Err(SourceError::RecordingInPool);
    }
    let endpoints = urls.iter().map(endpoint).collect::<Result<_, _>>()?;
    let chain = ChainSpec::of(chain);
    let config = RpcConfig { chain, endpoints, limits };
    Ok(Arc::new(match contact {
        Contact::AtOnce => RpcSource::connect(config).await?,
        Contact::WhenNeeded => RpcSource::unconnected(config)?,
    }))
}

fn endpoint(url: &Url) -> Result<EndpointConfig, ChainError> {
    url.as_str().parse().map(EndpointConfig::new)
}

fn recording(url: &Url) -> Option<Result<ReplaySource, ChainError>> {
    let path = url.to_file_path().ok().filter(|_| url.scheme() == "file")?;
    Some(ReplaySource::open(&path, ReplayOptions::default()))
}

/// A chain for people: its name where it has one.
pub fn chain_name(chain: ChainId) -> String {
    Chain(chain.0).to_string()
}
