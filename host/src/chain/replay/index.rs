//! The index of a recording: which block stands where in the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::chain::error::{ChainError, Result};
use crate::chain::wire::{HashText, QuantityText, RawHeader, derived_block_hash};
use crate::model::{BlockHash, BlockNumber, ChainId, Header};

/// The only known version of the chain form.
const FORMAT: &str = "nuthatch-chain/1";
/// Bytes of JSON that one read should not exceed by much.
const READ: u64 = 8 << 20;

/// Which of the two forms a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Chain { start: Option<u64>, finality_depth: Option<u64> },
    PlainLogs,
}

/// Bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub offset: u64,
    pub bytes: u64,
}

/// One recorded block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub number: u64,
    pub hash: BlockHash,
    /// Derived from the block before in a file of plain logs.
    pub parent: Option<BlockHash>,
    pub timestamp: u64,
    pub line: u64,
    /// The block's line, or the lines of its logs.
    pub extents: Vec<Extent>,
}

/// What happens in the file, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The block at this place of [`Recording::blocks`].
    Block(usize),
    Reorg {
        depth: u64,
        line: u64,
    },
}

pub(super) struct Recording {
    pub path: PathBuf,
    pub file: File,
    pub chain: ChainId,
    pub form: Form,
    /// In the order of the file; by number in a file of plain logs.
    pub blocks: Vec<Block>,
    pub events: Vec<Event>,
    bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    format: Option<String>,
    chain_id: Option<QuantityText>,
    start: Option<u64>,
    finality_depth: Option<u64>,
    block: Option<RawHeader>,
    #[serde(rename = "logs")]
    _logs: Option<IgnoredAny>,
    reorg: Option<Reorg>,
    block_number: Option<QuantityText>,
    block_hash: Option<HashText>,
    block_timestamp: Option<QuantityText>,
    topics: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Reorg {
    depth: u64,
}

impl Recording {
    pub fn open(path: &Path, chain: Option<ChainId>) -> Result<Self> {
        let error = |line, reason: String| ChainError::Replay { path: path.display().to_string(), line, reason };
        let file = File::open(path).map_err(|e| error(None, e.to_string()))?;
        let mut scan = Scan { chain, form: None, blocks: Vec::new(), events: Vec::new(), by_number: BTreeMap::new() };
        let mut reader = BufReader::with_capacity(1 << 20, &file);
        let mut text = Vec::new();
        let (mut offset, mut number) = (0, 0);
        loop {
            text.clear();
            let bytes = reader.read_until(b'\n', &mut text).map_err(|e| error(None, e.to_string()))? as u64;
            if bytes == 0 {
                break;
            }
            number += 1;
            if !text.trim_ascii().is_empty() {
                let line = serde_json::from_slice(&text).map_err(|e| error(Some(number), e.to_string()))?;
                scan.take(line, number, Extent { offset, bytes }).map_err(|reason| error(Some(number), reason))?;
            }
            offset += bytes;
        }
        let form = scan.form.ok_or_else(|| error(None, "the file has no line".into()))?;
        let chain = scan.chain.ok_or_else(|| error(None, "no line says which chainId".into()))?;
        let (mut blocks, mut events) = (scan.blocks, scan.events);
        if form == Form::PlainLogs {
            blocks = scan.by_number.into_values().collect();
            events = (0..blocks.len()).map(Event::Block).collect();
        }
        Ok(Recording { path: path.to_owned(), file, chain, form, blocks, events, bytes: offset })
    }

    pub fn error(&self, line: Option<u64>, reason: impl Into<String>) -> ChainError {
        ChainError::Replay { path: self.path.display().to_string(), line, reason: reason.into() }
    }

    /// The header of a recorded block.
    pub fn header(&self, place: usize) -> Header {
        let block = &self.blocks[place];
        Header {
            number: BlockNumber(block.number),
            hash: block.hash,
            parent_hash: block.parent.unwrap_or_else(|| self.plain_hash(block.number.wrapping_sub(1))),
            timestamp: block.timestamp,
            logs_bloom: None,
        }
    }

    /// The header of any block of a file of plain logs.
    pub fn plain_header(&self, number: u64) -> Option<Header> {
        let last = self.blocks.last()?;
        if number > last.number {
            return None;
        }
        let after = self.blocks.partition_point(|block| block.number <= number);
        let before = after.checked_sub(1).map(|place| &self.blocks[place]);
        Some(Header {
            number: BlockNumber(number),
            hash: self.plain_hash(number),
            parent_hash: self.plain_hash(number.wrapping_sub(1)),
            timestamp: before.map_or(0, |block| block.timestamp),
            logs_bloom: None,
        })
    }

    fn plain_hash(&self, number: u64) -> BlockHash {
        match self.blocks.binary_search_by_key(&number, |block| block.number) {
            Ok(place) => self.blocks[place].hash,
            Err(_) => derived_block_hash(number),
        }
    }

    /// How many blocks make a sensible read.
    pub fn blocks_per_read(&self) -> u64 {
        let (Some(first), Some(last)) = (self.blocks.first(), self.blocks.last()) else { return 1 };
        let blocks = last.number.saturating_sub(first.number) + 1;
        (u128::from(blocks) * u128::from(READ) / u128::from(self.bytes.max(1))).clamp(1, u128::from(blocks)) as u64
    }
}

/// The form of a file by its first line.
fn form_of(line: &Line) -> Result<Form, String> {
    match &line.format {
        Some(format) if format == FORMAT => Ok(Form::Chain { start: line.start, finality_depth: line.finality_depth }),
        Some(format) => Err(format!("format '{format}' is not known; {FORMAT} is")),
        None if line.topics.is_some() => Ok(Form::PlainLogs),
        None => Err(format!("neither a first line with \"format\":\"{FORMAT}\" nor a log")),
    }
}

struct Scan {
    chain: Option<ChainId>,
    form: Option<Form>,
    blocks: Vec<Block>,
    events: Vec<Event>,
    by_number: BTreeMap<u64, Block>,
}

impl Scan {
    fn take(&mut self, line: Line, number: u64, extent: Extent) -> Result<(), String> {
        if let Some(QuantityText(found)) = line.chain_id {
            let chain = *self.chain.get_or_insert(ChainId(found));
            if chain.0 != found {
                return Err(format!("this line is of chain {found}, and chain {chain} is wanted"));
            }
        }
        let form = match self.form {
            Some(form) => form,
            None => *self.form.insert(form_of(&line)?),
        };
        match form {
            Form::PlainLogs => self.take_log(line, number, extent),
            Form::Chain { .. } => self.take_event(line, number, extent),
        }
    }

    fn take_event(&mut self, line: Line, number: u64, extent: Extent) -> Result<(), String> {
        match line {
            Line { block: Some(raw), .. } => {
                let header = raw.into_header()?;
                self.events.push(Event::Block(self.blocks.len()));
                self.blocks.push(Block {
                    number: header.number.0,
                    hash: header.hash,
                    parent: Some(header.parent_hash),
                    timestamp: header.timestamp,
                    line: number,
                    extents: vec![extent],
                });
                Ok(())
            }
            Line { reorg: Some(Reorg { depth }), .. } => {
                self.events.push(Event::Reorg { depth, line: number });
                Ok(())
            }
            Line { format: Some(_), .. } if self.events.is_empty() => Ok(()),
            _ => Err("neither a block nor a reorg".into()),
        }
    }

    fn take_log(&mut self, line: Line, number: u64, extent: Extent) -> Result<(), String> {
        let Some(QuantityText(block)) = line.block_number else { return Err("a log without blockNumber".into()) };
        let hash = line.block_hash.map_or_else(|| derived_block_hash(block), |hash| hash.0);
        let time = line.block_timestamp.map_or(0, |time| time.0);
        let fresh = || Block { number: block, hash, parent: None, timestamp: time, line: number, extents: Vec::new() };
        let there = self.by_number.entry(block).or_insert_with(fresh);
        if there.hash != hash {
            return Err(format!("block {block} has another hash here than in line {}", there.line));
        }
        if there.timestamp == 0 {
            there.timestamp = time;
        }
        match there.extents.last_mut() {
            Some(last) if last.offset + last.bytes == extent.offset => last.bytes += extent.bytes,
            _ => there.extents.push(extent),
        }
        Ok(())
    }
}
