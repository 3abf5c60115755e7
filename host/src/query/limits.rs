//! What all queries together, and each one, may use.

use std::time::Duration;

/// Limits of a [`QueryEngine`](super::QueryEngine).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Longest time from the call to the answer, waiting included.
    pub deadline: Duration,
    /// Memory that joins, sorts and groups of all running queries may hold, in bytes.
    pub memory: usize,
    /// Memory for decoded chunks kept between queries, in bytes.
    pub cache: usize,
    /// Bytes of chunks that one query reads ahead in its snapshot; the rest it reads when it gets there.
    pub read_ahead: u64,
    /// Rows of one answer.
    pub rows: usize,
    /// Bytes of one answer, as Arrow columns.
    pub bytes: usize,
    /// Bytes of one statement.
    pub statement: usize,
    /// Operators, joins and set operations that one statement may chain.
    pub operators: usize,
    /// Table reads that one statement may come to once its views and CTEs are written out.
    pub reads: u64,
    /// Queries that run at once.
    pub running: usize,
    /// Queries that wait for one of those places.
    pub waiting: usize,
}

impl Default for QueryLimits {
    fn default() -> Self {
        QueryLimits {
            deadline: Duration::from_secs(60),
            memory: 512 << 20,
            cache: 64 << 20,
            read_ahead: 32 << 20,
            rows: 200_000,
            bytes: 64 << 20,
            statement: 128 << 10,
            operators: 500,
            reads: 500,
            running: 8,
            waiting: 64,
        }
    }
}
