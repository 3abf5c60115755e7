//! From URLs to a source of logs.

use std::sync::Arc;

use url::Url;

use super::Usage;
use crate::chain::{
    ChainSpec, EndpointConfig, EndpointUrl, ReplayOptions, ReplaySource, RpcConfig, RpcLimits, RpcSource, Source,
};
use crate::model::ChainId;

/// Connects to a chain: a pool of nodes, or one recorded chain.
pub(super) async fn connect(chain: ChainId, urls: &[Url]) -> anyhow::Result<Arc<dyn Source>> {
    let files: Vec<&Url> = urls.iter().filter(|url| url.scheme() == "file").collect();
    match (files.as_slice(), urls) {
        ([file], [_]) => {
            let path = file.to_file_path().map_err(|()| Usage::error(format!("{file} is not a path on this machine")))?;
            Ok(Arc::new(ReplaySource::open(&path, ReplayOptions { chain: Some(chain), ..ReplayOptions::default() })?))
        }
        ([], _) => {
            let endpoints = urls.iter().map(|url| Ok(EndpointConfig::new(url.as_str().parse::<EndpointUrl>()?)));
            let endpoints = endpoints.collect::<anyhow::Result<Vec<_>>>()?;
            let config = RpcConfig { chain: ChainSpec::of(chain), endpoints, limits: RpcLimits::default() };
            Ok(Arc::new(RpcSource::connect(config).await?))
        }
        _ => Err(Usage::error(format!("chain {chain}: a recorded chain (file://…) stands alone, without other URLs"))),
    }
}
