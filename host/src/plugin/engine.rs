//! The one engine of the process.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, Strategy,
    WasmBacktraceDetails, WasmFeatures,
};

use super::limits::PluginLimits;
use super::load::Compiled;
use super::log::{LogSink, TracingSink};
use super::v1;

/// Counts changes of what the host does around a call: conversion, caps, accounting.
const HOST_ABI: u32 = 1;

/// The engine could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the plugin engine cannot be set up: {0}; check the process's limit on address space")]
pub struct PluginError(String);

/// The plugin engine: one of these in a process. Cloning shares it.
#[derive(Clone)]
pub struct PluginHost {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) engine: Engine,
    pub(super) v1: v1::Imports,
    pub(super) limits: PluginLimits,
    pub(super) features: WasmFeatures,
    pub(super) sink: Arc<dyn LogSink>,
    /// One permit a pool slot: exhausting the pool is an error in wasmtime, not a wait.
    pub(super) slots: Arc<Semaphore>,
    fingerprint: String,
    /// Compiled components by the hash of their code, as long as some plugin uses them.
    compiled: Mutex<HashMap<[u8; 32], Weak<Compiled>>>,
    /// One compilation at a time, so that its memory is bounded and the same component is not compiled twice.
    pub(super) compiling: Mutex<()>,
}

impl PluginHost {
    /// Sets the engine up; guests' lines go to `tracing`.
    pub fn new(limits: PluginLimits) -> Result<Self, PluginError> {
        Self::with_log_sink(limits, Arc::new(TracingSink))
    }

    /// Sets the engine up with another place for guests' lines.
    pub fn with_log_sink(limits: PluginLimits, sink: Arc<dyn LogSink>) -> Result<Self, PluginError> {
        let failed = |error: wasmtime::Error| PluginError(format!("{error:#}"));
        let config = config(&limits);
        let engine = Engine::new(&config).map_err(failed)?;
        let features = engine.get_wasm_features();
        let v1 = v1::Imports::new(&engine).map_err(failed)?;
        let fingerprint = fingerprint(&engine, &limits);
        let shared = Shared {
            engine,
            v1,
            features,
            sink,
            slots: Arc::new(Semaphore::new(limits.slots as usize)),
            limits,
            fingerprint,
            compiled: Mutex::default(),
            compiling: Mutex::default(),
        };
        Ok(PluginHost { shared: Arc::new(shared) })
    }

    /// Names everything about the engine that could change what a bundle does: wasmtime, its configuration, the
    /// limits, the host's side of a call. 64 hex digits, kept beside each dataset.
    pub fn fingerprint(&self) -> &str {
        &self.shared.fingerprint
    }

    /// The bounds in force.
    pub fn limits(&self) -> &PluginLimits {
        &self.shared.limits
    }
}

impl Shared {
    /// A compiled component that is still in use.
    pub(super) fn find(&self, code: &[u8; 32]) -> Option<Arc<Compiled>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(code)?.upgrade()
    }

    /// Keeps a compiled component findable, and forgets those that nobody uses.
    pub(super) fn keep(&self, code: [u8; 32], compiled: &Arc<Compiled>) {
        let mut known = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, entry| entry.strong_count() > 0);
        known.insert(code, Arc::downgrade(compiled));
    }
}

fn config(limits: &PluginLimits) -> Config {
    let tables = limits.component.tables;
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(limits.slots)
        .total_memories(limits.slots)
        .total_tables(tables * limits.slots)
        .total_core_instances(4 * limits.slots)
        .max_core_instances_per_component(4)
        .max_memories_per_component(1)
        .max_tables_per_component(tables)
        .max_memory_size(limits.memory_bytes)
        .table_elements(limits.table_elements)
        // The cost of a fresh instance is its page faults: what is kept resident is cleared instead.
        .linear_memory_keep_resident(4 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let refused = WasmFeatures::RELAXED_SIMD
        | WasmFeatures::MEMORY64
        | WasmFeatures::MULTI_MEMORY
        | WasmFeatures::THREADS
        | WasmFeatures::GC
        | WasmFeatures::GC_TYPES
        | WasmFeatures::FUNCTION_REFERENCES
        | WasmFeatures::EXCEPTIONS
        | WasmFeatures::CM_ASYNC;
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .cranelift_opt_level(OptLevel::Speed)
        // Compilation recurses over foreign code: it stays on the one thread that has a stack for it.
        .parallel_compilation(false)
        .consume_fuel(true)
        .cranelift_nan_canonicalization(true)
        .wasm_features(refused, false)
        .max_wasm_stack(limits.stack_bytes)
        .memory_init_cow(true)
        // Not led by the environment: what a fault says is the same everywhere.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16))
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

fn fingerprint(engine: &Engine, limits: &PluginLimits) -> String {
    struct Blake3(blake3::Hasher);
    impl Hasher for Blake3 {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        /// Not used: the whole hash is taken from the inner hasher.
        fn finish(&self) -> u64 {
            0
        }
    }
    let mut hasher = Blake3(blake3::Hasher::new());
    hasher.write(b"nuthatch plugin engine\0");
    // Holds wasmtime's version, the target, the compiler's flags and the configuration.
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.write(&limits.fingerprint());
    hasher.write(&HOST_ABI.to_le_bytes());
    hasher.0.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn host(limits: PluginLimits) -> PluginHost {
        PluginHost::new(limits).unwrap()
    }

    #[test]
    fn the_fingerprint_names_the_limits_that_decide_a_verdict() {
        let usual = host(PluginLimits::default());
        assert_eq!(usual.fingerprint(), host(PluginLimits::default()).fingerprint());
        assert_eq!(usual.fingerprint().len(), 64);
        let less_memory = host(PluginLimits { memory_bytes: 128 << 20, ..PluginLimits::default() });
        assert_ne!(usual.fingerprint(), less_memory.fingerprint());
        let less_stack = host(PluginLimits { stack_bytes: 256 << 10, ..PluginLimits::default() });
        assert_ne!(usual.fingerprint(), less_stack.fingerprint());
        let smaller_batches = host(PluginLimits { part_logs: 7, slots: 3, ..PluginLimits::default() });
        assert_eq!(usual.fingerprint(), smaller_batches.fingerprint());
    }

    #[test]
    fn what_is_not_deterministic_or_not_needed_is_off() {
        let features = host(PluginLimits::default()).shared.features;
        for (name, feature) in [
            ("relaxed SIMD", WasmFeatures::RELAXED_SIMD),
            ("memory64", WasmFeatures::MEMORY64),
            ("multi-memory", WasmFeatures::MULTI_MEMORY),
            ("threads", WasmFeatures::THREADS),
            ("GC", WasmFeatures::GC),
            ("exceptions", WasmFeatures::EXCEPTIONS),
            ("async", WasmFeatures::CM_ASYNC),
        ] {
            assert!(!features.contains(feature), "{name} is on");
        }
        assert!(features.contains(WasmFeatures::SIMD));
    }
}
