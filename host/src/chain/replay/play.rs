//! The course of a recording: which blocks are the chain at this moment.

use crate::chain::error::Result;
use crate::model::{BlockHash, BlockNumber, BlockRange, Header};

use super::index::{Event, Extent, Form, Recording};

/// A recording played up to some event.
pub(super) struct Timeline {
    /// Events played.
    at: usize,
    steps: u64,
    looked: bool,
    /// Places of the blocks that are the chain now, ascending and without gaps (plain logs: with gaps).
    chain: Vec<usize>,
}

impl Timeline {
    /// Checks the whole course, and plays up to the height at which the recording wants to start.
    pub fn new(recording: &Recording) -> Result<Self> {
        let mut timeline = Timeline { at: 0, steps: 0, looked: false, chain: Vec::new() };
        let Form::Chain { start, .. } = recording.form else {
            timeline.chain = (0..recording.blocks.len()).collect();
            timeline.at = recording.events.len();
            return Ok(timeline);
        };
        check(recording)?;
        timeline.step(recording);
        while timeline.height(recording) < start && timeline.step(recording) {}
        timeline.steps = 0;
        Ok(timeline)
    }

    fn height(&self, recording: &Recording) -> Option<u64> {
        self.chain.last().map(|&place| recording.blocks[place].number)
    }

    /// Steps made since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether nothing is left to play.
    pub fn finished(&self, recording: &Recording) -> bool {
        self.at >= recording.events.len()
    }

    /// A look at the head: the first one sees the start, each later one steps.
    pub fn look(&mut self, recording: &Recording) {
        if self.looked {
            self.step(recording);
        }
        self.looked = true;
    }

    /// Plays one block, or a reorg with the blocks that replace what it took. False at the end.
    pub fn step(&mut self, recording: &Recording) -> bool {
        let before = self.height(recording);
        let mut reorg = false;
        loop {
            match recording.events.get(self.at) {
                None => break,
                Some(Event::Reorg { .. }) if reorg => break,
                Some(Event::Reorg { depth, .. }) => {
                    let left = self.chain.len().saturating_sub(*depth as usize);
                    self.chain.truncate(left);
                    reorg = true;
                }
                Some(Event::Block(place)) => self.chain.push(*place),
            }
            self.at += 1;
            if self.height(recording) > before {
                break;
            }
        }
        let moved = reorg || self.height(recording) > before;
        self.steps += u64::from(moved);
        moved
    }

    pub fn head(&self, recording: &Recording) -> Option<Header> {
        self.chain.last().map(|&place| recording.header(place))
    }

    /// Place in `chain` of the block of this height.
    fn find(&self, recording: &Recording, number: u64) -> Result<usize, usize> {
        self.chain.binary_search_by_key(&number, |&place| recording.blocks[place].number)
    }

    pub fn header(&self, recording: &Recording, number: BlockNumber) -> Option<Header> {
        if recording.form == Form::PlainLogs {
            return recording.plain_header(number.0);
        }
        let at = self.find(recording, number.0).ok()?;
        Some(recording.header(self.chain[at]))
    }

    pub fn header_by_hash(&self, recording: &Recording, hash: BlockHash) -> Option<Header> {
        let at = self.chain.iter().rfind(|&&place| recording.blocks[place].hash == hash)?;
        Some(recording.header(*at))
    }

    /// Where in the file the blocks of the range stand, each with its place; pieces that touch are still apart.
    pub fn parts(&self, recording: &Recording, range: BlockRange) -> Vec<(usize, Extent)> {
        let from = self.find(recording, range.first.0).unwrap_or_else(|place| place);
        let to = self.find(recording, range.last.0).map_or_else(|place| place, |place| place + 1);
        let places = self.chain.get(from..to).unwrap_or_default();
        places.iter().flat_map(|&place| recording.blocks[place].extents.iter().map(move |e| (place, *e))).collect()
    }
}

/// Whether every block follows the one before and no reorg goes deeper than the chain.
fn check(recording: &Recording) -> Result<()> {
    let mut chain: Vec<usize> = Vec::new();
    for event in &recording.events {
        match *event {
            Event::Reorg { depth, line } => {
                let left = (chain.len() as u64).checked_sub(depth).filter(|left| *left > 0);
                let left = left.ok_or_else(|| recording.error(Some(line), "a reorg down to the first block"))?;
                chain.truncate(left as usize);
            }
            Event::Block(place) => {
                let block = &recording.blocks[place];
                let follows = chain
                    .last()
                    .map(|&before| &recording.blocks[before])
                    .is_none_or(|before| block.number == before.number + 1 && block.parent == Some(before.hash));
                if !follows {
                    let reason = format!("block {} does not follow the block before", block.number);
                    return Err(recording.error(Some(block.line), reason));
                }
                chain.push(place);
            }
        }
    }
    Ok(())
}
