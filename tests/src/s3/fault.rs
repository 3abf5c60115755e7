//! The switches.

use std::time::Duration;

use tokio::sync::watch;

use super::call::{Call, Op};

/// A way in which the store, or the way to it, misbehaves.
#[derive(Clone, Debug)]
pub enum S3Fault {
    /// An HTTP status, without asking the server.
    Status(u16),
    /// The request is taken and never answered.
    Silence,
    /// Each KiB of the answer's body takes so long; of a body sent, before the server sees it.
    Slow(Duration),
    /// The connection breaks in the middle of the answer's body; of a body sent, in the middle of that one.
    CutOff,
    /// One bit is flipped at this place of the object, wherever it is on its way.
    WrongBit(u64),
    /// The server does what is asked, and the connection breaks before its answer.
    LostAnswer,
    /// The request waits, at this moment, until the gate is opened.
    Hold(Moment, Gate),
}

/// When a request is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The server has not seen it.
    Before,
    /// The server has done it, and the answer is on its way.
    After,
}

impl S3Fault {
    /// Only for this operation.
    pub fn on(self, op: Op) -> Injection {
        Injection { op: Some(op), ..self.into() }
    }
}

/// A fault with what it is meant for.
#[derive(Clone, Debug)]
pub struct Injection {
    pub(super) fault: S3Fault,
    pub(super) op: Option<Op>,
    pub(super) part: String,
    pub(super) left: Option<u32>,
}

impl Injection {
    /// Only for keys that hold this text.
    #[must_use]
    pub fn of(self, part: &str) -> Injection {
        Injection { part: part.to_owned(), ..self }
    }

    /// Only for so many requests.
    #[must_use]
    pub fn times(self, times: u32) -> Injection {
        Injection { left: Some(times), ..self }
    }

    /// Whether this request is meant; uses it up if it is counted.
    pub(super) fn takes(&mut self, call: &Call) -> bool {
        let meant = self.op.is_none_or(|op| op == call.op) && call.key.contains(&self.part) && self.left != Some(0);
        if meant {
            self.left = self.left.map(|left| left - 1);
        }
        meant
    }
}

impl From<S3Fault> for Injection {
    fn from(fault: S3Fault) -> Self {
        Injection { fault, op: None, part: String::new(), left: None }
    }
}

/// Holds requests until it is opened.
#[derive(Clone, Debug)]
pub struct Gate {
    open: watch::Sender<bool>,
    held: watch::Sender<Vec<String>>,
}

impl Default for Gate {
    fn default() -> Self {
        Gate::new()
    }
}

impl Gate {
    /// A closed one.
    pub fn new() -> Gate {
        Gate { open: watch::Sender::new(false), held: watch::Sender::new(Vec::new()) }
    }

    /// Waits until a request is held; gives its key.
    ///
    /// # Panics
    ///
    /// Where none comes.
    pub async fn held(&self) -> String {
        let mut held = self.held.subscribe();
        let found = tokio::time::timeout(crate::process::PATIENCE, held.wait_for(|keys| !keys.is_empty())).await;
        let found = found.expect("a request is held").expect("the gate is there");
        found[0].clone()
    }

    /// Lets all go, those to come too.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub(super) async fn pass(&self, key: &str) {
        self.held.send_modify(|keys| keys.push(key.to_owned()));
        // An error means that the gate is gone, and nobody would open it any more.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}
