//! One call: a fresh store and instance, bounded, and caught whatever happens in it.

use std::sync::Arc;

use metrics::counter;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::Store;

use super::describe::{self, Description};
use super::engine::PluginHost;
use super::fault::{Circumstances, GuestFault, HostFault, Side, classify, guarded};
use super::limits::StoreLimiter;
use super::load::Compiled;
use super::log::{LogBudget, escape};
use super::parts::Part;
use super::raw::{RawDecoded, RawFailure};
use super::v1;
use super::validate::OutputError;

/// Bytes of a guest's failure that are kept.
const FAILURE_BYTES: usize = 1_024;
/// Handles that one call may hold; the world has no resources.
const HANDLES: usize = 64;

/// A call that gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The guest's fault: it would happen again.
    #[error(transparent)]
    Guest(#[from] GuestFault),
    /// Not the guest's fault.
    #[error(transparent)]
    Host(#[from] HostFault),
}

/// State of one call's store.
pub(super) struct CallState {
    limiter: StoreLimiter,
    pub(super) log: LogBudget,
}

/// A loaded component. Cloning shares it.
#[derive(Clone)]
pub struct Plugin {
    host: PluginHost,
    pub(super) compiled: Arc<Compiled>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("code", &hex::encode(self.compiled.code)).finish()
    }
}

/// A call's result with the fuel that it took.
pub(super) struct Called<T> {
    pub result: T,
    pub fuel: u64,
}

impl Plugin {
    pub(super) fn new(host: PluginHost, compiled: Arc<Compiled>) -> Self {
        Plugin { host, compiled }
    }

    /// The engine that it was loaded into.
    pub fn host(&self) -> &PluginHost {
        &self.host
    }

    /// BLAKE3 of its code: of all sections but the outer custom ones.
    pub fn code_hash(&self) -> [u8; 32] {
        self.compiled.code
    }

    /// Turns a nest's configuration (JSON, as the WIT says) into a plan. Blocks while all slots are taken.
    pub fn plan(&self, config: &[u8]) -> Result<Vec<u8>, CallError> {
        let limits = self.host.limits();
        let plan = self.waiting("plan", limits.plan_fuel, |guest, store| guest.plan(store, config))?;
        let cap = limits.plan_bytes;
        if plan.len() > cap {
            return Err(GuestFault::OutputTooLarge { cap, unit: "bytes" }.into());
        }
        Ok(plan)
    }

    /// Tables and filters of a plan. Blocks while all slots are taken.
    pub fn describe(&self, plan: &[u8]) -> Result<Description, CallError> {
        let fuel = self.host.limits().describe_fuel;
        let raw = self.waiting("describe", fuel, |guest, store| guest.describe(store, plan))?;
        describe::check(raw).map_err(|error| GuestFault::InvalidOutput(error).into())
    }

    fn waiting<T>(
        &self,
        nest: &str,
        fuel: u64,
        call: impl FnOnce(&v1::Guest, &mut Store<CallState>) -> wasmtime::Result<Result<T, RawFailure>>,
    ) -> Result<T, CallError> {
        let _slot = self.slot();
        Ok(self.call(&Arc::from(nest), fuel, call)?.result)
    }

    /// Waits for a slot of the pool. Must not be called where blocking is not allowed.
    pub(super) fn slot(&self) -> Option<OwnedSemaphorePermit> {
        let slots = Arc::clone(&self.host.shared.slots);
        // Unconstrained: under a task's cooperative budget, which nothing refills here, this would wait for ever.
        // None only of a closed semaphore, and this one is never closed.
        futures::executor::block_on(tokio::task::unconstrained(slots.acquire_owned())).ok()
    }

    /// Runs `work` while an instance of this plugin takes a place of the pool, without a slot of the semaphore.
    #[cfg(test)]
    pub(super) fn holding_an_instance(&self, work: impl FnOnce()) -> Result<(), CallError> {
        let hold = |guest: &v1::Guest, store: &mut Store<CallState>| {
            let planned = guest.plan(store, b"held")?;
            work();
            Ok(planned)
        };
        self.call(&Arc::from("held"), 1_000_000, hold).map(|_| ())
    }

    /// Decodes one part. The caller holds a slot.
    pub(super) fn decode(
        &self,
        nest: &Arc<str>,
        plan: &[u8],
        part: &Part<'_>,
        fuel: u64,
    ) -> Result<Called<RawDecoded>, CallError> {
        self.call(nest, fuel, |guest, store| guest.decode(store, plan, part))
    }

    fn call<T>(
        &self,
        nest: &Arc<str>,
        fuel: u64,
        call: impl FnOnce(&v1::Guest, &mut Store<CallState>) -> wasmtime::Result<Result<T, RawFailure>>,
    ) -> Result<Called<T>, CallError> {
        let outcome = guarded(|| self.run(nest, fuel, call));
        let word = match &outcome {
            Ok(_) => "ok",
            Err(CallError::Guest(fault)) => fault.class(),
            Err(CallError::Host(_)) => "host-fault",
        };
        counter!("nuthatch_plugin_calls_total", "nest" => nest.to_string(), "outcome" => word).increment(1);
        outcome
    }

    fn run<T>(
        &self,
        nest: &Arc<str>,
        fuel: u64,
        call: impl FnOnce(&v1::Guest, &mut Store<CallState>) -> wasmtime::Result<Result<T, RawFailure>>,
    ) -> Result<Called<T>, CallError> {
        let shared = &self.host.shared;
        let limits = &shared.limits;
        let log = LogBudget::new(Arc::clone(nest), Arc::clone(&shared.sink), limits);
        let mut store = Store::new(&shared.engine, CallState { limiter: StoreLimiter::new(limits), log });
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(limits.output_bytes);
        store.set_max_component_handles(HANDLES);
        let outcome = store.set_fuel(fuel).and_then(|()| call(&self.compiled.guest, &mut store));
        let used = fuel.saturating_sub(store.get_fuel().unwrap_or(0));
        let label = nest.to_string();
        counter!("nuthatch_plugin_fuel_total", "nest" => label.clone()).increment(used);
        let dropped = store.data().log.finish();
        if dropped > 0 {
            counter!("nuthatch_plugin_log_lines_dropped_total", "nest" => label).increment(dropped);
        }
        match outcome {
            Ok(Ok(result)) => Ok(Called { result, fuel: used }),
            Ok(Err(failure)) => Err(gave_up(failure).into()),
            Err(error) => {
                let last_error = store.data().log.last_error();
                let (stack_bytes, output_bytes) = (limits.stack_bytes, limits.output_bytes);
                match classify(&error, Circumstances { fuel, stack_bytes, output_bytes, last_error }) {
                    Side::Guest(fault) => Err(fault.into()),
                    Side::Host(fault) => Err(fault.into()),
                }
            }
        }
    }
}

fn gave_up(failure: RawFailure) -> GuestFault {
    GuestFault::Failure {
        code: escape(&failure.code, super::validate::CODE_BYTES),
        message: escape(&failure.message, FAILURE_BYTES),
    }
}

impl From<OutputError> for CallError {
    fn from(error: OutputError) -> Self {
        CallError::Guest(GuestFault::InvalidOutput(error))
    }
}
