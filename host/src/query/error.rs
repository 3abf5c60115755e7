//! What a query can end in instead of an answer.

use std::fmt;
use std::time::Duration;

use super::sealed::BadSegment;
use crate::model::NestName;
use crate::store::StoreError;

/// A place in the SQL text, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What is wrong with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is not SQL.
    Syntax,
    /// It names a table that is not there.
    NoTable,
    /// It names a column or function that is not there.
    UnknownName,
    /// It would do something other than read, or reach outside its nest.
    NotAllowed,
    /// A hex literal does not fit the column it is compared with.
    Literal,
    /// It is SQL, and does not make sense: types, arguments, grouping.
    Meaning,
    /// It failed on the data: a division by zero, a cast that does not fit.
    Data,
}

/// A statement that the reader has to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadQuery {
    /// What kind of mistake.
    pub flaw: Flaw,
    /// What is wrong.
    pub message: String,
    /// Where, if known.
    pub position: Option<Position>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl BadQuery {
    /// A mistake without place or hint.
    pub fn new(flaw: Flaw, message: impl Into<String>) -> Self {
        BadQuery { flaw, message: message.into(), position: None, hint: None }
    }

    /// With a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With a place.
    pub fn at(mut self, position: Option<Position>) -> Self {
        self.position = position;
        self
    }
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(position) = self.position {
            write!(f, " ({position})")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BadQuery {}

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The statement has to be changed.
    #[error(transparent)]
    Bad(#[from] BadQuery),
    /// No endpoint of that name.
    #[error("there is no nest '{name}' here{}", suffix(hint))]
    NoSuchNest {
        /// The name asked for.
        name: NestName,
        /// The nearest name, or what there is.
        hint: Option<String>,
    },
    /// The answer passes a cap.
    #[error(
        "the answer is larger than {limit}; add a LIMIT or a narrower WHERE, or page through /nests/NAME/tables/TABLE"
    )]
    TooLarge {
        /// The cap, such as `200000 rows`.
        limit: String,
    },
    /// The memory pool of all queries is used up.
    #[error(
        "the query needs more memory than queries may use here ({pool} MiB for all of them); group or sort fewer rows, \
         or raise the limit"
    )]
    OutOfMemory {
        /// Size of the pool in MiB.
        pool: u64,
    },
    /// The deadline passed, waiting in the queue included.
    #[error("the query took longer than {} s and was stopped; narrow it, for example by block_number", after.as_secs_f64())]
    Timeout {
        /// The deadline.
        after: Duration,
    },
    /// Too many queries run and wait already.
    #[error("busy: {running} queries run and {waiting} wait already; try again in a moment")]
    Busy {
        /// How many may run.
        running: usize,
        /// How many may wait.
        waiting: usize,
    },
    /// A read of the store failed.
    #[error("the store cannot be read: {0}")]
    Store(#[from] StoreError),
    /// A sealed file cannot be read.
    #[error(transparent)]
    Segment(#[from] BadSegment),
    /// A defect of nuthatch.
    #[error("the query failed inside nuthatch: {0}; this is a defect, please report it with the query")]
    Internal(String),
}

fn suffix(hint: &Option<String>) -> String {
    hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default()
}

impl QueryError {
    /// A word for programs: stable, unlike the message.
    pub fn code(&self) -> &'static str {
        match self {
            QueryError::Bad(bad) => match bad.flaw {
                Flaw::Syntax => "syntax",
                Flaw::NoTable | Flaw::UnknownName => "unknown-name",
                Flaw::NotAllowed => "not-allowed",
                Flaw::Literal => "literal",
                Flaw::Meaning => "meaning",
                Flaw::Data => "data",
            },
            QueryError::NoSuchNest { .. } => "no-such-nest",
            QueryError::TooLarge { .. } => "too-large",
            QueryError::OutOfMemory { .. } => "out-of-memory",
            QueryError::Timeout { .. } => "timeout",
            QueryError::Busy { .. } => "busy",
            QueryError::Store(_) => "store",
            QueryError::Segment(_) => "segment",
            QueryError::Internal(_) => "internal",
        }
    }

    /// Where in the SQL text, if known.
    pub fn position(&self) -> Option<Position> {
        match self {
            QueryError::Bad(bad) => bad.position,
            _ => None,
        }
    }

    /// What to do about it, where that is not part of the message.
    pub fn hint(&self) -> Option<&str> {
        match self {
            QueryError::Bad(bad) => bad.hint.as_deref(),
            QueryError::NoSuchNest { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    /// The message without position and hint.
    pub fn message(&self) -> String {
        match self {
            QueryError::Bad(bad) => bad.message.clone(),
            QueryError::NoSuchNest { name, .. } => format!("there is no nest '{name}' here"),
            other => other.to_string(),
        }
    }
}
