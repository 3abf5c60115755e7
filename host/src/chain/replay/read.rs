//! Reads logs out of a recording, through the parser of the RPC source.

use std::marker::PhantomData;
use std::os::unix::fs::FileExt;

use serde::de::{self, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::chain::error::{ChainError, Result};
use crate::chain::filters::LogFilters;
use crate::chain::wire::{BadJson, BlockHashes, LogsOf, ParsedLogs, log_line};
use crate::model::{BlockRange, LogBatch};

use super::index::{Extent, Form, Recording};

/// Bytes read at once, unless one block is longer.
const PIECE: u64 = 4 << 20;
/// Bytes of logs that one call returns at most.
const LIMIT: usize = 512 << 20;

impl Recording {
    /// The logs of these parts that the filters want, in the order of the file.
    pub(super) fn read_logs(
        &self,
        parts: &[(usize, Extent)],
        filters: &LogFilters,
        range: BlockRange,
    ) -> Result<LogBatch> {
        let mut found = LogBatch::new(self.chain);
        let mut bytes = Vec::new();
        let mut rest = parts;
        while let Some(&(first, extent)) = rest.first() {
            let (piece, taken) = touching(rest);
            bytes.resize(piece.bytes as usize, 0);
            let line = Some(self.blocks[first].line);
            self.file.read_exact_at(&mut bytes, extent.offset).map_err(|error| self.error(line, error.to_string()))?;
            let parsed = self.parse(&bytes, &rest[..taken])?;
            found.append(&filters.select_owned(parsed));
            if found.bytes() > LIMIT {
                return Err(ChainError::TooMuch { chain: self.chain, range, limit: LIMIT });
            }
            rest = &rest[taken..];
        }
        Ok(found)
    }

    fn parse(&self, bytes: &[u8], parts: &[(usize, Extent)]) -> Result<LogBatch> {
        let hashes = match self.form {
            Form::PlainLogs => BlockHashes::DerivedWhereMissing,
            Form::Chain { .. } => BlockHashes::Required,
        };
        let mut logs = ParsedLogs::new(self.chain, hashes);
        let text = std::str::from_utf8(bytes).map_err(|error| self.error(None, format!("not UTF-8: {error}")))?;
        let mut at = 0;
        for &(place, extent) in parts {
            let block = &self.blocks[place];
            let bad = |reason: String| self.error(Some(block.line), reason);
            let before = logs.batch.len();
            let lines = &text[at..at + extent.bytes as usize];
            at += extent.bytes as usize;
            for line in lines.lines().filter(|line| !line.trim_ascii().is_empty()) {
                let read = match self.form {
                    Form::PlainLogs => log_line(line, &mut logs),
                    Form::Chain { .. } => block_line(line, &mut logs),
                };
                read.map_err(|error| bad(error.into()))?;
            }
            for index in before..logs.batch.len() {
                let log = logs.batch.get(index).block;
                if log.number.0 != block.number || log.hash != block.hash {
                    return Err(bad(format!("a log of block {log} stands with block {}", block.number)));
                }
            }
        }
        Ok(logs.batch)
    }
}

/// The parts from the front that lie one after the other in the file, as one, and how many they are.
fn touching(parts: &[(usize, Extent)]) -> (Extent, usize) {
    let mut whole = parts[0].1;
    let mut taken = 1;
    for (_, next) in &parts[1..] {
        if whole.offset + whole.bytes != next.offset || whole.bytes + next.bytes > PIECE {
            break;
        }
        whole.bytes += next.bytes;
        taken += 1;
    }
    (whole, taken)
}

/// The logs of a line `{"block":…,"logs":[…]}`.
fn block_line(line: &str, logs: &mut ParsedLogs) -> Result<(), BadJson> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    deserializer.deserialize_map(BlockLine(logs))?;
    deserializer.end()?;
    Ok(())
}

struct BlockLine<'a>(&'a mut ParsedLogs);

impl<'de> Visitor<'de> for BlockLine<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a block with its logs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if key == "logs" {
                if std::mem::replace(&mut seen, true) {
                    return Err(de::Error::duplicate_field("logs"));
                }
                map.next_value_seed(LogsOf(self.0))?;
            } else {
                map.next_value_seed(PhantomData::<IgnoredAny>)?;
            }
        }
        Ok(())
    }
}
