//! The switches.

/// A way in which an endpoint misbehaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// `eth_getLogs` is refused above so many logs.
    MaxLogs(usize),
    /// … above so many blocks, and says so.
    MaxBlocks(u64),
    /// … above so many blocks, with this HTTP status and no words.
    MaxBlocksStatus(u16, u64),
    /// … above so many blocks, in words that mean nothing.
    MaxBlocksUnknown(u64),
    /// … above so many blocks, with the advice to try just the same range.
    SuggestsTheSame(u64),
    /// … above so many contracts.
    MaxAddresses(usize),
    /// … above so many contracts, in words that mean nothing.
    MaxAddressesUnknown(usize),
    /// JSON-RPC batches are refused as a whole.
    NoBatches,
    /// HTTP 429, with `Retry-After` in seconds if given.
    RateLimited(Option<u64>),
    /// A JSON-RPC error that means the same, with HTTP 200.
    RateLimitedInWords,
    /// An HTTP status.
    Status(u16),
    /// An answer only after so many milliseconds.
    Slow(u64),
    /// `eth_getCode` fails for want of old state.
    NoState,
    /// A block that is not there is an error, not null.
    UnknownInWords,
    /// No answer, ever.
    Hang,
    /// The connection breaks in the middle of the body.
    CutOff,
    /// The body ends early, the connection does not.
    Truncated,
    /// A page of HTML with status 200.
    NotJson,
    /// A redirect to another place.
    Redirect,
    /// The latest block is lower by so many.
    FallingHead(u64),
    /// The endpoint is so many blocks behind in everything, and answers with nothing above.
    Lag(u64),
    /// `eth_getLogs` brings nothing.
    EmptyLogs,
    /// Every log names a block hash that is not on the chain.
    OrphanLogs,
    /// The node behind does not know the hash asked for: `[]` for its logs, null for its block.
    UnknownHash,
    /// Null for a block.
    NullHeader,
    /// Logs come without `blockTimestamp`.
    NoTimestamps,
    /// Logs come with a `blockTimestamp` of zero.
    ZeroTimestamps,
    /// Logs come with a `blockTimestamp` of null.
    NullTimestamps,
    /// Another chain answers `eth_chainId`.
    ChainId(u64),
    /// Logs of a lost branch come with the others, marked `removed`.
    Removed,
    /// Every log comes twice.
    Duplicated,
    /// The logs come in reverse.
    Unsorted,
    /// A second, different log at the place of the first one.
    Conflicting,
    /// A log of a contract that was not asked for.
    StrangeContract,
    /// A log of a block that was not asked for.
    StrangeBlock,
    /// `finalized` is not known.
    NoFinalizedTag,
    /// Headers come without a bloom.
    NoBloom,
    /// Parent hashes are wrong.
    BrokenParents,
}

impl Fault {
    /// Only for this method.
    pub fn on(self, method: &'static str) -> Injection {
        Injection { method: Some(method), ..self.into() }
    }

    /// Only for so many calls.
    pub fn times(self, times: u32) -> Injection {
        Injection { left: Some(times), ..self.into() }
    }

    /// Whether the fault, by its nature, shows in this method alone.
    pub(super) fn touches(self, method: &str) -> bool {
        let block = matches!(method, "eth_getBlockByNumber" | "eth_getBlockByHash");
        match self {
            Fault::MaxLogs(_)
            | Fault::MaxBlocks(_)
            | Fault::MaxBlocksStatus(..)
            | Fault::MaxBlocksUnknown(_)
            | Fault::SuggestsTheSame(_)
            | Fault::MaxAddresses(_)
            | Fault::MaxAddressesUnknown(_)
            | Fault::EmptyLogs
            | Fault::OrphanLogs
            | Fault::NoTimestamps
            | Fault::ZeroTimestamps
            | Fault::NullTimestamps
            | Fault::Removed
            | Fault::Duplicated
            | Fault::Unsorted
            | Fault::Conflicting
            | Fault::StrangeContract
            | Fault::StrangeBlock => method == "eth_getLogs",
            Fault::UnknownHash => matches!(method, "eth_getLogs" | "eth_getBlockByHash"),
            Fault::NullHeader | Fault::UnknownInWords | Fault::NoBloom | Fault::BrokenParents => block,
            Fault::FallingHead(_) | Fault::NoFinalizedTag => method == "eth_getBlockByNumber",
            Fault::ChainId(_) => method == "eth_chainId",
            Fault::NoState => method == "eth_getCode",
            Fault::NoBatches
            | Fault::RateLimited(_)
            | Fault::RateLimitedInWords
            | Fault::Status(_)
            | Fault::Slow(_)
            | Fault::Hang
            | Fault::CutOff
            | Fault::Truncated
            | Fault::NotJson
            | Fault::Redirect
            | Fault::Lag(_) => true,
        }
    }
}

/// A fault with its reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Injection {
    pub(super) fault: Fault,
    pub(super) method: Option<&'static str>,
    pub(super) left: Option<u32>,
}

impl Injection {
    /// The fault.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// Only for so many calls.
    pub fn times(self, times: u32) -> Injection {
        Injection { left: Some(times), ..self }
    }
}

impl From<Fault> for Injection {
    fn from(fault: Fault) -> Self {
        Injection { fault, method: None, left: None }
    }
}
