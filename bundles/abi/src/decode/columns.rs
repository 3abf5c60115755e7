//! The columns of one parameter, filled in one tight loop over its rows.

use nuthatch_sdk::columns::{Bits, Bytes, Fixed, S64s, Text, U64s};
use nuthatch_sdk::{Column, Logs};

use super::body::{Walk, budget};
use super::check::Check;
use super::fault::Wrong;
use super::json::JsonSink;
use super::text;
use crate::plan::{Layout, Param};
use crate::types::Word;

/// Where a parameter lies in its log.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The topic of this number.
    Topic(usize),
    /// The data at this byte.
    Data(usize),
}

/// A column in the making.
pub enum Builder {
    /// `bool`
    Bits(Bits),
    /// Narrow unsigned integers.
    U64s(U64s),
    /// Narrow signed integers.
    S64s(S64s),
    /// Wide integers, addresses, fixed bytes.
    Fixed(Fixed),
    /// `bytes`
    Bytes(Bytes),
    /// `string` and `json`
    Text(Text),
}

impl Builder {
    /// Drops the rows that are not kept.
    pub fn retain(&mut self, keep: &[bool]) {
        match self {
            Builder::Bits(column) => column.retain(keep),
            Builder::U64s(column) => column.retain(keep),
            Builder::S64s(column) => column.retain(keep),
            Builder::Fixed(column) => column.retain(keep),
            Builder::Bytes(column) => column.retain(keep),
            Builder::Text(column) => column.retain(keep),
        }
    }

    /// The column.
    pub fn finish(self) -> Column {
        match self {
            Builder::Bits(column) => column.finish(),
            Builder::U64s(column) => column.finish(),
            Builder::S64s(column) => column.finish(),
            Builder::Fixed(column) => column.finish(),
            Builder::Bytes(column) => column.finish(),
            Builder::Text(column) => column.finish(),
        }
    }
}

/// A log that makes a row, and where its topics and data begin in those of the batch.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Place in the batch.
    pub log: u32,
    /// First topic.
    pub topics: u32,
    /// First byte of data.
    pub data: u32,
}

impl Source {
    /// The log at this place.
    #[inline]
    pub fn new(logs: &Logs<'_>, index: usize) -> Self {
        Source { log: index as u32, topics: logs.topics_start(index), data: logs.data_start(index) }
    }
}

/// A row, the number of a parameter, and what is wrong with it.
pub type RowFault = (usize, usize, Wrong);

/// The rows of an event, and which of them have turned out to be wrong.
pub struct Rows<'a> {
    logs: &'a Logs<'a>,
    source: &'a [Source],
    /// Words that the walks over each row's data may still read; empty before the first walk.
    budgets: Vec<usize>,
    faults: Vec<RowFault>,
}

impl<'a> Rows<'a> {
    /// Of these logs, whose topics and heads fit the event.
    pub fn new(logs: &'a Logs<'a>, source: &'a [Source]) -> Self {
        Rows { logs, source, budgets: Vec::new(), faults: Vec::new() }
    }

    /// The first fault of each row that has any, in order of rows.
    pub fn faults(mut self) -> Vec<RowFault> {
        self.faults.sort_by_key(|(row, _, _)| *row);
        self.faults.dedup_by_key(|(row, _, _)| *row);
        self.faults
    }

    fn len(&self) -> usize {
        self.source.len()
    }

    /// What `value` makes of the word of every row; a wrong word is noted and given as zero.
    #[inline(always)]
    fn words<T>(&mut self, place: Place, check: &Check, number: usize, value: impl Fn(&[u8; 32]) -> T) -> Vec<T> {
        let faults = &mut self.faults;
        let checked = |row: usize, word: Option<&[u8; 32]>| match word {
            Some(word) if check.passes(word) => value(word),
            word => {
                note(faults, row, number, check.wrong(word.unwrap_or(&[0; 32])));
                value(&[0; 32])
            }
        };
        let rows = self.source.iter().enumerate();
        match place {
            Place::Topic(topic) => {
                let topics = self.logs.all_topics();
                let mut checked = checked;
                rows.map(|(row, source)| checked(row, topics.get(source.topics as usize + topic))).collect()
            }
            Place::Data(at) => {
                let data = self.logs.all_data();
                let mut checked = checked;
                let word = |source: &Source| data.get(source.data as usize + at..)?.first_chunk();
                rows.map(|(row, source)| checked(row, word(source))).collect()
            }
        }
    }

    /// Calls `each` with a walk over every row's data. `each` adds one row, whatever it returns.
    fn walks(&mut self, number: usize, mut each: impl FnMut(&mut Walk<'a>, &'a [u8]) -> Result<(), Wrong>) {
        let data = |source: &Source| self.logs.data(source.log as usize);
        if self.budgets.is_empty() {
            self.budgets = self.source.iter().map(|source| budget(data(source).len())).collect();
        }
        for (row, (source, budget)) in self.source.iter().zip(&mut self.budgets).enumerate() {
            let mut walk = Walk::new(data(source), *budget);
            if let Err(wrong) = each(&mut walk, data(source)) {
                note(&mut self.faults, row, number, wrong);
            }
            *budget = walk.budget;
        }
    }
}

#[cold]
#[inline(never)]
fn note(faults: &mut Vec<RowFault>, row: usize, number: usize, wrong: Wrong) {
    faults.push((row, number, wrong));
}

/// Fills the columns of the parameter of this number and appends them to `into`.
pub fn fill(param: &Param<'_>, place: Place, number: usize, rows: &mut Rows<'_>, into: &mut Vec<Builder>) {
    match (param.layout(), place) {
        (Layout::Word(word), _) => into.push(words(word, place, number, rows)),
        (Layout::Hash, _) => into.push(words(Word::FixedBytes(32), place, number, rows)),
        (Layout::Bytes, Place::Data(at)) => into.push(bytes(at, number, rows)),
        (Layout::Text, Place::Data(at)) => texts(at, number, rows, into),
        (Layout::Json { raw }, Place::Data(at)) => json(param, at, raw, number, rows, into),
        // In a topic there are words and hashes only.
        (Layout::Bytes | Layout::Text | Layout::Json { .. }, Place::Topic(_)) => {}
    }
}

fn words(word: Word, place: Place, number: usize, rows: &mut Rows<'_>) -> Builder {
    let check = Check::new(word);
    match word {
        Word::Bool => {
            let mut column = Bits::with_capacity(rows.len());
            rows.words(place, check, number, |word| word[31] == 1).into_iter().for_each(|value| column.push(value));
            Builder::Bits(column)
        }
        Word::Uint(..=64) => {
            Builder::U64s(rows.words(place, check, number, |word| u64::from_be_bytes(*last(word))).into())
        }
        Word::Int(..=64) => {
            Builder::S64s(rows.words(place, check, number, |word| i64::from_be_bytes(*last(word))).into())
        }
        Word::Uint(_) | Word::FixedBytes(32) => {
            Builder::Fixed(Fixed::from_arrays(rows.words(place, check, number, |word| *word)))
        }
        Word::Int(_) => Builder::Fixed(Fixed::from_arrays(rows.words(place, check, number, flipped))),
        Word::Address => Builder::Fixed(Fixed::from_arrays::<20>(rows.words(place, check, number, |word| *last(word)))),
        Word::FixedBytes(width) => first_bytes(width, place, check, number, rows),
        Word::Function => first_bytes(24, place, check, number, rows),
    }
}

/// A column of the first bytes of each word.
fn first_bytes(width: u8, place: Place, check: &Check, number: usize, rows: &mut Rows<'_>) -> Builder {
    let mut column = Fixed::with_capacity(width, rows.len());
    for word in rows.words(place, check, number, |word| *word) {
        column.push(&word[..usize::from(width)]);
    }
    Builder::Fixed(column)
}

/// The last bytes of a word.
#[inline(always)]
fn last<const N: usize>(word: &[u8; 32]) -> &[u8; N] {
    const { assert!(N <= 32) }
    word.last_chunk().unwrap_or(&[0; N])
}

/// A signed number with the top bit flipped, so that byte order is numeric order.
#[inline(always)]
fn flipped(word: &[u8; 32]) -> [u8; 32] {
    let mut flipped = *word;
    flipped[0] ^= 0x80;
    flipped
}

fn bytes(at: usize, number: usize, rows: &mut Rows<'_>) -> Builder {
    let mut column = Bytes::with_capacity(rows.len());
    rows.walks(number, |walk, _| {
        let bytes = walk.bytes_at(at);
        column.push(bytes.as_ref().map_or(&[], |bytes| bytes));
        bytes.map(|_| ())
    });
    Builder::Bytes(column)
}

fn texts(at: usize, number: usize, rows: &mut Rows<'_>, into: &mut Vec<Builder>) {
    let mut column = Text::with_capacity(rows.len());
    let mut raw = Bytes::with_capacity(rows.len());
    rows.walks(number, |walk, _| {
        let written = column.push_with(|out| {
            let bytes = walk.bytes_at(at)?;
            Ok((bytes, text::safe(bytes, |piece| out.push_str(piece))))
        });
        match written {
            Ok((bytes, true)) => raw.push(bytes),
            Ok((_, false)) => raw.push_null(),
            Err(_) => (column.push(""), raw.push_null()).1,
        }
        written.map(|_| ())
    });
    into.extend([Builder::Text(column), Builder::Bytes(raw)]);
}

fn json(param: &Param<'_>, at: usize, with_raw: bool, number: usize, rows: &mut Rows<'_>, into: &mut Vec<Builder>) {
    let mut column = Text::with_capacity(rows.len());
    let mut raw = Bytes::with_capacity(rows.len());
    rows.walks(number, |walk, data| {
        let written = column.push_with(|out| {
            let mut sink = JsonSink::new(out);
            walk.value(&param.ty, 0, at, &mut sink).map(|()| sink.altered)
        });
        match written {
            Ok(true) => raw.push(data),
            Ok(false) => raw.push_null(),
            Err(_) => (column.push(""), raw.push_null()).1,
        }
        written.map(|_| ())
    });
    into.push(Builder::Text(column));
    if with_raw {
        into.push(Builder::Bytes(raw));
    }
}
