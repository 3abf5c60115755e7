//! What a registry can fail with.

use crate::{BadRecord, BundleHash};

/// Why a registry did not do what it was asked. Names it without credentials, and what it said in few words.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The text names no registry.
    #[error("there is no registry at '{registry}': {reason}; give a folder, or s3://bucket/prefix")]
    NoRegistry {
        /// As given, without user and password.
        registry: String,
        /// Why.
        reason: String,
    },
    /// No such object.
    #[error("{what} is not in the registry {registry}")]
    NotThere {
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
    },
    /// The registry lets this user not do it.
    #[error(
        "the registry {registry} does not allow to {doing} {what}: {reason}; check the credentials (AWS_ACCESS_KEY_ID \
         and so on, or the folder's owner) and what they may do"
    )]
    Denied {
        /// `read`, `write` or `list`.
        doing: &'static str,
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// What was said.
        reason: String,
    },
    /// No answer in time.
    #[error(
        "the registry {registry} did not answer in time when asked to {doing} {what}; try again, or use another one"
    )]
    Silent {
        /// `read`, `write` or `list`.
        doing: &'static str,
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
    },
    /// It failed in another way.
    #[error("the registry {registry} cannot {doing} {what}: {reason}; try again, or use another one")]
    Failed {
        /// `read`, `write` or `list`.
        doing: &'static str,
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// What was said.
        reason: String,
    },
    /// The answer ended early.
    #[error("the registry {registry} sent only {got} of the {expected} bytes of {what}; try again, or use another one")]
    BrokenOff {
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// Bytes that came.
        got: u64,
        /// Bytes that were announced.
        expected: u64,
    },
    /// An object above its limit.
    #[error("the registry {registry} sends more than the {max} bytes that {what} can have; use another one")]
    TooLarge {
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// The limit.
        max: usize,
    },
    /// Bytes that are not their address (I11).
    #[error(
        "the registry {registry} sent other bytes than those of bundle {hash}: their hash is {found}; nothing was kept. \
         Use another registry, and 'nuthatch bundle verify' to see what else is damaged"
    )]
    OtherBytes {
        /// The bundle's address.
        hash: BundleHash,
        /// The address of what came.
        found: BundleHash,
        /// The registry.
        registry: String,
    },
    /// A record or notice that cannot be believed.
    #[error(
        "{what} in the registry {registry} is refused: {problem}; whoever runs the registry can put it back from a copy"
    )]
    Record {
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// Why.
        problem: BadRecord,
    },
    /// A store that overwrites although told not to.
    #[error(
        "the store behind {registry} overwrites what is there although told not to (it ignores If-None-Match), so it \
         cannot keep versions apart; use a store with conditional writes, or a folder"
    )]
    Overwrites {
        /// The registry.
        registry: String,
    },
    /// More names than a shelf may have.
    #[error("the registry {registry} lists more than {max} names under {what}; use another one")]
    TooMany {
        /// Its path.
        what: String,
        /// The registry.
        registry: String,
        /// The limit.
        max: usize,
    },
}

impl RegistryError {
    /// Whether there is simply no such object.
    pub fn is_not_there(&self) -> bool {
        matches!(self, RegistryError::NotThere { .. })
    }
}
