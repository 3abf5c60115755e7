//! Credentials in URLs.

use std::sync::LazyLock;

use regex::Regex;

use super::rules::{Hit, is_words};
use super::{Suspect, is_random, is_sample, masked};

/// A URL as it stands in text: not parsed by the rules of URLs, which a password may break.
#[allow(clippy::expect_used)]
static URL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)(?<scheme>[a-z][a-z0-9+.-]{1,20})://(?<rest>[^\s"'`<>\\|]{1,2048})"#)
        .expect("a pattern of this file")
});

/// Hosts whose paths name things that everybody may read.
const PUBLIC: [&str; 22] = [
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "etherscan.io",
    "basescan.org",
    "arbiscan.io",
    "polygonscan.com",
    "bscscan.com",
    "gnosisscan.io",
    "blockscout.com",
    "ipfs.io",
    "arweave.net",
    "docs.rs",
    "crates.io",
    "npmjs.com",
    "w3.org",
    "ethereum.org",
    "doi.org",
    "wikipedia.org",
    "notion.so",
    "medium.com",
    "dune.com",
];
/// What the path names behind these is public too.
const PUBLIC_PATHS: [&str; 15] = [
    "tx", "address", "token", "block", "commit", "blob", "tree", "raw", "ipfs", "ipns", "contract", "hash", "pull",
    "nft", "gist",
];
/// Hosts that sell access by a key in the URL; then words in the names of others that give it.
const PROVIDERS: [&str; 24] = [
    "infura",
    "alchemy",
    "quiknode",
    "quicknode",
    "ankr",
    "chainstack",
    "blastapi",
    "getblock",
    "drpc",
    "nodereal",
    "tenderly",
    "moralis",
    "rivet",
    "pokt",
    "validationcloud",
    "dwellir",
    "grove.city",
    "llamarpc",
    "publicnode",
    "rpc",
    "node",
    "mainnet",
    "sepolia",
    "gateway",
];
/// How many of them are the former.
const VENDORS: usize = 16;
/// Parameters that hold keys.
const PARAMETERS: [&str; 22] = [
    "key",
    "apikey",
    "token",
    "accesstoken",
    "authtoken",
    "auth",
    "authorization",
    "secret",
    "clientsecret",
    "password",
    "passwd",
    "pwd",
    "dkey",
    "sig",
    "signature",
    "xamzsignature",
    "xamzcredential",
    "xamzsecuritytoken",
    "accesskey",
    "projectid",
    "credential",
    "sharedaccesssignature",
];

pub(super) fn hits(line: &str) -> Vec<Hit> {
    URL.captures_iter(line)
        .filter_map(|found| hit(found.name("scheme")?.as_str(), found.name("rest")?.as_str()))
        .collect()
}

/// As [`hits`], of known providers alone: for bytes that are no text.
pub(super) fn hits_of_providers(text: &str) -> Vec<Hit> {
    URL.captures_iter(text)
        .filter_map(|found| {
            let rest = found.name("rest")?.as_str();
            is_vendor(&host_of(rest)).then(|| hit(found.name("scheme")?.as_str(), rest))?
        })
        .collect()
}

fn is_vendor(host: &str) -> bool {
    PROVIDERS[..VENDORS].iter().any(|name| host.contains(name))
}

fn authority_of(rest: &str) -> &str {
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

fn host_of(rest: &str) -> String {
    let authority = authority_of(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_ascii_lowercase()
}

fn hit(scheme: &str, rest: &str) -> Option<Hit> {
    let rest = rest.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '!']);
    let authority = authority_of(rest);
    let host = host_of(rest);
    if let Some((user, _)) = authority.rsplit_once('@')
        && !is_placeholder(user.split_once(':').map_or(user, |(_, password)| password))
    {
        return Some(Hit { what: Suspect::UrlUser, masked: format!("{scheme}://…@{host}").escape_debug().collect() });
    }
    let web = matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ws" | "wss");
    let (path, query) = match rest[authority.len()..].split_once('?') {
        Some((path, query)) => (path, query),
        None => (&rest[authority.len()..], ""),
    };
    let shown = |before: &str, key: &str| {
        let masked = format!("{}{}", before.escape_debug(), masked(key));
        Some(Hit { what: Suspect::UrlKey, masked })
    };
    for (name, value) in query.split(['&', ';', '#']).filter_map(|pair| pair.split_once('=')) {
        let plain: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        if PARAMETERS.contains(&plain.as_str()) && value.len() >= 8 && !is_placeholder(value) && !is_address(value) {
            return shown(&format!("{scheme}://{host}/…?{name}="), value);
        }
    }
    if !web {
        return None;
    }
    let vendor = is_vendor(&host);
    let provider = host.starts_with("ws") || PROVIDERS.iter().any(|name| host.contains(name));
    if let Some(label) = host.split('.').find(|label| is_key(label, provider)) {
        return shown(&format!("{scheme}://"), label);
    }
    if PUBLIC.iter().any(|public| host == *public || host.ends_with(&format!(".{public}"))) {
        return None;
    }
    let mut before = "";
    let mut so_far = format!("{scheme}://{host}");
    for segment in path.split('#').next().unwrap_or_default().split('/').skip(1) {
        let versioned = matches!(before, "v1" | "v2" | "v3" | "rpc");
        let trusted = provider || versioned || scheme.to_ascii_lowercase().starts_with("ws");
        // What a seller of access has behind its version is the key, whatever it is made of.
        let sold = versioned && vendor && segment.len() >= 16 && !is_sample(segment);
        if !PUBLIC_PATHS.contains(&before) && (sold || is_key(segment, trusted)) {
            return shown(&format!("{so_far}/"), segment);
        }
        so_far = format!("{so_far}/{segment}");
        before = segment;
    }
    None
}

/// Whether a part of a URL is a key. Where a key is expected less is needed.
fn is_key(part: &str, expected: bool) -> bool {
    let plain = part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if !plain || is_address(part) || part.starts_with("Qm") || part.starts_with("baf") {
        return false;
    }
    let uuid = part.len() == 36 && part.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    match expected {
        true => (uuid || !is_words(part)) && is_random(part, 16),
        false => !part.contains(['-', '_']) && !is_words(part) && is_random(part, 30),
    }
}

fn is_address(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What stands for a value that a reader fills in.
fn is_placeholder(text: &str) -> bool {
    let inner = text.trim_matches(['{', '}', '[', ']', '(', ')', '%', '$', '*', '.', '…']);
    text.is_empty()
        || text.starts_with(['$', '{', '[', '%', '*'])
        || inner.is_empty()
        || inner.to_ascii_lowercase().bytes().all(|b| b == b'x')
        || inner.to_ascii_uppercase().contains("YOUR")
}
