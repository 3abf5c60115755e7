//! Arguments that several commands share.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use nuthatch_registry::{Chain, UnknownChain};
use url::Url;

use crate::model::ChainId;

/// A chain as people write it: `mainnet`, `eip155:100`, or the bare number `100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainArg(pub Chain);

impl ChainArg {
    /// Its id.
    pub fn id(self) -> ChainId {
        ChainId(self.0.0)
    }
}

impl FromStr for ChainArg {
    type Err = UnknownChain;

    fn from_str(text: &str) -> Result<Self, UnknownChain> {
        let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let chain = if bare { format!("eip155:{text}").parse() } else { text.parse() };
        chain.map(ChainArg)
    }
}

/// `[CHAIN=]URL`: an endpoint, and for which chain if that is said.
#[derive(Clone, PartialEq, Eq)]
pub struct RpcArg {
    /// Chain, if named.
    pub chain: Option<ChainArg>,
    /// `http`, `https` or `file`.
    pub url: Url,
}

/// Without the URL: its path often is a key.
impl fmt::Debug for RpcArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcArg").field("chain", &self.chain).field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl FromStr for RpcArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // An equals sign may also stand in a URL's query.
        let (chain, url) = match text.split_once('=') {
            Some((chain, url)) if !chain.contains('/') && !chain.contains('?') => {
                (Some(chain.parse::<ChainArg>().map_err(|error| error.to_string())?), url)
            }
            _ => (None, text),
        };
        Ok(RpcArg { chain, url: parse_rpc_url(url)? })
    }
}

/// An endpoint's URL. The message of a failure does not repeat it.
pub(super) fn parse_rpc_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| {
        format!("not a URL ({error}); it looks like https://node.example or file:///path/chain.jsonl")
    })?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        "file" => Ok(url),
        scheme => Err(format!("'{scheme}' is not a scheme that is spoken here: http, https or file")),
    }
}

/// Which data folder a command means.
#[derive(Clone, Debug, Args)]
pub struct DataArgs {
    /// Nest folder whose data is meant: DIR/.nuthatch
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Data folder itself, where `dev` was given one
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
}

impl DataArgs {
    /// The data folder.
    pub fn folder(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| data_folder(&self.dir))
    }
}

/// Where a nest folder keeps its data.
pub fn data_folder(nest: &Path) -> PathBuf {
    nest.join(".nuthatch")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_equals_sign_in_the_query_of_a_url_names_no_chain() {
        let arg: RpcArg = "https://node.example/?key=abc".parse().unwrap();
        assert_eq!((arg.chain, arg.url.as_str()), (None, "https://node.example/?key=abc"));
        let arg: RpcArg = "eip155:100=https://node.example/v1?key=abc".parse().unwrap();
        assert_eq!(arg.chain.unwrap().id(), ChainId(100));
        assert_eq!(arg.url.as_str(), "https://node.example/v1?key=abc");
        let arg: RpcArg = "mainnet=file:///tmp/chain.jsonl".parse().unwrap();
        assert_eq!(arg.chain.unwrap().id(), ChainId(1));
    }

    #[test]
    fn a_key_in_a_url_shows_in_no_message() {
        let arg: RpcArg = "https://node.example/v1/s3cret?k=s3cret".parse().unwrap();
        assert!(!format!("{arg:?}").contains("s3cret"));
        for wrong in ["ftp://node.example/s3cret", "//s3cret"] {
            assert!(!wrong.parse::<RpcArg>().unwrap_err().contains("s3cret"), "{wrong}");
        }
    }

    #[test]
    fn a_bare_number_is_a_chain_id() {
        let chain: ChainArg = "137".parse().unwrap();
        assert_eq!((chain, chain.id()), ("polygon".parse().unwrap(), ChainId(137)));
        assert!("nosuchchain".parse::<ChainArg>().is_err());
    }
}
