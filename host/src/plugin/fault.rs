//! What goes wrong in a call, by whose fault.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::limits::{GrowFailed, LimitHit};
use super::validate::OutputError;

/// The guest's own fault. It would happen again: after halving down to one log the nest is quarantined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuestFault {
    /// The budget is used up.
    #[error("out of fuel: the guest used all {fuel} units of this call; give it a larger budget or less to do per log")]
    OutOfFuel {
        /// The budget of the call.
        fuel: u64,
    },
    /// Calls went too deep.
    #[error("stack overflow: the guest's calls went deeper than the {bytes} bytes of stack that it has")]
    StackOverflow {
        /// Stack of a call.
        bytes: usize,
    },
    /// More linear memory than allowed.
    #[error("memory limit: the guest asked for {asked} bytes in all, and may have {cap}")]
    MemoryLimit {
        /// Total asked for.
        asked: usize,
        /// Total allowed.
        cap: usize,
    },
    /// More table space than allowed.
    #[error("table limit: the guest asked for {asked} table elements in all, and may have {cap}")]
    TableLimit {
        /// Total asked for.
        asked: usize,
        /// Total allowed.
        cap: usize,
    },
    /// Any other trap; a panic is one.
    #[error("trap: {what}{}", last_words(.last_error))]
    Trap {
        /// The trap's own text.
        what: String,
        /// The last line that the guest logged as an error: where an SDK's panic message stands.
        last_error: Option<String>,
    },
    /// More rows or bytes than a call may hand back.
    #[error("output too large: more than {cap} {unit} from one call")]
    OutputTooLarge {
        /// The cap.
        cap: usize,
        /// `rows` or `bytes`.
        unit: &'static str,
    },
    /// What came back does not hold together.
    #[error("invalid output: {0}")]
    InvalidOutput(OutputError),
    /// The guest said that it cannot.
    #[error("the guest gave up with {code}: {message}")]
    Failure {
        /// Its code.
        code: String,
        /// Its words.
        message: String,
    },
    /// Our own code panicked under this batch, twice.
    #[error("the host's own code panicked twice while this batch was decoded: {0}; this is a defect of nuthatch")]
    HostPanic(String),
}

fn last_words(last_error: &Option<String>) -> String {
    last_error.as_ref().map_or_else(String::new, |line| format!("; the guest's last error line: {line}"))
}

impl GuestFault {
    /// The class, as kept with a quarantined dataset and as a metric label.
    pub fn class(&self) -> &'static str {
        match self {
            GuestFault::OutOfFuel { .. } => "out-of-fuel",
            GuestFault::StackOverflow { .. } => "stack-overflow",
            GuestFault::MemoryLimit { .. } => "memory-limit",
            GuestFault::TableLimit { .. } => "table-limit",
            GuestFault::Trap { .. } => "trap",
            GuestFault::OutputTooLarge { .. } => "output-too-large",
            GuestFault::InvalidOutput(_) => "invalid-output",
            GuestFault::Failure { .. } => "failure",
            GuestFault::HostPanic(_) => "host-panic",
        }
    }

    /// Whether the fault can come from many harmless logs together, so that halves which pass settle it.
    pub fn adds_up(&self) -> bool {
        match self {
            GuestFault::OutOfFuel { .. }
            | GuestFault::StackOverflow { .. }
            | GuestFault::MemoryLimit { .. }
            | GuestFault::TableLimit { .. }
            | GuestFault::OutputTooLarge { .. } => true,
            GuestFault::Trap { .. }
            | GuestFault::InvalidOutput(_)
            | GuestFault::Failure { .. }
            | GuestFault::HostPanic(_) => false,
        }
    }
}

/// Not the guest's fault. The same call may pass when it is tried again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// All slots of the pool are taken.
    #[error("no free slot for a plugin call: {0}; the batch is tried again")]
    NoSlot(String),
    /// The system has no memory.
    #[error("no memory for a plugin call: {0}; the batch is tried again")]
    NoMemory(String),
    /// Our own code panicked.
    #[error("the host's own code panicked during a plugin call: {0}; the batch is tried again")]
    Panic(String),
    /// An Arrow batch could not be put together.
    #[error("rows of table {table} cannot be put together: {reason}")]
    Rows {
        /// Table.
        table: String,
        /// What Arrow says.
        reason: String,
    },
}

/// Either side's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Guest(GuestFault),
    Host(HostFault),
}

/// The bounds of the failed call and what it logged, for the words of a fault.
pub(super) struct Circumstances {
    pub fuel: u64,
    pub stack_bytes: usize,
    pub output_bytes: usize,
    pub last_error: Option<String>,
}

// Its type is private to wasmtime; the text is held by a test.
const HOSTCALL_FUEL: &str = "fuel allocated for hostcalls has been exhausted";

/// Whose fault a failed call is. Only the error's own words are kept: backtraces would differ between builds.
pub(super) fn classify(error: &wasmtime::Error, call: Circumstances) -> Side {
    if let Some(hit) = error.downcast_ref::<LimitHit>() {
        return Side::Guest(match *hit {
            LimitHit::Memory { asked, cap } => GuestFault::MemoryLimit { asked, cap },
            LimitHit::Table { asked, cap } => GuestFault::TableLimit { asked, cap },
        });
    }
    if let Some(full) = error.downcast_ref::<wasmtime::PoolConcurrencyLimitError>() {
        return Side::Host(HostFault::NoSlot(full.to_string()));
    }
    if let Some(failed) = error.downcast_ref::<GrowFailed>() {
        return Side::Host(HostFault::NoMemory(failed.0.clone()));
    }
    if let Some(failed) = error.downcast_ref::<wasmtime::error::OutOfMemory>() {
        return Side::Host(HostFault::NoMemory(failed.to_string()));
    }
    if let Some(trap) = error.downcast_ref::<wasmtime::Trap>() {
        return Side::Guest(match trap {
            wasmtime::Trap::OutOfFuel => GuestFault::OutOfFuel { fuel: call.fuel },
            wasmtime::Trap::StackOverflow => GuestFault::StackOverflow { bytes: call.stack_bytes },
            other => {
                let what = other.to_string();
                let what = what.strip_prefix("wasm trap: ").unwrap_or(&what).to_owned();
                GuestFault::Trap { what, last_error: call.last_error }
            }
        });
    }
    let cause = error.root_cause().to_string();
    if cause.contains(HOSTCALL_FUEL) {
        return Side::Guest(GuestFault::OutputTooLarge { cap: call.output_bytes, unit: "bytes" });
    }
    Side::Guest(GuestFault::InvalidOutput(OutputError::Abi(cause)))
}

/// Runs host code that handles what a guest gave; a panic in it is the host's fault and goes no further.
pub(super) fn guarded<T, E: From<HostFault>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(HostFault::Panic(panic_text(payload)).into()))
}

/// The words of a panic.
pub(super) fn panic_text(payload: Box<dyn std::any::Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().map_or_else(|| "without words".to_owned(), ToString::to_string),
    }
}
