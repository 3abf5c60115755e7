//! What can go wrong between this process and a chain.

use std::fmt;
use std::time::Duration;

use crate::model::{BlockHash, BlockNumber, BlockRange, ChainId};

use super::refusal::Refusal;

/// Result of a chain call.
pub type Result<T, E = ChainError> = std::result::Result<T, E>;

/// One call, named well enough for an operator to act on: never with the key that a URL may carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Chain; 0 while it is not known.
    pub chain: ChainId,
    /// Host (and port) of the endpoint.
    pub endpoint: String,
    /// JSON-RPC method.
    pub method: &'static str,
    /// Blocks asked for, where the method takes some.
    pub range: Option<BlockRange>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No chain has the id 0: it stands for one that is still being asked for.
        if self.chain != ChainId(0) {
            write!(f, "chain {}, ", self.chain)?;
        }
        write!(f, "endpoint {}, {}", self.endpoint, self.method)?;
        match self.range {
            Some(range) if range.first == range.last => write!(f, ", block {}", range.first),
            Some(range) => write!(f, ", blocks {range}"),
            None => Ok(()),
        }
    }
}

/// Why one attempt at a call failed. Every text in here is scrubbed of the endpoint's secrets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// No connection, or it broke.
    #[error("the connection failed: {0}")]
    Transport(String),
    /// No whole answer in time.
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    /// Too many requests.
    #[error("the endpoint limits the rate: {text}")]
    RateLimited {
        /// How long the endpoint asks to be left alone.
        retry_after: Option<Duration>,
        /// What it said.
        text: String,
    },
    /// An HTTP status other than success.
    #[error("HTTP status {status}: {text}")]
    Status {
        /// The status.
        status: u16,
        /// Beginning of the body, or what the status means here.
        text: String,
    },
    /// A JSON-RPC error that is no refusal of a range.
    #[error("error {code}: {message}")]
    Rpc {
        /// JSON-RPC error code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The answer is not what the method promises.
    #[error("the answer is not usable: {0}")]
    BadAnswer(String),
    /// The endpoint does not answer for that many blocks, logs or addresses.
    #[error("the range was refused: {0}")]
    Refused(Refusal),
    /// The endpoint does not have this yet.
    #[error("the endpoint does not have {0} yet")]
    Behind(String),
    /// Parts of the answer contradict each other: a reorg in between, or a node whose index is behind its blocks.
    #[error("the answers do not belong to one chain: {0}")]
    Inconsistent(String),
    /// Another chain answers.
    #[error("the endpoint serves chain {0}")]
    OtherChain(ChainId),
}

impl Trouble {
    /// Whether asking the same endpoint again can not help: a wrong URL, a missing key, an unknown method.
    pub(super) fn is_hopeless(&self) -> bool {
        match self {
            Trouble::Status { status, .. } => matches!(status, 300..=399 | 401 | 403 | 404 | 405),
            Trouble::Rpc { code, .. } => *code == -32601,
            Trouble::OtherChain(_) => true,
            _ => false,
        }
    }

    /// The label of `nuthatch_rpc_requests_total`.
    pub(super) fn outcome(&self) -> &'static str {
        match self {
            Trouble::Transport(_) => "transport",
            Trouble::Timeout(_) => "timeout",
            Trouble::RateLimited { .. } => "rate_limited",
            Trouble::Status { .. } => "status",
            Trouble::Rpc { .. } => "rpc_error",
            Trouble::BadAnswer(_) => "bad_answer",
            Trouble::Refused(_) => "refused",
            Trouble::Behind(_) => "behind",
            Trouble::Inconsistent(_) => "inconsistent",
            Trouble::OtherChain(_) => "other_chain",
        }
    }
}

/// Two endpoints that name different hashes for one final block.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "chain {chain}: endpoint {one} says that final block {number} is {one_hash}, and {other} says {other_hash}; \
     remove the endpoint that lies"
)]
pub struct FinalityDispute {
    /// Chain.
    pub chain: ChainId,
    /// Block.
    pub number: BlockNumber,
    /// First endpoint.
    pub one: String,
    /// Its hash.
    pub one_hash: BlockHash,
    /// Second endpoint.
    pub other: String,
    /// Its hash.
    pub other_hash: BlockHash,
}

/// Errors of a [`super::Source`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// An endpoint of another chain.
    #[error("endpoint {endpoint} serves chain {found}, not chain {wanted}; give an RPC URL of chain {wanted}")]
    WrongChain {
        /// Endpoint.
        endpoint: String,
        /// The chain wanted.
        wanted: ChainId,
        /// The chain that answered.
        found: ChainId,
    },
    /// No endpoint at all.
    #[error("chain {0} has no RPC endpoint; give one with --rpc, NUTHATCH_RPC or NUTHATCH_RPC_{0}")]
    NoEndpoint(ChainId),
    /// The retry budget is spent. Trying again later is right.
    #[error("{call}: {trouble} (gave up after {attempts} attempts)")]
    GaveUp {
        /// The call that failed last.
        call: Box<Call>,
        /// How.
        trouble: Trouble,
        /// Attempts made, on all endpoints together.
        attempts: u32,
    },
    /// Not even one block's logs are to be had.
    #[error(
        "{call}: the endpoint refuses the logs of this single block: {refusal} ({attempts} attempts); use an endpoint \
         with higher limits, or fewer contracts in one nest"
    )]
    BlockRefused {
        /// The call.
        call: Box<Call>,
        /// What the endpoint said.
        refusal: Refusal,
        /// Attempts made.
        attempts: u32,
    },
    /// Two endpoints name different hashes for a final block.
    #[error(transparent)]
    FinalityDisputed(Box<FinalityDispute>),
    /// More logs in one answer than a batch can hold.
    #[error("chain {chain}, blocks {range}: more than {limit} bytes of logs at once; ask for fewer blocks")]
    TooMuch {
        /// Chain.
        chain: ChainId,
        /// Blocks asked for.
        range: BlockRange,
        /// Limit in bytes.
        limit: usize,
    },
    /// A filter that cannot be read.
    #[error("'{text}' is not {expected}: lower-case hex with 0x in front is expected")]
    BadFilter {
        /// What stands there.
        text: String,
        /// `an address` or `a topic`.
        expected: &'static str,
    },
    /// An endpoint setting that cannot be used.
    #[error("RPC endpoint: {0}")]
    BadEndpoint(String),
    /// A recorded chain that cannot be read.
    #[error("{path}{}: {reason}", line.map(|line| format!(", line {line}")).unwrap_or_default())]
    Replay {
        /// File.
        path: String,
        /// Line, from 1.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
    },
}

impl ChainError {
    /// Whether trying again later, unchanged, can succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, ChainError::GaveUp { .. } | ChainError::BlockRefused { .. } | ChainError::FinalityDisputed(_))
    }
}
