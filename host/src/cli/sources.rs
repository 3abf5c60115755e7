//! From URLs to a source of logs.

use std::sync::Arc;

use url::Url;

use super::Usage;
use crate::chain::{EndpointConfig, EndpointUrl, ReplaySource, RpcOptions, RpcSource, Source};
use crate::model::ChainId;

/// Connects to a chain: a pool of nodes, or one recorded chain.
pub(super) async fn connect(chain: ChainId, urls: &[Url]) -> anyhow::Result<Arc<dyn Source>> {
    let files: Vec<&Url> = urls.iter().filter(|url| url.scheme() == "file").collect();
    match (files.as_slice(), urls) {
        ([file], [_]) => {
            let path = file.to_file_path().map_err(|()| Usage::error(format!("{file} is not a path on this machine")))?;
            Ok(Arc::new(ReplaySource::open(&path, Some(chain))?))
        }
        ([], _) => {
            let endpoints = urls.iter().map(|url| Ok(EndpointConfig::new(EndpointUrl::new(url.clone())?)));
            let endpoints = endpoints.collect::<anyhow::Result<Vec<_>>>()?;
            Ok(Arc::new(RpcSource::connect(chain, endpoints, RpcOptions::default()).await?))
        }
        _ => Err(Usage::error(format!("chain {chain}: a recorded chain (file://…) stands alone, without other URLs"))),
    }
}
