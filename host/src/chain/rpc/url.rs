//! Endpoint URLs and headers. Both can carry keys, so neither can be printed whole.

use std::fmt;
use std::str::FromStr;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::chain::error::ChainError;

/// The URL of a JSON-RPC endpoint. Prints as host and port only: path, query and user info can be keys.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointUrl(Url);

impl EndpointUrl {
    /// Host and port, as errors and metrics name the endpoint.
    pub fn host(&self) -> String {
        let host = self.0.host_str().unwrap_or("?");
        match self.0.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Whether TLS is used.
    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The whole URL, for the HTTP client only.
    pub(super) fn expose(&self) -> &Url {
        &self.0
    }

    /// Parts of the URL that can be keys, longest first.
    fn secrets(&self) -> Vec<String> {
        let url = &self.0;
        let path = url.path_segments().into_iter().flatten().map(str::to_owned);
        let query = url.query_pairs().map(|(_, value)| value.into_owned());
        let user = [Some(url.username().to_owned()), url.password().map(str::to_owned)];
        let whole = [url.as_str().to_owned(), url.path().to_owned(), url.query().unwrap_or_default().to_owned()];
        path.chain(query).chain(user.into_iter().flatten()).chain(whole).collect()
    }
}

impl FromStr for EndpointUrl {
    type Err = ChainError;

    fn from_str(text: &str) -> Result<Self, ChainError> {
        // The text is not quoted: it may hold a key.
        let bad = |why: &str| ChainError::BadEndpoint(format!("{why}; an http:// or https:// URL is expected"));
        let url = Url::parse(text.trim()).map_err(|error| bad(&error.to_string()))?;
        match url.scheme() {
            "http" | "https" if url.host_str().is_some_and(|host| !host.is_empty()) => Ok(EndpointUrl(url)),
            "http" | "https" => Err(bad("the URL has no host")),
            "ws" | "wss" => Err(bad("WebSocket URLs are not used")),
            other => Err(bad(&format!("scheme '{other}' is not used"))),
        }
    }
}

impl fmt::Display for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host())
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointUrl({}://{}/…)", self.0.scheme(), self.host())
    }
}

/// One endpoint: its URL, and headers for that URL alone.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Where.
    pub url: EndpointUrl,
    /// Sent with every request. Values are marked sensitive and print as such.
    pub headers: HeaderMap,
}

impl EndpointConfig {
    /// An endpoint without headers of its own.
    pub fn new(url: EndpointUrl) -> Self {
        EndpointConfig { url, headers: HeaderMap::new() }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ChainError> {
        let name = HeaderName::from_str(name)
            .map_err(|_| ChainError::BadEndpoint(format!("'{}' is not a header name", name.escape_debug())))?;
        let mut value = HeaderValue::from_str(value).map_err(|_| {
            ChainError::BadEndpoint(format!("the value of header '{name}' has characters that no header can have"))
        })?;
        value.set_sensitive(true);
        self.headers.append(name, value);
        Ok(self)
    }

    /// Foreign text, fit for an error message: without the secrets of this endpoint, on one line, and short.
    pub(super) fn scrub(&self, text: &str) -> String {
        let mut secrets = self.url.secrets();
        secrets.extend(self.headers.values().filter_map(|value| value.to_str().ok()).map(str::to_owned));
        // Very short parts, such as a `v2` of the path, are no keys and would blank out harmless text.
        secrets.retain(|secret| secret.len() >= 6);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let clean = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"));
        let line: String = clean.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut short: String = line.trim().chars().take(MAX_TEXT).collect();
        if line.trim().chars().nth(MAX_TEXT).is_some() {
            short.push('…');
        }
        short
    }
}

const MAX_TEXT: usize = 300;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_form_of_printing_shows_a_key() {
        let url: EndpointUrl =
            "https://user:hunter2secret@rpc.example.com:8443/v2/KEYKEYKEY?token=TOKENTOKEN".parse().unwrap();
        let config = EndpointConfig::new(url).header("x-api-key", "HEADERSECRET").unwrap();
        let echo = config.scrub("bad key KEYKEYKEY at /v2/KEYKEYKEY?token=TOKENTOKEN for hunter2secret,\nHEADERSECRET");
        for text in [format!("{config:?}"), config.url.to_string(), config.url.host(), echo] {
            for secret in ["hunter2secret", "KEYKEYKEY", "TOKENTOKEN", "HEADERSECRET", "\n"] {
                assert!(!text.contains(secret), "{secret:?} in {text}");
            }
        }
        assert_eq!(config.url.to_string(), "rpc.example.com:8443");
    }

    #[test]
    fn other_urls_are_refused_without_being_quoted() {
        for bad in ["", "rpc.example.com/KEYKEYKEY", "ftp://host/KEYKEYKEY", "wss://host/KEYKEYKEY", "http://"] {
            let error = bad.parse::<EndpointUrl>().unwrap_err().to_string();
            assert!(!error.contains("KEYKEYKEY"), "{error}");
        }
    }
}
