//! What the cursors tell about themselves, for progress bars and status answers.

use std::time::Duration;

use super::{BlockNumber, ChainId, NestName};

/// All chains of a process, as of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// One entry a chain, in a fixed order.
    pub chains: Vec<ChainProgress>,
}

/// One chain's cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainProgress {
    /// Chain.
    pub chain: ChainId,
    /// Nests that ride it.
    pub nests: Vec<NestName>,
    /// First block of the earliest dataset.
    pub first: BlockNumber,
    /// The block up to which every dataset that takes rows is done; none before the first commit.
    pub done: Option<BlockNumber>,
    /// The chain's head, once known.
    pub head: Option<BlockNumber>,
    /// Rows committed since the process started.
    pub rows: u64,
    /// Blocks done a second, lately; none before that can be told.
    pub blocks_per_second: Option<f64>,
    /// Rows committed a second, lately.
    pub rows_per_second: f64,
    /// Logs decoded a second, lately.
    pub logs_per_second: f64,
    /// Age of the last block that is done, where that is the head of a living chain.
    pub lag: Option<Duration>,
    /// What the cursor does.
    pub phase: Phase,
}

/// What a cursor does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Opening the store, asking for the head.
    Starting,
    /// Behind the head: taking final blocks.
    Backfill,
    /// At the head: each new block is taken as it comes.
    Tip,
    /// Standing still until something outside is well again; says what.
    Waiting(String),
    /// Standing still until an operator acts; says why.
    Halted(String),
    /// Ending: what is open is committed.
    Draining,
}

impl ChainProgress {
    /// Blocks between what is done and the head.
    pub fn blocks_behind(&self) -> Option<u64> {
        let next = self.done.map_or(self.first, BlockNumber::next);
        self.head.map(|head| head.next().0.saturating_sub(next.0))
    }
}
