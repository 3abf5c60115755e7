//! Where the URL of a chain's node comes from.

use std::path::Path;

use url::Url;

use super::args::{RpcArg, parse_rpc_url};
use super::dotenv::{DotEnv, DotEnvError};
use crate::model::ChainId;

/// No URL, or one that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RpcUrlError {
    /// None of the three places has one.
    #[error(
        "no node is known for chain {chain}; give its URL in one of three ways: --rpc {chain}=URL on the command line, \
         NUTHATCH_RPC_{chain}=URL (or NUTHATCH_RPC=URL) in the environment, or that same line in the nest folder's .env"
    )]
    None {
        /// The chain.
        chain: ChainId,
    },
    /// A URL without a chain, and more than one chain to choose from.
    #[error("{place} does not say for which of the chains {chains} it is; write {form} instead, one for each chain")]
    WhichChain {
        /// Where the URL stands.
        place: String,
        /// The chains in use.
        chains: String,
        /// How it is written with a chain.
        form: String,
    },
    /// Not a URL.
    #[error("{place}: {reason}")]
    Bad {
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The `.env` file itself.
    #[error(transparent)]
    DotEnv(#[from] DotEnvError),
}

/// The places that are asked, in order: --rpc, the environment, `.env`.
pub struct RpcSources {
    args: Vec<RpcArg>,
    places: Vec<Place>,
}

type Lookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

struct Place {
    /// Said before a name in messages.
    label: String,
    lookup: Lookup,
}

impl RpcSources {
    /// --rpc, the environment of this process, then the `.env` of each nest folder.
    pub fn new<'a>(args: Vec<RpcArg>, nests: impl IntoIterator<Item = &'a Path>) -> Result<Self, RpcUrlError> {
        let mut sources = RpcSources { args, places: Vec::new() };
        sources.add_place("the environment's ".to_owned(), Box::new(|key| std::env::var(key).ok()));
        for nest in nests {
            let env = DotEnv::read(nest)?;
            sources.add_place(
                format!("{}'s ", nest.join(".env").display()),
                Box::new(move |key| env.get(key).map(str::to_owned)),
            );
        }
        Ok(sources)
    }

    fn add_place(&mut self, label: String, lookup: Lookup) {
        self.places.push(Place { label, lookup });
    }

    /// The endpoints of one of the chains in use: all that the first place with one gives.
    pub fn urls(&self, chain: ChainId, in_use: &[ChainId]) -> Result<Vec<Url>, RpcUrlError> {
        let one = in_use.iter().all(|other| *other == chain);
        let which = |place: String, form: String| RpcUrlError::WhichChain {
            place,
            chains: in_use.iter().map(ChainId::to_string).collect::<Vec<_>>().join(", "),
            form,
        };
        let mut urls = Vec::new();
        for arg in &self.args {
            match &arg.chain {
                Some(named) if named.id() == chain => urls.push(arg.url.clone()),
                Some(_) => {}
                None if one => urls.push(arg.url.clone()),
                None => return Err(which("an --rpc without a chain".to_owned(), format!("--rpc {chain}=URL"))),
            }
        }
        for place in &self.places {
            if !urls.is_empty() {
                break;
            }
            let specific = format!("NUTHATCH_RPC_{chain}");
            let general = (place.lookup)("NUTHATCH_RPC").filter(|value| !value.trim().is_empty());
            let found = match general {
                Some(value) if one => Some(("NUTHATCH_RPC".to_owned(), value)),
                general => match (place.lookup)(&specific).filter(|value| !value.trim().is_empty()) {
                    Some(value) => Some((specific, value)),
                    None if general.is_some() => {
                        return Err(which(format!("{}NUTHATCH_RPC", place.label), format!("{specific}=URL")));
                    }
                    None => None,
                },
            };
            if let Some((key, value)) = found {
                for text in value.split([',', ' ']).filter(|text| !text.is_empty()) {
                    let place = format!("{}{key}", place.label);
                    urls.push(parse_rpc_url(text).map_err(|reason| RpcUrlError::Bad { place, reason })?);
                }
            }
        }
        if urls.is_empty() { Err(RpcUrlError::None { chain }) } else { Ok(urls) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ONE: ChainId = ChainId(1);
    const GNOSIS: ChainId = ChainId(100);

    fn sources(args: &[&str], environment: &[(&str, &str)], file: &[(&str, &str)]) -> RpcSources {
        let owned = |pairs: &[(&str, &str)]| -> Lookup {
            let pairs: Vec<(String, String)> = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            Box::new(move |key| pairs.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone()))
        };
        let mut sources =
            RpcSources { args: args.iter().map(|arg| arg.parse().unwrap()).collect(), places: Vec::new() };
        sources.add_place("the environment's ".to_owned(), owned(environment));
        sources.add_place(".env's ".to_owned(), owned(file));
        sources
    }

    fn hosts(result: Result<Vec<Url>, RpcUrlError>) -> String {
        result.unwrap().iter().filter_map(Url::host_str).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_first_place_that_has_one_wins() {
        let file = [("NUTHATCH_RPC_1", "https://file")];
        let environment = [("NUTHATCH_RPC_1", "https://specific")];
        let both = [("NUTHATCH_RPC", "https://general"), ("NUTHATCH_RPC_1", "https://specific")];
        assert_eq!(hosts(sources(&["https://arg"], &both, &file).urls(ONE, &[ONE])), "arg");
        assert_eq!(hosts(sources(&[], &both, &file).urls(ONE, &[ONE])), "general");
        assert_eq!(hosts(sources(&[], &environment, &file).urls(ONE, &[ONE])), "specific");
        assert_eq!(hosts(sources(&[], &[("NUTHATCH_RPC", " ")], &file).urls(ONE, &[ONE])), "file");
    }

    #[test]
    fn several_endpoints_make_a_pool() {
        let given = sources(&["https://a", "1=https://b", "100=https://c"], &[], &[]);
        assert_eq!(hosts(given.urls(ONE, &[ONE])), "a b");
        let listed = sources(&[], &[("NUTHATCH_RPC", "https://a, https://b")], &[]);
        assert_eq!(hosts(listed.urls(ONE, &[ONE])), "a b");
    }

    #[test]
    fn with_several_chains_each_url_names_its_own() {
        let both = [ONE, GNOSIS];
        let named = sources(&["mainnet=https://a", "gnosis=https://b"], &[], &[]);
        assert_eq!(hosts(named.urls(GNOSIS, &both)), "b");
        let bare = sources(&["https://a"], &[], &[]).urls(ONE, &both).unwrap_err();
        assert!(matches!(bare, RpcUrlError::WhichChain { .. }), "{bare}");
        let general = sources(&[], &[("NUTHATCH_RPC", "https://a")], &[]).urls(ONE, &both).unwrap_err();
        assert!(general.to_string().contains("NUTHATCH_RPC_1=URL"), "{general}");
        let specific = [("NUTHATCH_RPC", "https://a"), ("NUTHATCH_RPC_1", "https://b")];
        assert_eq!(hosts(sources(&[], &specific, &[]).urls(ONE, &both)), "b");
    }

    #[test]
    fn without_any_the_three_ways_are_told() {
        let message = sources(&["100=https://c"], &[], &[]).urls(ONE, &[ONE]).unwrap_err().to_string();
        for way in ["--rpc 1=URL", "NUTHATCH_RPC_1=URL", "NUTHATCH_RPC=URL", ".env"] {
            assert!(message.contains(way), "{message}");
        }
    }

    #[test]
    fn a_wrong_url_is_named_by_its_place_alone() {
        let message = sources(&[], &[("NUTHATCH_RPC", "node/s3cret")], &[]).urls(ONE, &[ONE]).unwrap_err().to_string();
        assert!(message.starts_with("the environment's NUTHATCH_RPC: not a URL"), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
}
