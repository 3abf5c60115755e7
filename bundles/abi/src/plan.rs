//! The plan: what decoding needs of a nest's contracts, worked out once when its bundle is built.

mod build;
mod codec;
mod describe;
mod owners;

pub use build::build;
pub use codec::BadPlan;
pub use describe::describe;
pub use owners::Owners;

use std::borrow::Cow;

use crate::types::{Kind, Type, Word};

/// Every contract of a nest. Borrows its names and addresses from the bytes it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'p> {
    /// In the order of the nest's file.
    pub contracts: Vec<Contract<'p>>,
    /// Their addresses.
    pub owners: Owners<'p>,
}

/// One contract, at one address or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract<'p> {
    /// First half of its tables' names.
    pub alias: Cow<'p, str>,
    /// Logs of lower blocks do not count.
    pub start_block: u64,
    /// Whether the host may be asked for these events' logs only.
    pub narrowed: bool,
    /// Events in the order of the ABI, at least one. One table each.
    pub forms: Vec<Form<'p>>,
}

/// One event with one choice of indexed parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form<'p> {
    /// Its table.
    pub table: Cow<'p, str>,
    /// Name in the ABI.
    pub event: Cow<'p, str>,
    /// First topic of its logs; none when it is anonymous.
    pub topic0: Option<[u8; 32]>,
    /// Parameters in order.
    pub params: Vec<Param<'p>>,
}

/// One parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param<'p> {
    /// Its column.
    pub column: Cow<'p, str>,
    /// Name in the ABI, perhaps empty.
    pub name: Cow<'p, str>,
    /// Type.
    pub ty: Type,
    /// Whether it lies in a topic.
    pub indexed: bool,
}

/// What the name of a companion ends in. No name of an ABI becomes a column's name that does.
pub const COMPANION: &str = "__raw";

/// How a parameter is laid in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The word as the column's type.
    Word(Word),
    /// A topic that holds the hash of the value.
    Hash,
    /// `bytes`
    Bytes,
    /// `string`, with a companion for the exact bytes.
    Text,
    /// An array or a tuple as JSON, with a companion for the log's data where a string is in it.
    Json {
        /// Whether there is a companion.
        raw: bool,
    },
}

impl Form<'_> {
    /// How many parameters lie in topics.
    pub fn indexed(&self) -> usize {
        self.params.iter().filter(|param| param.indexed).count()
    }

    /// Bytes that the data must hold at least: the heads of all parameters that are not indexed.
    pub fn head(&self) -> usize {
        self.params.iter().filter(|param| !param.indexed).map(|param| param.ty.slot() as usize).sum()
    }

    /// `Transfer(address indexed from, address indexed to, uint256 value)`
    pub fn declaration(&self) -> String {
        let params: Vec<String> = self.params.iter().map(Param::declaration).collect();
        shortened(format!("{}({})", self.event.escape_debug(), params.join(", ")))
    }
}

impl Param<'_> {
    /// How it is laid in its table.
    pub fn layout(&self) -> Layout {
        match (self.ty.kind(), self.indexed) {
            (Kind::Word(word), _) => Layout::Word(*word),
            (_, true) => Layout::Hash,
            (Kind::Bytes, _) => Layout::Bytes,
            (Kind::String, _) => Layout::Text,
            _ => Layout::Json { raw: self.ty.holds_string() },
        }
    }

    /// `address indexed from`
    pub fn declaration(&self) -> String {
        let indexed = if self.indexed { " indexed" } else { "" };
        let space = if self.name.is_empty() { "" } else { " " };
        shortened(format!("{}{indexed}{space}{}", self.ty, self.name.escape_debug()))
    }
}

/// For people, who read no more than this.
fn shortened(mut text: String) -> String {
    const MOST: usize = 1000;
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push('…');
    }
    text
}
