//! Bytes that are no text: only what is a credential beyond doubt.

use super::rules::rules;
use super::{Finding, url};

/// Fewer printable characters in a row are no text.
const LEAST: usize = 16;

pub(super) fn scan(file: &str, bytes: &[u8]) -> Vec<Finding> {
    let printable = |byte: &u8| (b' '..=b'~').contains(byte);
    let mut found = Vec::new();
    for run in bytes.split(|byte| !printable(byte)).filter(|run| run.len() >= LEAST) {
        let text = String::from_utf8_lossy(run);
        let hits = rules().unmistakable(&text).into_iter().chain(url::hits_of_providers(&text));
        found.extend(hits.map(|hit| Finding { file: file.to_owned(), line: 0, what: hit.what, masked: hit.masked }));
    }
    found
}
