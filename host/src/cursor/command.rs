//! What can be asked of a running cursor.

use tokio::sync::{mpsc, oneshot};

use crate::model::{DatasetId, NestName};
use crate::store::DatasetState;

/// A request to a running cursor. Carried out between two windows, in fenced transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Let a quarantined nest try again.
    Retry(NestName),
    /// What datasets there are.
    Datasets,
    /// Remove a dataset that no endpoint names.
    Drop(DatasetId),
    /// Accept a reorg below the final block: start again what reaches above the fork.
    Rebuild,
}

/// The answer to a command.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Done, in words.
    Done(String),
    /// The datasets.
    Datasets(Vec<DatasetState>),
    /// Not done, with what to do.
    Refused(String),
}

pub(super) type Request = (Command, oneshot::Sender<Reply>);

/// Sends commands to a cursor.
#[derive(Clone, Debug)]
pub struct CursorHandle {
    requests: mpsc::Sender<Request>,
}

impl CursorHandle {
    pub(super) fn new() -> (Self, mpsc::Receiver<Request>) {
        let (requests, receiver) = mpsc::channel(16);
        (CursorHandle { requests }, receiver)
    }

    /// Asks, and waits until the cursor has done it. None when the cursor has ended.
    pub async fn ask(&self, command: Command) -> Option<Reply> {
        let (answer, reply) = oneshot::channel();
        self.requests.send((command, answer)).await.ok()?;
        reply.await.ok()
    }
}

/// Why a command for this nest is refused, with the nests that do run.
pub fn no_such_nest<'a>(name: &NestName, running: impl IntoIterator<Item = &'a NestName>) -> String {
    let running: Vec<String> = running.into_iter().map(|name| format!("'{name}'")).collect();
    match running.is_empty() {
        true => format!("no nest '{name}' runs here, nor any other"),
        false => format!("no nest '{name}' runs here; there is {}", running.join(", ")),
    }
}
