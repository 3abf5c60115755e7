//! Logs, from JSON straight into columns.

use std::fmt;

use alloy_primitives::keccak256;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::model::{B256, BlockHash, ChainId, LogBatch};

use super::hex::{Append, FixedInto, Quantity};
use super::{BadJson, Reply, reply};

/// What becomes of a log whose `blockHash` is null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockHashes {
    /// It is an error: a node that answers for mined blocks knows their hashes.
    Required,
    /// The hash is [`derived_block_hash`]: recordings that never had any.
    DerivedWhereMissing,
}

/// What a log of a token takes as JSON; only used to size columns beforehand.
const BYTES_A_LOG: usize = 600;

/// The hash that stands in where a recording has none: keccak-256 of `blk` and the number in decimal.
pub fn derived_block_hash(number: u64) -> BlockHash {
    keccak256(format!("blk{number}"))
}

/// Parsed logs, in the order of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedLogs {
    /// Logs. Timestamps that the node did not give are 0.
    pub batch: LogBatch,
    /// Logs left out because they were marked `removed`.
    pub removed: u64,
    hashes: BlockHashes,
}

impl ParsedLogs {
    /// No logs yet.
    pub fn new(chain: ChainId, hashes: BlockHashes) -> Self {
        ParsedLogs { batch: LogBatch::new(chain), removed: 0, hashes }
    }
}

/// Parses the answer to `eth_getLogs`.
pub(in crate::chain) fn parse_logs(body: &[u8], chain: ChainId) -> Result<Reply<ParsedLogs>, BadJson> {
    let mut logs = ParsedLogs::new(chain, BlockHashes::Required);
    logs.batch.reserve(body.len() / BYTES_A_LOG);
    Ok(match reply(body, LogsOf(&mut logs))? {
        Reply::Result(()) => Reply::Result(logs),
        Reply::Error(error) => Reply::Error(error),
    })
}

/// Parses one log object that stands alone, such as a line of a recording, and appends it.
pub(in crate::chain) fn log_line(line: &str, logs: &mut ParsedLogs) -> Result<(), BadJson> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    OneLog(logs).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(())
}

/// Reads an array of log objects and appends them.
pub(in crate::chain) struct LogsOf<'a>(pub &'a mut ParsedLogs);

impl<'de> DeserializeSeed<'de> for LogsOf<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for LogsOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of logs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(OneLog(self.0))?.is_some() {}
        Ok(())
    }
}

struct OneLog<'a>(&'a mut ParsedLogs);

impl<'de> DeserializeSeed<'de> for OneLog<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The keys of a log object. The discriminants are bits of what was seen.
#[derive(Clone, Copy)]
enum Key {
    Address = 1,
    Topics = 2,
    Data = 4,
    BlockNumber = 8,
    BlockHash = 16,
    TxHash = 32,
    TxIndex = 64,
    LogIndex = 128,
    Timestamp = 256,
    Removed = 512,
    Other = 0,
}

const REQUIRED: [(Key, &str); 8] = [
    (Key::Address, "address"),
    (Key::Topics, "topics"),
    (Key::Data, "data"),
    (Key::BlockNumber, "blockNumber"),
    (Key::BlockHash, "blockHash"),
    (Key::TxHash, "transactionHash"),
    (Key::TxIndex, "transactionIndex"),
    (Key::LogIndex, "logIndex"),
];

impl<'de> Visitor<'de> for OneLog<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let logs = self.0;
        let index = logs.batch.len();
        let (topics_before, data_before) = (logs.batch.topics.len(), logs.batch.data.len());
        let (mut address, mut block_hash, mut tx_hash) = ([0; 20], [0; 32], [0; 32]);
        let (mut number, mut tx_index, mut log_index) = (None, None, None);
        let (mut timestamp, mut removed) = (None, false);
        let (mut seen, mut has_hash) = (0_u32, false);
        while let Some(key) = map.next_key::<Key>()? {
            if seen & key as u32 != 0 {
                return Err(de::Error::custom(format_args!("log {index} has a key twice")));
            }
            seen |= key as u32;
            match key {
                Key::Address => present(map.next_value_seed(FixedInto(&mut address))?, "address")?,
                Key::Topics => map.next_value_seed(Topics(&mut logs.batch.topics))?,
                Key::Data => map.next_value_seed(Append(&mut logs.batch.data))?,
                Key::BlockNumber => number = map.next_value_seed(Quantity)?,
                Key::BlockHash => has_hash = map.next_value_seed(FixedInto(&mut block_hash))?,
                Key::TxHash => present(map.next_value_seed(FixedInto(&mut tx_hash))?, "transactionHash")?,
                Key::TxIndex => tx_index = map.next_value_seed(Quantity)?,
                Key::LogIndex => log_index = map.next_value_seed(Quantity)?,
                Key::Timestamp => timestamp = map.next_value_seed(Quantity)?,
                Key::Removed => removed = map.next_value::<Option<bool>>()?.unwrap_or_default(),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some((_, name)) = REQUIRED.iter().find(|(key, _)| seen & *key as u32 == 0) {
            return Err(de::Error::missing_field(name));
        }
        if removed {
            logs.batch.topics.truncate(topics_before);
            logs.batch.data.truncate(data_before);
            logs.removed += 1;
            return Ok(());
        }
        let number = number.ok_or_else(|| null("blockNumber"))?;
        let block_hash = match (has_hash, logs.hashes) {
            (true, _) => B256::from(block_hash),
            (false, BlockHashes::DerivedWhereMissing) => derived_block_hash(number),
            (false, BlockHashes::Required) => return Err(null("blockHash")),
        };
        let tx_index = tx_index.ok_or_else(|| null("transactionIndex"))?;
        let batch = &mut logs.batch;
        let topics = u32::try_from(batch.topics.len()).map_err(|_| too_many::<A>("topics"))?;
        let data = u32::try_from(batch.data.len()).map_err(|_| too_many::<A>("bytes of data"))?;
        batch.log_index.push(log_index.ok_or_else(|| null("logIndex"))?);
        batch.tx_index.push(u32::try_from(tx_index).map_err(|_| de::Error::custom("transactionIndex above 32 bits"))?);
        batch.topic_offsets.push(topics);
        batch.data_offsets.push(data);
        batch.block_number.push(number);
        batch.block_hash.push(block_hash);
        batch.block_timestamp.push(timestamp.unwrap_or_default());
        batch.tx_hash.push(tx_hash.into());
        batch.address.push(address.into());
        Ok(())
    }
}

fn present<E: de::Error>(present: bool, name: &str) -> Result<(), E> {
    if present { Ok(()) } else { Err(null(name)) }
}

fn null<E: de::Error>(name: &str) -> E {
    E::custom(format_args!("{name} is null, as in a log of a block not mined yet"))
}

fn too_many<'de, A: MapAccess<'de>>(what: &str) -> A::Error {
    de::Error::custom(format_args!("more {what} than one batch holds"))
}

struct Topics<'a>(&'a mut Vec<B256>);

impl<'de> DeserializeSeed<'de> for Topics<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Topics<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of topics")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut count = 0;
        let mut topic = [0; 32];
        while let Some(there) = seq.next_element_seed(FixedInto(&mut topic))? {
            count += 1;
            if count > 4 {
                return Err(de::Error::custom("more than four topics"));
            }
            present(there, "a topic")?;
            self.0.push(topic.into());
        }
        Ok(())
    }
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
                    "address" => Key::Address,
                    "topics" => Key::Topics,
                    "data" => Key::Data,
                    "blockNumber" => Key::BlockNumber,
                    "blockHash" => Key::BlockHash,
                    "transactionHash" => Key::TxHash,
                    "transactionIndex" => Key::TxIndex,
                    "logIndex" => Key::LogIndex,
                    "blockTimestamp" => Key::Timestamp,
                    "removed" => Key::Removed,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}
