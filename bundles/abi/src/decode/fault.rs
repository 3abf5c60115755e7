//! Why a log cannot be decoded.

use std::fmt;

use nuthatch_sdk::Rejection;

use crate::hex;

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The word is not a value of the type.
    OutOfRange([u8; 32]),
    /// A `bool` that is neither 0 nor 1.
    BadBool([u8; 32]),
    /// Bytes after a `bytesN` that are not 0.
    DirtyPadding([u8; 32]),
    /// The data ends before the value does.
    TooShort {
        /// Where the value would end.
        end: u64,
        /// Where the data does.
        len: usize,
    },
    /// An offset that points outside of the data.
    OffsetOutside([u8; 32]),
    /// A length that the data cannot hold.
    LengthOutside([u8; 32]),
    /// The value unfolds to far more than the data holds.
    Inflated,
}

/// Why a log is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Kebab-case, 32 bytes at most.
    pub code: &'static str,
    /// For people.
    pub detail: String,
}

/// Bytes of a declaration that a detail names, at most: parameters may have long names.
const MAX_DECLARATION: usize = 400;

impl Fault {
    /// `detail` about what is declared so.
    pub fn new(code: &'static str, declaration: &str, detail: impl fmt::Display) -> Self {
        let (declaration, more) = match declaration.len() > MAX_DECLARATION {
            true => (&declaration[..declaration.floor_char_boundary(MAX_DECLARATION)], "…"),
            false => (declaration, ""),
        };
        Fault { code, detail: format!("{declaration}{more}: {detail}") }
    }

    /// The rejection of the log at this place.
    pub fn rejection(self, log: u32) -> Rejection {
        Rejection { log, code: self.code.to_owned(), detail: self.detail }
    }
}

impl Wrong {
    /// Stable name of the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Wrong::OutOfRange(_) => "value-out-of-range",
            Wrong::BadBool(_) => "bad-bool",
            Wrong::DirtyPadding(_) => "dirty-padding",
            Wrong::TooShort { .. } => "data-too-short",
            Wrong::OffsetOutside(_) => "offset-out-of-range",
            Wrong::LengthOutside(_) => "length-out-of-range",
            Wrong::Inflated => "data-inflated",
        }
    }

    /// With the parameter it was found in.
    pub fn in_param(&self, declaration: &str) -> Fault {
        let word = |word: &[u8; 32]| hex::text(word);
        let what = match self {
            Wrong::OutOfRange(value) => format!("{} does not fit the type", word(value)),
            Wrong::BadBool(value) => format!("{} is neither 0 nor 1", word(value)),
            Wrong::DirtyPadding(value) => format!("{} goes on after its last byte", word(value)),
            Wrong::TooShort { end, len } => format!("it would end at byte {end}, the data has {len} bytes"),
            Wrong::OffsetOutside(value) => format!("the offset {} points outside of the data", word(value)),
            Wrong::LengthOutside(value) => format!("the length {} is more than the data holds", word(value)),
            Wrong::Inflated => "it unfolds to many times what the data holds".to_owned(),
        };
        Fault::new(self.code(), declaration, what)
    }
}
