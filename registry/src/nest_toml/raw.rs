//! The file as it is spelled, before the rules that need more than one value.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;

use semver::Version;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::error::{NestTomlError, Place};
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
    pub docs: Vec<Entry<FilePath>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawContract {
    pub alias: Spanned<Alias>,
    pub address: Spanned<OneOrMany<ContractAddress>>,
    #[serde(default)]
    pub start_block: u64,
    pub abi: Option<Spanned<OneOrMany<FilePath>>>,
    pub events: Option<Spanned<Vec<Entry<EventName>>>>,
    #[serde(default)]
    pub anonymous: Vec<Entry<EventName>>,
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

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let rule: fn(&str) -> bool = $rule;
                if rule(text) { Ok($name(text.to_owned())) } else { Err(format!("'{}' {}", shown(text), $message)) }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
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

/// An entry of a list, or why it is none. Errors are kept until the place is known: those of a list's entries would be
/// reported at the list.
pub(super) struct Entry<T> {
    span: Range<usize>,
    value: Result<T, String>,
}

impl<T> Entry<T> {
    pub fn read(self, place: &Place<'_>) -> Result<Spanned<T>, NestTomlError> {
        match self.value {
            Ok(value) => Ok(Spanned::new(self.span, value)),
            Err(problem) => Err(place.error(self.span, problem)),
        }
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        Ok(Entry { span: text.span(), value: text.get_ref().parse().map_err(|error: T::Err| error.to_string()) })
    }
}

/// One value, or a list of them with the place of each.
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<Entry<T>>),
}

impl<T> OneOrMany<T> {
    /// Every value with its place in the text.
    pub fn spread(spanned: Spanned<Self>, place: &Place<'_>) -> Result<Vec<Spanned<T>>, NestTomlError> {
        let span = spanned.span();
        match spanned.into_inner() {
            OneOrMany::One(value) => Ok(vec![Spanned::new(span, value)]),
            OneOrMany::Many(values) => values.into_iter().map(|value| value.read(place)).collect(),
        }
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: FromStr<Err: fmt::Display>> Visitor<'de> for Either<T> {
            type Value = OneOrMany<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                text.parse().map(OneOrMany::One).map_err(E::custom)
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
