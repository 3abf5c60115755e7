//! From foreign bytes to a component that can be called.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use wasmparser::Validator;
use wasmtime::component::Component;

use super::call::Plugin;
use super::engine::{PluginHost, Shared};
use super::fault::panic_text;
use super::inspect::inspect;
use super::v1;

/// Stack of the thread that reads and compiles foreign code; only what is used of it takes memory.
const COMPILE_STACK: usize = 128 << 20;

const WASM_PAGE: u64 = 64 << 10;

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
        let code = inspect(bytes, &self.limits.component)?;
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.find(&code) {
            return Ok(known);
        }
        Validator::new_with_features(self.features)
            .validate_all(bytes)
            .map_err(|error| LoadError::Malformed { reason: error.to_string() })?;
        let component = Component::from_binary(&self.engine, bytes)
            .map_err(|error| LoadError::Compile { reason: format!("{error:#}") })?;
        self.fits(&component)?;
        let guest = self.v1.link(&component).map_err(|error| LoadError::WrongType { reason: format!("{error:#}") })?;
        let compiled = Arc::new(Compiled { guest, code });
        self.keep(code, &compiled);
        Ok(compiled)
    }

    /// Whether an instance fits a slot of the pool.
    fn fits(&self, component: &Component) -> Result<(), LoadError> {
        let over = |what, found: u64, cap: u64| {
            let error = LoadError::OverLimit { what, found: found as usize, cap: cap as usize };
            if found > cap { Err(error) } else { Ok(()) }
        };
        let Some(needs) = component.resources_required() else {
            return Err(LoadError::WrongType { reason: "it imports a core module".to_owned() });
        };
        let limits = &self.limits;
        over("memories", needs.num_memories.into(), 1)?;
        over("tables", needs.num_tables.into(), limits.component.tables.into())?;
        let pages = needs.max_initial_memory_size.unwrap_or(0);
        over("pages of initial memory", pages, limits.memory_bytes as u64 / WASM_PAGE)?;
        over("initial table elements", needs.max_initial_table_size.unwrap_or(0), limits.table_elements as u64)
    }
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
