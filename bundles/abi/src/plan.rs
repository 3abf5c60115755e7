//! The plan: what decoding needs of a nest's contracts, worked out once when its bundle is built.

mod build;
mod codec;
mod describe;

pub use build::build;
pub use codec::BadPlan;
pub use describe::describe;

use crate::types::{Kind, Type, Word};

/// Every contract of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the nest's file.
    pub contracts: Vec<Contract>,
}

/// One contract, at one address or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// First half of its tables' names.
    pub alias: String,
    /// Logs of lower blocks do not count.
    pub start_block: u64,
    /// Whether the host may be asked for these events' logs only.
    pub narrowed: bool,
    /// At least one. None is in two contracts.
    pub addresses: Vec<[u8; 20]>,
    /// Events in the order of the ABI, at least one. One table each.
    pub forms: Vec<Form>,
}

/// One event with one choice of indexed parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its table.
    pub table: String,
    /// Name in the ABI.
    pub event: String,
    /// First topic of its logs; none when it is anonymous.
    pub topic0: Option<[u8; 32]>,
    /// Parameters in order.
    pub params: Vec<Param>,
}

/// One parameter of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its column.
    pub column: String,
    /// Name in the ABI, perhaps empty.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Whether it lies in a topic.
    pub indexed: bool,
}

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

impl Form {
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

impl Param {
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

    /// Names of its column and of the companion, where it has one.
    pub fn columns(&self) -> impl Iterator<Item = String> + use<> {
        let raw = matches!(self.layout(), Layout::Text | Layout::Json { raw: true });
        let companion = raw.then(|| format!("{}__raw", self.column));
        std::iter::once(self.column.clone()).chain(companion)
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
