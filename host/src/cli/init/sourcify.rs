//! ABIs of verified contracts, from Sourcify or a server that speaks like it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::abi::Abi;
use crate::model::{Address, ChainId};

const PUBLIC: &str = "https://sourcify.dev/server";
/// Names another server.
pub const URL_VARIABLE: &str = "NUTHATCH_SOURCIFY_URL";
const TIMEOUT: Duration = Duration::from_secs(20);
/// An ABI is some hundred KB at most.
const MOST_BYTES: usize = 16 << 20;
/// A diamond may have many facets; more than this is not one contract any more.
const MOST_IMPLEMENTATIONS: usize = 32;

/// What is known about a contract.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The contract's ABI and, behind a proxy, those of its implementations.
    pub abis: Vec<Abi>,
    /// The contract's name; behind a proxy the implementation's.
    pub name: Option<String>,
    /// Block of the deployment, where Sourcify knows it.
    pub deployed_at: Option<u64>,
    /// Implementations whose ABI is not known there.
    pub unverified_implementations: Vec<Address>,
}

/// Why no ABI came back.
#[derive(Debug, thiserror::Error)]
pub enum SourcifyError {
    /// The setting is not a URL.
    #[error("{URL_VARIABLE} is not a URL: {0}")]
    BadUrl(url::ParseError),
    /// Not verified.
    #[error("{address} on chain {chain} is not verified at {server}; give its ABI with --abi FILE")]
    NotVerified {
        /// The contract.
        address: Address,
        /// Its chain.
        chain: ChainId,
        /// Who was asked.
        server: String,
    },
    /// The server did not answer as it should.
    #[error("{server} did not give the ABI of {address} on chain {chain}: {reason}; try again, or use --abi FILE")]
    Failed {
        /// The contract.
        address: Address,
        /// Its chain.
        chain: ChainId,
        /// Who was asked.
        server: String,
        /// What happened.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    abi: Option<Value>,
    compilation: Option<Compilation>,
    deployment: Option<Deployment>,
    proxy_resolution: Option<ProxyResolution>,
}

#[derive(Deserialize)]
struct Compilation {
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Deployment {
    block_number: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProxyResolution {
    #[serde(default)]
    is_proxy: bool,
    #[serde(default)]
    implementations: Vec<Implementation>,
}

#[derive(Deserialize)]
struct Implementation {
    address: Address,
}

/// A Sourcify server.
pub struct Sourcify {
    base: Url,
    client: reqwest::Client,
}

impl Sourcify {
    /// The server that NUTHATCH_SOURCIFY_URL names, else the public one.
    pub fn from_environment() -> Result<Self, SourcifyError> {
        let text = std::env::var(URL_VARIABLE).unwrap_or_else(|_| PUBLIC.to_owned());
        Url::parse(&text).map(Sourcify::at).map_err(SourcifyError::BadUrl)
    }

    fn at(base: Url) -> Self {
        Sourcify { base, client: reqwest::Client::new() }
    }

    /// ABI, name and deployment block of a contract. Behind a proxy, the implementations' ABIs are asked for too.
    pub async fn contract(&self, chain: ChainId, address: Address) -> Result<Verified, SourcifyError> {
        let answer = self.ask(chain, address, "abi,compilation.name,deployment,proxyResolution").await?;
        let mut verified = Verified {
            name: answer.compilation.and_then(|compilation| compilation.name),
            deployed_at: answer.deployment.and_then(|deployment| block_number(deployment.block_number?)),
            abis: answer.abi.and_then(Abi::from_json).into_iter().collect(),
            unverified_implementations: Vec::new(),
        };
        let proxy = answer.proxy_resolution.filter(|proxy| proxy.is_proxy);
        let mut implementations: Vec<Address> =
            proxy.into_iter().flat_map(|proxy| proxy.implementations).map(|one| one.address).collect();
        implementations.retain(|one| *one != address);
        if implementations.len() > MOST_IMPLEMENTATIONS {
            let reason = format!("it is a proxy with {} implementations, too many to merge", implementations.len());
            return Err(self.failed(chain, address, reason));
        }
        for implementation in implementations {
            match self.ask(chain, implementation, "abi,compilation.name").await {
                Ok(answer) => {
                    let name = answer.compilation.and_then(|compilation| compilation.name);
                    verified.name = name.or(verified.name);
                    verified.abis.extend(answer.abi.and_then(Abi::from_json));
                }
                Err(SourcifyError::NotVerified { .. }) => verified.unverified_implementations.push(implementation),
                Err(error) => return Err(error),
            }
        }
        if verified.abis.is_empty() {
            return Err(self.not_verified(chain, address));
        }
        Ok(verified)
    }

    async fn ask(&self, chain: ChainId, address: Address, fields: &str) -> Result<Answer, SourcifyError> {
        let failed = |error: &dyn std::fmt::Display| self.failed(chain, address, error.to_string());
        let mut url = self.base.clone();
        let path = format!("{}/v2/contract/{chain}/{}", url.path().trim_end_matches('/'), address.to_checksum(None));
        url.set_path(&path);
        url.set_query(Some(&format!("fields={fields}")));
        let sent = self.client.get(url).timeout(TIMEOUT).header("accept", "application/json").send().await;
        // Without the URL: a private server's may hold a key.
        let mut response = sent.map_err(|error| failed(&causes(&error.without_url())))?;
        let status = response.status();
        if status == reqwest::StatusCode::NOT_FOUND {
            return Err(self.not_verified(chain, address));
        }
        if !status.is_success() {
            return Err(failed(&format!("HTTP status {status}")));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(&causes(&error.without_url())))? {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_BYTES {
                return Err(failed(&"its answer is far larger than an ABI"));
            }
        }
        serde_json::from_slice(&body).map_err(|error| failed(&format!("its answer is not as documented: {error}")))
    }

    /// The server's name.
    pub fn server(&self) -> String {
        self.base.host_str().unwrap_or("Sourcify").to_owned()
    }

    fn not_verified(&self, chain: ChainId, address: Address) -> SourcifyError {
        SourcifyError::NotVerified { address, chain, server: self.server() }
    }

    fn failed(&self, chain: ChainId, address: Address, reason: String) -> SourcifyError {
        SourcifyError::Failed { address, chain, server: self.server(), reason }
    }
}

/// The innermost cause says what happened; reqwest's outer message does not.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map_or_else(String::new, |last| last.to_string())
}

/// A number, or digits in a string.
fn block_number(value: Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
