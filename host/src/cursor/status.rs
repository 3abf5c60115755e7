//! What a cursor tells about itself while it runs.

use std::time::Instant;

use metrics::gauge;

use crate::model::{BlockNumber, BlockRef, ChainId, DatasetId, Fault, NestName};

/// What a cursor is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Reading store and chain.
    #[default]
    Starting,
    /// Some dataset lacks final blocks.
    CatchingUp,
    /// All datasets are at the head.
    AtHead,
    /// The chain cannot be read, or the disk is full.
    Waiting,
    /// A reorg below the final block.
    Halted,
    /// Ended.
    Stopped,
}

/// One dataset's progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetProgress {
    /// Dataset.
    pub dataset: DatasetId,
    /// Nests that it serves.
    pub nests: Vec<NestName>,
    /// First block.
    pub first_block: BlockNumber,
    /// Last block done.
    pub done_to: Option<BlockNumber>,
    /// Why it is quarantined, if it is.
    pub fault: Option<Fault>,
}

/// A cursor's state as of its last turn.
#[derive(Clone, Debug)]
pub struct CursorStatus {
    /// Chain.
    pub chain_id: ChainId,
    /// Doing.
    pub phase: Phase,
    /// The chain's head as last seen.
    pub head: Option<BlockNumber>,
    /// The head's time, unix seconds. None for a recorded chain that has been played: its time says nothing.
    pub head_time: Option<u64>,
    /// The final block in the store.
    pub final_block: Option<BlockRef>,
    /// The block that the cursor stands on.
    pub tip: Option<BlockRef>,
    /// Datasets.
    pub datasets: Vec<DatasetProgress>,
    /// Logs committed since the start.
    pub logs: u64,
    /// Rows committed since the start.
    pub rows: u64,
    /// Rollbacks since the start.
    pub reorgs: u64,
    /// Why it is halted, if it is.
    pub halted: Option<String>,
    /// What is wrong just now, if anything.
    pub trouble: Option<String>,
    /// What keeps final rows from being sealed just now, if anything. They are answered all the same.
    pub unsealed: Option<String>,
    /// When a turn last went through without trouble.
    pub last_good: Instant,
}

impl CursorStatus {
    /// Before the first turn.
    pub fn new(chain_id: ChainId) -> Self {
        CursorStatus {
            chain_id,
            phase: Phase::Starting,
            head: None,
            head_time: None,
            final_block: None,
            tip: None,
            datasets: Vec::new(),
            logs: 0,
            rows: 0,
            reorgs: 0,
            halted: None,
            trouble: None,
            unsealed: None,
            last_good: Instant::now(),
        }
    }

    /// Tells the metrics where it stands.
    pub(super) fn measure(&self) {
        let chain = self.chain_id.to_string();
        let block = |name: &'static str, number: Option<BlockNumber>| {
            if let Some(number) = number {
                gauge!(name, "chain" => chain.clone()).set(number.0 as f64);
            }
        };
        block("nuthatch_chain_head_block", self.head);
        block("nuthatch_chain_tip_block", self.tip.map(|tip| tip.number));
        block("nuthatch_chain_final_block", self.final_block.map(|block| block.number));
        gauge!("nuthatch_chain_halted", "chain" => chain.clone()).set(f64::from(u8::from(self.halted.is_some())));
        for dataset in &self.datasets {
            for nest in &dataset.nests {
                let label = nest.to_string();
                if let Some(done) = dataset.done_to {
                    gauge!("nuthatch_nest_done_block", "nest" => label.clone()).set(done.0 as f64);
                }
                let quarantined = f64::from(u8::from(dataset.fault.is_some()));
                gauge!("nuthatch_nest_quarantined", "nest" => label).set(quarantined);
            }
        }
    }
}
