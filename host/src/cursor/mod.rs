//! The loop of one chain: lanes, window to decode to commit, reorg.
//!
//! A [`Cursor`] owns a chain's store and is its only writer. Each turn it looks at the head, follows it by one window
//! (*tip lane*), joins a dataset that is within reach, and commits a stretch of final blocks for the dataset that is
//! furthest behind (*catch-up lane*), if one is there by the time the head is due again. Windows of final blocks are
//! gathered so that their rows can go straight into segments; what is not cut yet becomes hot in the same commit. A
//! branch that the chain leaves is replaced in one commit too, after the new one is in hand. Hot rows whose cut comes
//! due are sealed beside the loop.

mod adopt;
mod agreement;
mod at_rest;
mod backfill;
mod command;
mod error;
pub mod lanes;
mod nest;
mod obey;
mod rebuild;
mod reorg;
mod run;
mod sealing;
mod status;
mod stretch;
mod tip;
mod trouble;
mod turn;
mod window;

pub use adopt::check_folder;
pub use at_rest::at_rest;
pub use command::{Command, CursorHandle, Reply, no_such_nest};
pub use error::CursorError;
pub use nest::Nest;
pub use rebuild::rebuild;
pub use run::{Cursor, Settings, Until};
pub use status::{CursorStatus, DatasetProgress, Phase};
