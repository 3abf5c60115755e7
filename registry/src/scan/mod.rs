//! Looking for credentials in what goes into a bundle. A bundle is published for good, so what looks like one is refused.
//!
//! Addresses, topics, hashes and ABIs pass: a run of hex digits is suspect only where its surroundings call it a key.

mod code;
mod rules;
#[cfg(test)]
mod tests;
mod url;

use std::fmt;

use crate::Bundle;
use rules::{Hit, rules};

/// Something that looks like a credential. Holds a masked part of it at most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, as the bundle or the author calls it.
    pub file: String,
    /// The line, from 1 on; 0 in what has no lines.
    pub line: usize,
    /// What it looks like.
    pub what: Suspect,
    /// As much of it as helps to find it.
    pub masked: String,
}

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Suspect {
    /// A URL with user name or password.
    UrlUser,
    /// A URL with a key in its host, path or query.
    UrlKey,
    /// 32 bytes that are called a private key, or the words of a wallet.
    PrivateKey,
    /// A PEM block of a private key.
    PemKey,
    /// A key of AWS.
    AwsKey,
    /// A token of a known service.
    ServiceToken,
    /// What follows `Bearer` or `Basic` in a header.
    HeaderToken,
    /// A value that is called a key, token, password or secret.
    NamedSecret,
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Suspect::UrlUser => "a URL with a user name or password",
            Suspect::UrlKey => "a URL with a key",
            Suspect::PrivateKey => "a private key",
            Suspect::PemKey => "a private key (PEM)",
            Suspect::AwsKey => "an AWS key",
            Suspect::ServiceToken => "a service's token",
            Suspect::HeaderToken => "a token of a header",
            Suspect::NamedSecret => "a value that is called a secret",
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        write!(
            f,
            " this looks like {} ({}); take it out: a bundle is public, and what a nest needs is named under [[secrets]] \
             and set by the operator",
            self.what, self.masked
        )
    }
}

/// Looks through one text. `file` is what findings call it.
///
/// ```
/// use nuthatch_registry::{Suspect, scan_text};
///
/// let text = "[nest]\n# rpc = https://mainnet.infura.io/v3/9aa3d95b3bc440fa88ea12eaa4456161\n";
/// let found = scan_text("nest.toml", text.as_bytes());
/// assert_eq!((found[0].line, found[0].what), (2, Suspect::UrlKey));
/// assert_eq!(found[0].masked, "https://mainnet.infura.io/v3/9aa…");
///
/// let text = "address = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"";
/// assert!(scan_text("nest.toml", text.as_bytes()).is_empty());
/// ```
pub fn scan_text(file: &str, text: &[u8]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(text);
    let mut found = Vec::new();
    let mut before = "";
    for (place, line) in text.lines().enumerate() {
        let mut hits = url::hits(line);
        hits.extend(rules().in_line(line, before));
        found.extend(hits.into_iter().map(|Hit { what, masked }| Finding {
            file: file.to_owned(),
            line: place + 1,
            what,
            masked,
        }));
        if !line.trim().is_empty() {
            before = line;
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Looks through a bundle: its manifest and files line by line, its code, plan and folds for what cannot be mistaken.
pub fn scan_bundle(bundle: &Bundle) -> Vec<Finding> {
    let mut found = scan_text("the manifest", bundle.manifest_json().as_bytes());
    for (path, bytes) in bundle.files() {
        found.extend(scan_text(path.as_str(), bytes));
    }
    let component = bundle.component().unwrap_or_default();
    found.extend(code::scan("the code", &component));
    found.extend(code::scan("the plan", bundle.plan()));
    found.extend(bundle.views_component().map(|views| code::scan("the folds", views)).unwrap_or_default());
    found
}

/// A value of which only the beginning is shown, and of a short one nothing.
fn masked(value: &str) -> String {
    let shown = if value.chars().count() >= 16 { 3 } else { 0 };
    let start: String = value.chars().take(shown).collect();
    format!("{}…", start.escape_debug())
}

/// Whether a text is made as keys are: letters and digits mixed without a pattern.
fn is_random(text: &str, least: usize) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < least || !bytes.iter().any(u8::is_ascii_digit) || !bytes.iter().any(u8::is_ascii_alphabetic) {
        return false;
    }
    if is_sample(text) {
        return false;
    }
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = bytes.len() as f64;
    let bits: f64 =
        counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum();
    bits >= 2.8
}

/// Whether a value says of itself that it is none.
fn is_sample(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["your", "example", "placeholder", "changeme", "xxxx", "redacted"].iter().any(|word| lower.contains(word))
}
