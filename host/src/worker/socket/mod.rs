//! The control socket of a data folder: how another process asks a running `dev` for something.
//!
//! `<data>/control.sock`, mode 0600. A connection carries one line of JSON each way: a [`Request`], an [`Answer`].

mod client;
mod rows;
mod server;

use serde::{Deserialize, Serialize};

use crate::model::{ChainId, DatasetId, NestName};

pub use client::ask;
pub use rows::{ChainRow, dataset_row, nest_rows};
pub(super) use server::serve;

/// Name of the socket in the data folder.
pub const SOCKET_NAME: &str = "control.sock";

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Request {
    /// What every nest does.
    Status,
    /// Let a quarantined nest try again.
    Retry {
        /// Nest.
        nest: NestName,
    },
    /// The datasets of every chain.
    Datasets,
    /// Remove a dataset.
    Drop {
        /// Chain whose store holds it.
        chain: ChainId,
        /// Dataset.
        dataset: DatasetId,
    },
    /// Accept a reorg below the final block.
    Rebuild {
        /// Chain.
        chain: ChainId,
    },
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Answer {
    /// Done, in words.
    Done {
        /// What was done.
        text: String,
    },
    /// Rows for people and programs.
    Rows {
        /// One JSON object a row, all with the same keys.
        rows: Vec<serde_json::Map<String, serde_json::Value>>,
    },
    /// Not done.
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

/// Trouble with the socket itself.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// It could not be opened.
    #[error("the control socket {path} cannot be opened: {reason}")]
    Open {
        /// Path.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// Something answers there, but not a nuthatch that this one understands.
    #[error("the process on {path} gave no usable answer ({reason}); is it another version of nuthatch?")]
    Answer {
        /// Path.
        path: String,
        /// What is wrong.
        reason: String,
    },
}
