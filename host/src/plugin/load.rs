//! From foreign bytes to a component that can be called.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use wasmparser::Validator;
use wasmtime::component::Component;

use super::call::Plugin;
use super::engine::{PluginHost, Shared};
use super::fault::panic_text;
use super::inspect::inspect;
use super::log::escape;
use super::v1;

/// Stack of the thread that reads and compiles foreign code; only what is used of it takes memory.
const COMPILE_STACK: usize = 128 << 20;

/// Bytes of a reason that are kept: it may quote names out of the component.
pub(super) const REASON_BYTES: usize = 1_024;

/// Why a component is not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The file is larger than any bundle may be.
    #[error("the component has {found} bytes, and at most {cap} are loaded")]
    TooLarge {
        /// Its size.
        found: usize,
        /// The cap.
        cap: usize,
    },
    /// Not a component at all.
    #[error("this is not a WebAssembly component but {found}")]
    NotAComponent {
        /// What it looks like.
        found: &'static str,
    },
    /// Broken, or using a part of WebAssembly that is off.
    #[error("the component is not valid: {reason}")]
    Malformed {
        /// What the parser says, with the offset.
        reason: String,
    },
    /// More of something than is loaded.
    #[error("the component has {found} {what}, and at most {cap} are allowed")]
    OverLimit {
        /// Of what.
        what: &'static str,
        /// How much.
        found: usize,
        /// The cap.
        cap: usize,
    },
    /// An import that the host does not give to nests.
    #[error(
        "the component imports '{name}', and a nest may import nuthatch:nest/log@1.0.0 and \
         nuthatch:nest/types@1.0.0 only; build it against the world nuthatch:nest/decoder@1.0.0"
    )]
    UnknownImport {
        /// The import.
        name: String,
    },
    /// An export of the world is not there.
    #[error("the component does not export '{name}', which the world nuthatch:nest/decoder@1.0.0 asks for")]
    MissingExport {
        /// The export.
        name: &'static str,
    },
    /// An import or export has another type than in the world.
    #[error("the component does not fit the world nuthatch:nest/decoder@1.0.0: {reason}")]
    WrongType {
        /// Which, and how it differs.
        reason: String,
    },
    /// The compiler refused it.
    #[error("the component cannot be compiled: {reason}")]
    Compile {
        /// What it says.
        reason: String,
    },
    /// The compiler panicked.
    #[error("the compiler panicked over this component: {reason}; the component is not loaded")]
    Panicked {
        /// Words of the panic.
        reason: String,
    },
    /// No thread to compile on.
    #[error("no thread to compile the component on: {reason}; try again")]
    NoThread {
        /// What the system says.
        reason: String,
    },
}

/// A compiled and linked component.
pub(super) struct Compiled {
    pub(super) guest: v1::Guest,
    /// BLAKE3 of its code.
    pub(super) code: [u8; 32],
}

impl PluginHost {
    /// Checks, compiles and links a component; a bundle file is one. The bytes are read once: what is checked is what
    /// is compiled. A component whose code is loaded already is not compiled again.
    ///
    /// Takes up to some seconds for large components: call it on a thread that may block.
    pub fn load(&self, bytes: &[u8]) -> Result<Plugin, LoadError> {
        let cap = self.shared.limits.component.bytes;
        if bytes.len() > cap {
            return Err(LoadError::TooLarge { found: bytes.len(), cap });
        }
        let compiled = on_big_stack(|| self.shared.compile(bytes))?;
        Ok(Plugin::new(self.clone(), compiled))
    }
}

impl Shared {
    fn compile(&self, bytes: &[u8]) -> Result<Arc<Compiled>, LoadError> {
        let code = inspect(bytes, &self.limits)?;
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.find(&code) {
            return Ok(known);
        }
        Validator::new_with_features(self.features)
            .validate_all(bytes)
            .map_err(|error| LoadError::Malformed { reason: reason(error) })?;
        let component = Component::from_binary(&self.engine, bytes)
            .map_err(|error| LoadError::Compile { reason: reason(format_args!("{error:#}")) })?;
        self.fits(&component)?;
        let guest = self
            .v1
            .link(&component)
            .map_err(|error| LoadError::WrongType { reason: reason(format_args!("{error:#}")) })?;
        let compiled = Arc::new(Compiled { guest, code });
        self.keep(code, &compiled);
        Ok(compiled)
    }

    /// Whether an instance fits a slot of the pool: modules may be instantiated more than once.
    fn fits(&self, component: &Component) -> Result<(), LoadError> {
        let Some(needs) = component.resources_required() else {
            return Err(LoadError::WrongType { reason: "it imports a core module".to_owned() });
        };
        let caps = [
            ("memories in one instance", needs.num_memories, 1),
            ("tables in one instance", needs.num_tables, self.limits.component.tables),
        ];
        match caps.into_iter().find(|(_, found, cap)| found > cap) {
            Some((what, found, cap)) => Err(LoadError::OverLimit { what, found: found as usize, cap: cap as usize }),
            None => Ok(()),
        }
    }
}

fn reason(words: impl std::fmt::Display) -> String {
    escape(&words.to_string(), REASON_BYTES)
}

/// Runs on a thread with a large stack; a panic there becomes an error.
fn on_big_stack<T: Send>(work: impl FnOnce() -> Result<T, LoadError> + Send) -> Result<T, LoadError> {
    std::thread::scope(|scope| {
        let caught = || catch_unwind(AssertUnwindSafe(work));
        let builder = std::thread::Builder::new().name("compile".to_owned()).stack_size(COMPILE_STACK);
        let thread =
            builder.spawn_scoped(scope, caught).map_err(|error| LoadError::NoThread { reason: error.to_string() })?;
        match thread.join() {
            Ok(Ok(result)) => result,
            Ok(Err(payload)) | Err(payload) => Err(LoadError::Panicked { reason: panic_text(payload) }),
        }
    })
}
