//! The file as it is spelled, before the rules that need more than one value.

use std::fmt;
use std::marker::PhantomData;

use semver::Version;
use serde::de::value::StrDeserializer;
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::names::{is_alias, is_relation_name, is_secret_name, shown};
use crate::{Chain, ContractAddress, FilePath, FolderPath, MAX_DOC, MAX_VERSION, NestName};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNestToml {
    pub nest: RawNest,
    #[serde(default)]
    pub contracts: Vec<Spanned<RawContract>>,
    pub code: Option<RawCode>,
    #[serde(default)]
    pub views: Vec<RawView>,
    #[serde(default)]
    pub secrets: Vec<RawSecret>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNest {
    pub name: NestName,
    #[serde(deserialize_with = "version")]
    pub version: Version,
    pub chain: Chain,
    #[serde(default)]
    pub docs: Vec<Spanned<FilePath>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawContract {
    pub alias: Spanned<Alias>,
    pub address: Spanned<OneOrMany<ContractAddress>>,
    #[serde(default)]
    pub start_block: u64,
    pub abi: Option<Spanned<OneOrMany<FilePath>>>,
    pub events: Option<Spanned<Vec<Spanned<EventName>>>>,
    #[serde(default)]
    pub anonymous: Vec<Spanned<EventName>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCode {
    #[serde(rename = "crate")]
    pub folder: FolderPath,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawView {
    pub name: Spanned<ViewName>,
    pub sql: FilePath,
    #[serde(default)]
    pub doc: Prose,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSecret {
    pub name: Spanned<SecretName>,
    pub purpose: Prose,
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
    let text = String::deserialize(deserializer)?;
    let fits = |version: &Version| version.build.is_empty() && text.len() <= MAX_VERSION;
    text.parse().ok().filter(fits).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "'{}' cannot be a nest's version; write three numbers such as \"1.0.0\", optionally with a pre-release as \
             in \"1.0.0-rc.1\", at most {MAX_VERSION} characters",
            shown(&text)
        ))
    })
}

macro_rules! text_type {
    ($name:ident, $rule:expr, $message:expr) => {
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) struct $name(pub String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let rule: fn(&str) -> bool = $rule;
                if rule(&text) {
                    Ok($name(text))
                } else {
                    Err(serde::de::Error::custom(format!("'{}' {}", shown(&text), $message)))
                }
            }
        }
    };
}

text_type!(
    Alias,
    is_alias,
    "cannot be an alias; it begins the names of the contract's tables, so write a lower-case letter, then up to 62 \
     lower-case letters, digits and single underscores"
);
text_type!(
    ViewName,
    is_relation_name,
    "cannot name a view; write a lower-case letter, then up to 127 lower-case letters, digits and underscores"
);
text_type!(
    SecretName,
    is_secret_name,
    "cannot name a secret; write a lower-case letter, then up to 62 lower-case letters, digits and underscores"
);
text_type!(
    EventName,
    |text| {
        let mut bytes = text.bytes();
        let first = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b == b'$';
        text.len() <= 256
            && bytes.next().is_some_and(first)
            && bytes.all(|b| first(b) || b.is_ascii_digit() || b"(),[]".contains(&b))
    },
    "is not an event; write its name as in the ABI, such as \"Transfer\", or its signature, such as \
     \"Transfer(address,address,uint256)\""
);
text_type!(
    Prose,
    |text| text.len() <= MAX_DOC && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'),
    "cannot be used as a text for people; write at most 4096 bytes without control characters"
);

/// One value, or a list of them with the place of each.
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<Spanned<T>>),
}

impl<T> OneOrMany<T> {
    /// Every value with its place in the text.
    pub fn spread(spanned: Spanned<Self>) -> Vec<Spanned<T>> {
        let span = spanned.span();
        match spanned.into_inner() {
            OneOrMany::One(value) => vec![Spanned::new(span, value)],
            OneOrMany::Many(values) => values,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let value: StrDeserializer<'_, E> = text.into_deserializer();
                T::deserialize(value).map(OneOrMany::One)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = items.next_element()? {
                    values.push(value);
                }
                Ok(OneOrMany::Many(values))
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}
