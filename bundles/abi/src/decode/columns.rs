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

/// The rows of an event, and which of them have turned out to be wrong.
pub struct Rows<'a> {
    logs: &'a Logs<'a>,
    source: &'a [u32],
    /// Words that the walks over each row's data may still read; empty before the first walk.
    budgets: Vec<usize>,
    faults: Vec<(usize, usize, Wrong)>,
}

impl<'a> Rows<'a> {
    /// Of the logs at these places.
    pub fn new(logs: &'a Logs<'a>, source: &'a [u32]) -> Self {
        Rows { logs, source, budgets: Vec::new(), faults: Vec::new() }
    }

    /// Row, parameter and what is wrong with it: the first of each row, in order of rows.
    pub fn faults(mut self) -> Vec<(usize, usize, Wrong)> {
        self.faults.sort_by_key(|(row, _, _)| *row);
        self.faults.dedup_by_key(|(row, _, _)| *row);
        self.faults
    }

    fn len(&self) -> usize {
        self.source.len()
    }

    /// Calls `each` with the word of every row; a wrong one is noted and given as zero.
    #[inline(always)]
    fn words(&mut self, place: Place, check: Check, number: usize, mut each: impl FnMut(&[u8; 32])) {
        match place {
            Place::Topic(topic) => {
                for (row, log) in self.source.iter().enumerate() {
                    let word = &self.logs.topics(*log as usize)[topic];
                    each(checked(word, check, row, number, &mut self.faults));
                }
            }
            Place::Data(at) => {
                for (row, log) in self.source.iter().enumerate() {
                    // The route has seen that the head is there.
                    let word = self.logs.data(*log as usize).get(at..).and_then(|rest| rest.first_chunk());
                    each(checked(word.unwrap_or(&ZERO), check, row, number, &mut self.faults));
                }
            }
        }
    }

    /// Calls `each` with a walk over every row's data. `each` adds one row, whatever it returns.
    fn walks(&mut self, number: usize, mut each: impl FnMut(&mut Walk<'a>, &'a [u8]) -> Result<(), Wrong>) {
        if self.budgets.is_empty() {
            self.budgets = self.source.iter().map(|log| budget(self.logs.data(*log as usize).len())).collect();
        }
        for (row, (log, budget)) in self.source.iter().zip(&mut self.budgets).enumerate() {
            let data = self.logs.data(*log as usize);
            let mut walk = Walk::new(data, *budget);
            if let Err(wrong) = each(&mut walk, data) {
                self.faults.push((row, number, wrong));
            }
            *budget = walk.budget;
        }
    }
}

const ZERO: [u8; 32] = [0; 32];

#[inline(always)]
fn checked<'w>(
    word: &'w [u8; 32],
    check: Check,
    row: usize,
    number: usize,
    faults: &mut Vec<(usize, usize, Wrong)>,
) -> &'w [u8; 32] {
    if check.passes(word) {
        return word;
    }
    note(check.wrong(word), row, number, faults);
    &ZERO
}

#[cold]
fn note(wrong: Wrong, row: usize, number: usize, faults: &mut Vec<(usize, usize, Wrong)>) {
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
    let count = rows.len();
    match word {
        Word::Bool => {
            let mut column = Bits::with_capacity(count);
            rows.words(place, check, number, |word| column.push(word[31] == 1));
            Builder::Bits(column)
        }
        Word::Uint(..=64) => {
            let mut column = U64s::with_capacity(count);
            rows.words(place, check, number, |word| column.push(u64::from_be_bytes(*last(word))));
            Builder::U64s(column)
        }
        Word::Int(..=64) => {
            let mut column = S64s::with_capacity(count);
            rows.words(place, check, number, |word| column.push(i64::from_be_bytes(*last(word))));
            Builder::S64s(column)
        }
        Word::Uint(_) => fixed(32, place, check, number, rows, |column, word| column.push_unsigned(word)),
        Word::Int(_) => fixed(32, place, check, number, rows, |column, word| column.push_signed(word)),
        Word::Address => fixed(20, place, check, number, rows, |column, word| column.push_array::<20>(last(word))),
        Word::FixedBytes(32) => fixed(32, place, check, number, rows, |column, word| column.push_array(word)),
        Word::FixedBytes(width) => {
            fixed(width, place, check, number, rows, |column, word| column.push(&word[..usize::from(width)]))
        }
        Word::Function => fixed(24, place, check, number, rows, |column, word| column.push(&word[..24])),
    }
}

/// The last bytes of a word.
#[inline(always)]
fn last<const N: usize>(word: &[u8; 32]) -> &[u8; N] {
    const { assert!(N <= 32) }
    word.last_chunk().unwrap_or(&[0; N])
}

#[inline(always)]
fn fixed(
    width: u8,
    place: Place,
    check: Check,
    number: usize,
    rows: &mut Rows<'_>,
    push: impl Fn(&mut Fixed, &[u8; 32]),
) -> Builder {
    let mut column = Fixed::with_capacity(width, rows.len());
    rows.words(place, check, number, |word| push(&mut column, word));
    Builder::Fixed(column)
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
