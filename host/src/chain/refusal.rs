//! Reads what an endpoint says when it does not answer `eth_getLogs`.
//!
//! The texts are not standardised and change without notice. A wrong guess here costs a few calls, never a row: every
//! refusal makes the next request smaller, whatever it says.

use std::fmt;

/// An endpoint's refusal to answer for a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was too much, as far as the text tells.
    pub kind: RefusalKind,
    /// A number of blocks that the text names as acceptable. Not to be trusted.
    pub suggested: Option<u64>,
    /// The text, shortened.
    pub text: String,
}

/// What was too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Too many blocks.
    Blocks,
    /// Too many logs or bytes.
    Results,
    /// Too many addresses or topics.
    Addresses,
    /// It took too long.
    Slow,
    /// The text tells nothing.
    Unknown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Refusal {
    /// A refusal of this kind without a suggestion.
    pub fn new(kind: RefusalKind, text: impl Into<String>) -> Self {
        Refusal { kind, suggested: None, text: text.into() }
    }

    /// What a text means that came instead of logs.
    pub fn read(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let kind = if has(&["address"]) && has(&["too many", "exceed", "max", "less number", "limit"]) {
            RefusalKind::Addresses
        } else if has(&["timeout", "timed out", "too long", "deadline"]) {
            RefusalKind::Slow
        } else if has(&["result", "response size", "logs matched", "too large", "more than", "10k logs"]) {
            RefusalKind::Results
        } else if has(&["range", "blocks", "block count"]) {
            RefusalKind::Blocks
        } else {
            RefusalKind::Unknown
        };
        Refusal { kind, suggested: suggested_blocks(&lower), text: text.to_owned() }
    }
}

/// Whether the text of an error means "not so fast" and not "not so much".
pub fn is_rate_limit(code: i64, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let says = ["rate limit", "rate-limit", "ratelimit", "too many requests", "throttl", "compute units", "credits"]
        .iter()
        .any(|word| lower.contains(word))
        || (lower.contains("capacity") && lower.contains("exceed"))
        || (lower.contains("request") && lower.contains("per second"));
    code == 429 || says
}

/// A number of blocks that a refusal offers: the length of a range in brackets (`[0x1, 0x9]`) or after `range`
/// (`1000-2000`), else a number beside `block` or `range` that is not about results.
fn suggested_blocks(lower: &str) -> Option<u64> {
    bracketed_range(lower).or_else(|| dashed_range(lower)).or_else(|| limit_in_words(lower))
}

fn quantity(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn length(first: u64, last: u64) -> Option<u64> {
    last.checked_sub(first)?.checked_add(1)
}

fn bracketed_range(lower: &str) -> Option<u64> {
    lower.split('[').skip(1).find_map(|rest| {
        let (first, last) = rest.split(']').next()?.split_once(',')?;
        length(quantity(first.trim())?, quantity(last.trim())?)
    })
}

fn dashed_range(lower: &str) -> Option<u64> {
    let after = lower.split("range").nth(1)?;
    after.split(|c: char| c.is_whitespace() || c == ',' || c == '.').find_map(|word| {
        let (first, last) = word.split_once('-')?;
        length(quantity(first)?, quantity(last)?)
    })
}

fn limit_in_words(lower: &str) -> Option<u64> {
    let words: Vec<&str> = lower.split(|c: char| !(c.is_ascii_alphanumeric() || c == ',')).collect();
    (0..words.len()).find_map(|place| {
        let number = decimal(words[place])?;
        let near = |from: usize, to: usize| words.get(from..to.min(words.len())).unwrap_or_default();
        let about = |part: &[&str], stems: &[&str]| part.iter().any(|word| stems.iter().any(|s| word.starts_with(s)));
        let (before, after) = (near(place.saturating_sub(4), place), near(place + 1, place + 3));
        let blocks = about(after, &["block", "range"]) || about(before, &["block", "range"]);
        let results = about(after, &["result", "log", "event", "second", "ms", "mb", "byte"]);
        (blocks && !results && number > 0).then_some(number)
    })
}

fn decimal(word: &str) -> Option<u64> {
    let plain = word.replace(',', "");
    match plain.strip_suffix('k') {
        Some(thousands) => thousands.parse::<u64>().ok()?.checked_mul(1_000),
        None => plain.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn known_texts_are_understood() {
        let cases = [
            (
                "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit \
                 on the response size, or you can request any block range with a cap of 10K logs in the response. \
                 Based on your parameters, this block range should work: [0x0, 0x133]",
                RefusalKind::Results,
                Some(0x134),
            ),
            (
                "query returned more than 10000 results. Try with this block range [0x101A2F0, 0x101A30A].",
                RefusalKind::Results,
                Some(27),
            ),
            ("eth_getLogs is limited to a 10,000 range", RefusalKind::Blocks, Some(10_000)),
            ("exceed maximum block range: 5000", RefusalKind::Blocks, Some(5_000)),
            ("block range is too wide", RefusalKind::Blocks, None),
            ("query exceeds max results 20000, retry with the range 1000-1999", RefusalKind::Results, Some(1_000)),
            ("query exceeds max block range 100000", RefusalKind::Blocks, Some(100_000)),
            ("eth_getLogs range is too large, max is 1k blocks", RefusalKind::Results, Some(1_000)),
            ("query timeout exceeded", RefusalKind::Slow, None),
            ("please specify less number of addresses", RefusalKind::Addresses, None),
            ("computer says no", RefusalKind::Unknown, None),
            ("", RefusalKind::Unknown, None),
        ];
        for (text, kind, suggested) in cases {
            let read = Refusal::read(text);
            assert_eq!((read.kind, read.suggested), (kind, suggested), "{text}");
        }
    }

    #[test]
    fn rate_limits_are_not_refusals_of_a_range() {
        assert!(is_rate_limit(-32005, "Your app has exceeded its compute units per second capacity"));
        assert!(is_rate_limit(429, "slow down"));
        assert!(is_rate_limit(-32000, "Too many requests"));
        assert!(!is_rate_limit(-32005, "query returned more than 10000 results"));
        assert!(!is_rate_limit(-32000, "block range limit exceeded"));
    }
}
