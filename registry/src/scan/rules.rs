//! What credentials look like outside URLs.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::{Suspect, is_random, masked};

pub(super) struct Hit {
    pub what: Suspect,
    pub masked: String,
}

pub(super) struct Rules {
    /// Known by their form alone.
    plain: Vec<(Suspect, Regex)>,
    header: Regex,
    named: Regex,
    hex_key: Regex,
    words: Regex,
}

pub(super) fn rules() -> &'static Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(Rules::new);
    &RULES
}

/// The patterns are constants.
#[allow(clippy::expect_used)]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}

impl Rules {
    fn new() -> Self {
        let service = |pattern| (Suspect::ServiceToken, regex(pattern));
        Rules {
            plain: vec![
                (Suspect::PemKey, regex(r"(?<key>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY)")),
                (Suspect::AwsKey, regex(r"(?:^|[^A-Z0-9])(?<key>(?:AKIA|ASIA)[A-Z0-9]{16})(?:$|[^A-Z0-9])")),
                // GitHub, GitLab, Slack, Google, Stripe, npm, AI services, and tokens that carry their claims.
                service(r"(?:^|[^A-Za-z0-9_])(?<key>gh[pousr]_[A-Za-z0-9]{36,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>github_pat_[A-Za-z0-9_]{22,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>glpat-[A-Za-z0-9_-]{20,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>xox[abeoprs]-[A-Za-z0-9-]{10,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>AIza[A-Za-z0-9_-]{35})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>[sr]k_(?:live|test)_[A-Za-z0-9]{16,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>npm_[A-Za-z0-9]{36})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>sk-(?:ant-|proj-)?[A-Za-z0-9_-]{0,12}[0-9][A-Za-z0-9_-]{19,})"),
                service(r"(?:^|[^A-Za-z0-9_])(?<key>eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
            ],
            header: regex(r"(?i)\b(?:bearer|basic)\s+(?<key>[A-Za-z0-9._~+/=-]{16,})"),
            named: regex(concat!(
                r#"(?i)(?<name>[A-Za-z0-9_.-]*(?:api[_-]?key|apikey|access[_-]?key|secret|token|passw(?:or)?d|passphrase|"#,
                r#"credential|project[_-]?id)[A-Za-z0-9_.-]*)["']?\s*(?:=>|:=|[:=])\s*["']?(?<key>[A-Za-z0-9._~+/=!@#%^&*-]{12,})"#
            )),
            hex_key: regex(r"(?:^|[^0-9A-Za-z])(?<key>(?:0x)?[0-9a-fA-F]{64})(?:$|[^0-9A-Za-z])"),
            words: regex(
                r#"(?i)(?:mnemonic|seed[ _-]?phrase|recovery[ _-]?phrase)[^a-z]{0,10}(?<key>(?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})\b"#,
            ),
        }
    }

    pub fn in_line(&self, line: &str, before: &str) -> Vec<Hit> {
        let mut hits = self.unmistakable(line);
        for key in all(&self.header, line).filter(|key| is_random(key, 16)) {
            hits.push(hit(Suspect::HeaderToken, key));
        }
        for key in all(&self.words, line) {
            hits.push(hit(Suspect::PrivateKey, key));
        }
        for found in self.hex_key.captures_iter(line) {
            let Some(key) = found.name("key") else { continue };
            let context = &line[..key.start()];
            let context = if context.bytes().any(|b| b.is_ascii_alphabetic()) { context } else { before };
            if calls_it_private(context) && is_random(key.as_str(), 64) {
                hits.push(hit(Suspect::PrivateKey, key.as_str()));
            }
        }
        hits.extend(self.named.captures_iter(line).filter_map(|found| named(&found)));
        hits
    }

    /// What can be told from its form alone, wherever it stands.
    pub fn unmistakable(&self, text: &str) -> Vec<Hit> {
        let hits = self.plain.iter().flat_map(|(what, regex)| all(regex, text).map(|key| hit(*what, key)));
        hits.collect()
    }
}

fn all<'a>(regex: &'a Regex, text: &'a str) -> impl Iterator<Item = &'a str> {
    regex.captures_iter(text).filter_map(|found| found.name("key")).map(|key| key.as_str())
}

fn hit(what: Suspect, key: &str) -> Hit {
    Hit { what, masked: masked(key) }
}

/// Whether the words before a value call it a private key. The nearest ones count.
fn calls_it_private(context: &str) -> bool {
    let near: String = context.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
    let joined: String = near.to_ascii_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let names =
        ["privatekey", "privkey", "secretkey", "signingkey", "signerkey", "deployerkey", "walletkey", "ownerkey"];
    let word = near.to_ascii_lowercase();
    names.iter().any(|name| joined.contains(name))
        || word.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "pk" | "priv" | "private"))
        // `secretHash` is a hash.
        || joined.ends_with("secret")
}

/// A value behind a name that calls it a secret, if the value is made as secrets are.
fn named(found: &Captures<'_>) -> Option<Hit> {
    let (name, key) = (found.name("name")?.as_str().to_ascii_lowercase(), found.name("key")?.as_str());
    // In this trade a token is mostly a contract, and a contract's address is public.
    let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let address = key.strip_prefix("0x").is_some_and(|digits| is_hex(digits) && digits.len() != 64);
    let of_tokens = name.contains("token") && !name.ends_with("token");
    if address || of_tokens || name.ends_with("hash") || key.contains("://") || is_words(key) || !is_random(key, 12) {
        return None;
    }
    let what = if name.contains("aws") { Suspect::AwsKey } else { Suspect::NamedSecret };
    Some(hit(what, key))
}

/// Words and numbers joined by punctuation, as identifiers, paths and versions are: no part of them is random.
pub(super) fn is_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).all(|part| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let digits = part.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
        letters + digits == part.len() && part.len() < 16 && digits <= 4
    })
}
