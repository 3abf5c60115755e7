//! The JSON-RPC envelope: a result, or an error.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::BadJson;

/// What an endpoint said instead of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// JSON-RPC code, 0 where there is none.
    pub code: i64,
    /// Its words, `data` included where that is text.
    pub message: String,
}

/// One answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply<T> {
    /// The result.
    Result(T),
    /// The error.
    Error(RpcError),
}

#[derive(serde::Deserialize)]
struct ErrorObject {
    #[serde(default, deserialize_with = "lenient_code")]
    code: i64,
    #[serde(default)]
    message: Option<serde_json::Value>,
    #[serde(default)]
    data: Option<serde_json::Value>,
}

fn lenient_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(serde_json::Value::deserialize(deserializer)?.as_i64().unwrap_or_default())
}

impl From<serde_json::Value> for RpcError {
    fn from(value: serde_json::Value) -> Self {
        let text = |value: &Option<serde_json::Value>| value.as_ref().and_then(|v| v.as_str()).map(str::to_owned);
        match serde_json::from_value::<ErrorObject>(value.clone()) {
            Ok(object) => {
                let parts = [text(&object.message), text(&object.data)];
                let message = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
                RpcError { code: object.code, message }
            }
            Err(_) => RpcError { code: 0, message: value.as_str().map_or_else(|| value.to_string(), str::to_owned) },
        }
    }
}

/// Parses one answer; the seed reads `result`. A `result` of null goes to the seed as well.
pub(in crate::chain) fn reply<'de, S: DeserializeSeed<'de>>(
    body: &'de [u8],
    seed: S,
) -> Result<Reply<S::Value>, BadJson> {
    // Checked once as a whole, which is faster than string by string.
    let text = std::str::from_utf8(body).map_err(|error| BadJson(format!("the body is not UTF-8: {error}")))?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = deserializer.deserialize_map(Envelope { seed, lifetime: PhantomData })?;
    deserializer.end()?;
    Ok(found)
}

struct Envelope<'de, S> {
    seed: S,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for Envelope<'de, S> {
    type Value = Reply<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC answer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut seed = Some(self.seed);
        let (mut result, mut error) = (None, None);
        // Some nodes send `"result": null` beside an error, whichever comes first.
        let mut null_result = false;
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Result => match (map.next_value_seed(NullOr(&mut seed))?, null_result) {
                    (Some(value), false) if result.is_none() => result = Some(value),
                    (None, false) if result.is_none() => null_result = true,
                    _ => return Err(de::Error::duplicate_field("result")),
                },
                Key::Error => error = map.next_value::<Option<serde_json::Value>>()?,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (error, result) {
            (Some(error), _) => Ok(Reply::Error(error.into())),
            (None, Some(value)) => Ok(Reply::Result(value)),
            (None, None) if null_result => match seed.take() {
                Some(seed) => seed.deserialize(de::value::UnitDeserializer::new()).map(Reply::Result),
                None => Err(de::Error::duplicate_field("result")),
            },
            (None, None) => Err(de::Error::custom("neither result nor error")),
        }
    }
}

enum Key {
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: de::Error>(self, key: &str) -> Result<Key, E> {
                Ok(match key {
                    "result" => Key::Result,
                    "error" => Key::Error,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

/// Uses the seed up unless the value is null.
struct NullOr<'a, S>(&'a mut Option<S>);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for NullOr<'_, S> {
    type Value = Option<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for NullOr<'_, S> {
    type Value = Option<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result")
    }

    fn visit_none<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        match self.0.take() {
            Some(seed) => seed.deserialize(deserializer).map(Some),
            None => Err(de::Error::duplicate_field("result")),
        }
    }
}

/// The answer to a batch.
pub(in crate::chain) enum BatchReply<'a> {
    /// Answers by the id of their request.
    Each(HashMap<u64, Reply<&'a RawValue>>),
    /// One error for the whole batch.
    Refused(RpcError),
}

#[derive(serde::Deserialize)]
struct BatchItem<'a> {
    id: Option<u64>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

/// Parses the answer to a batch of requests with numeric ids.
pub(in crate::chain) fn batch(body: &[u8]) -> Result<BatchReply<'_>, BadJson> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'[') {
        return match reply(body, PhantomData::<IgnoredAny>)? {
            Reply::Error(error) => Ok(BatchReply::Refused(error)),
            Reply::Result(_) => Err(BadJson("one result where a batch was asked for".into())),
        };
    }
    let items: Vec<BatchItem<'_>> = serde_json::from_slice(body)?;
    let mut each = HashMap::with_capacity(items.len());
    for item in items {
        let Some(id) = item.id else {
            let error = item.error.ok_or_else(|| BadJson("an answer without id in a batch".into()))?;
            return Ok(BatchReply::Refused(error.into()));
        };
        let reply = match (item.error, item.result) {
            (Some(error), _) => Reply::Error(error.into()),
            (None, Some(result)) => Reply::Result(result),
            // `Option` reads a null result as none.
            (None, None) => Reply::Result(RawValue::NULL),
        };
        if each.insert(id, reply).is_some() {
            return Err(BadJson(format!("two answers with id {id} in a batch")));
        }
    }
    Ok(BatchReply::Each(each))
}
