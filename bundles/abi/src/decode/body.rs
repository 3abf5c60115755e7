//! The walk over what is not one word: offsets, lengths, tails. Every claim is held against the bytes that there are
//! before it is followed, and the whole walk against a budget that the data's length gives.

use super::check::{Check, lanes};
use super::fault::Wrong;
use crate::types::{Kind, Type, Word};

/// How a group of values is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// By place.
    Array,
    /// By name.
    Object,
}

/// Takes the values of a walk, in order.
pub trait Sink {
    /// A word that is a value of the type.
    fn word(&mut self, ty: Word, word: &[u8; 32]);
    /// Bytes of any length.
    fn bytes(&mut self, bytes: &[u8]);
    /// A string's bytes.
    fn string(&mut self, bytes: &[u8]);
    /// An array or a tuple begins.
    fn open(&mut self, group: Group);
    /// Its next item begins.
    fn item(&mut self, place: u32, name: Option<&str>);
    /// It ends.
    fn close(&mut self, group: Group);
}

/// Takes nothing: for a walk that only looks whether the data fits.
pub struct NoSink;

impl Sink for NoSink {
    fn word(&mut self, _: Word, _: &[u8; 32]) {}
    fn bytes(&mut self, _: &[u8]) {}
    fn string(&mut self, _: &[u8]) {}
    fn open(&mut self, _: Group) {}
    fn item(&mut self, _: u32, _: Option<&str>) {}
    fn close(&mut self, _: Group) {}
}

/// Words that a walk over data of so many bytes may read. A plain encoding reads each word once. Encodings that share
/// tails read some of them again; one that reads many times what it holds is meant to exhaust its reader.
pub fn budget(len: usize) -> usize {
    len.div_ceil(32) * 2 + 64
}

/// A walk over the data of one log.
pub struct Walk<'a> {
    data: &'a [u8],
    /// Words that may still be read.
    pub budget: usize,
    /// Where the last byte that was read ends.
    pub end: usize,
}

impl<'a> Walk<'a> {
    /// Over this data, with this budget.
    pub fn new(data: &'a [u8], budget: usize) -> Self {
        Walk { data, budget, end: 0 }
    }

    /// Reads the value whose slot is at `at`; offsets count from `base`.
    pub fn value<S: Sink>(&mut self, ty: &Type, base: usize, at: usize, sink: &mut S) -> Result<(), Wrong> {
        if let Kind::Word(word) = ty.kind() {
            let value = self.word(at)?;
            let check = Check::new(*word);
            if !check.passes(value) {
                return Err(check.wrong(value));
            }
            sink.word(*word, value);
            return Ok(());
        }
        let at = if ty.is_dynamic() { self.target(base, at)? } else { at };
        match ty.kind() {
            Kind::Word(_) => Ok(()),
            Kind::Bytes => self.tail(at).map(|bytes| sink.bytes(bytes)),
            Kind::String => self.tail(at).map(|bytes| sink.string(bytes)),
            Kind::Array(element) => {
                let count = self.count(at, element)?;
                self.elements(element, at + 32, count, sink)
            }
            Kind::FixedArray(element, count) => self.elements(element, at, *count, sink),
            Kind::Tuple(fields) => {
                let group = if ty.is_named() { Group::Object } else { Group::Array };
                sink.open(group);
                let mut slot = at;
                for (place, field) in fields.iter().enumerate() {
                    sink.item(place as u32, ty.is_named().then_some(field.name.as_str()));
                    self.value(&field.ty, at, slot, sink)?;
                    slot += field.ty.slot() as usize;
                }
                sink.close(group);
                Ok(())
            }
        }
    }

    /// The bytes of the `bytes` or `string` whose offset is at `at`, counted from the start of the data.
    pub fn bytes_at(&mut self, at: usize) -> Result<&'a [u8], Wrong> {
        let target = self.target(0, at)?;
        self.tail(target)
    }

    fn elements<S: Sink>(&mut self, element: &Type, first: usize, count: u32, sink: &mut S) -> Result<(), Wrong> {
        let slot = element.slot() as usize;
        sink.open(Group::Array);
        for place in 0..count {
            sink.item(place, None);
            self.value(element, first, first + place as usize * slot, sink)?;
        }
        sink.close(Group::Array);
        Ok(())
    }

    fn word(&mut self, at: usize) -> Result<&'a [u8; 32], Wrong> {
        self.spend(1)?;
        let word = self.data.get(at..).and_then(|rest| rest.first_chunk());
        let word = word.ok_or(Wrong::TooShort { end: at as u64 + 32, len: self.data.len() })?;
        self.end = self.end.max(at + 32);
        Ok(word)
    }

    fn spend(&mut self, words: usize) -> Result<(), Wrong> {
        self.budget = self.budget.checked_sub(words).ok_or(Wrong::Inflated)?;
        Ok(())
    }

    /// Where the offset at `at` points: inside of the data.
    fn target(&mut self, base: usize, at: usize) -> Result<usize, Wrong> {
        let word = self.word(at)?;
        let target = small(word).and_then(|offset| base.checked_add(offset));
        target.filter(|target| *target < self.data.len()).ok_or(Wrong::OffsetOutside(*word))
    }

    /// What the length at `at` covers; it need not be padded.
    fn tail(&mut self, at: usize) -> Result<&'a [u8], Wrong> {
        let word = self.word(at)?;
        let first = at + 32;
        let bytes =
            small(word).and_then(|len| self.data.get(first..)?.get(..len)).ok_or(Wrong::LengthOutside(*word))?;
        self.spend(bytes.len().div_ceil(32))?;
        self.end = self.end.max(first + bytes.len());
        Ok(bytes)
    }

    /// The number of elements at `at`, whose slots the data can hold.
    fn count(&mut self, at: usize, element: &Type) -> Result<u32, Wrong> {
        let word = self.word(at)?;
        let room = (self.data.len() - (at + 32)) / element.slot() as usize;
        let count = small(word).filter(|count| *count <= room).and_then(|count| u32::try_from(count).ok());
        count.ok_or(Wrong::LengthOutside(*word))
    }
}

/// The number in a word, where it fits 32 bits.
#[inline]
fn small(word: &[u8; 32]) -> Option<usize> {
    let [one, two, three, four] = lanes(word);
    let low = u64::from_be(four);
    (one | two | three == 0 && low <= u64::from(u32::MAX)).then_some(low as usize)
}
