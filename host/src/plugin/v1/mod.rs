//! World `nuthatch:nest/decoder@1.0.0`: bindings, and their conversion into the host's own forms.

mod convert;

use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Result, Store, StoreContextMut};

use super::call::CallState;
use super::log::LogLevel;
use super::parts::Part;
use super::raw::{RawDecoded, RawDescription, RawFailure};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../schemas/wit/v1",
        world: "decoder",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

use bindings::nuthatch::nest::log::Level;

/// The imports that a component of this world may have, by their whole names.
pub(super) const IMPORTS: [&str; 2] = [LOG, "nuthatch:nest/types@1.0.0"];
/// The functions that it must export.
pub(super) const EXPORTS: [&str; 3] = ["plan", "describe", "decode"];
const LOG: &str = "nuthatch:nest/log@1.0.0";

/// Fuel of a line beside its bytes, so that the host's work is on the guest's budget.
const LINE_FUEL: u64 = 500;

/// What the host gives to guests of this world.
pub(super) struct Imports(Linker<CallState>);

impl Imports {
    pub(super) fn new(engine: &Engine) -> Result<Self> {
        let mut linker = Linker::new(engine);
        linker.instance(LOG)?.func_wrap("log", log)?;
        Ok(Imports(linker))
    }

    /// Links a component; the error names the import or export that does not fit.
    pub(super) fn link(&self, component: &Component) -> Result<Guest> {
        let linked = self.0.instantiate_pre(component)?;
        Ok(Guest(bindings::DecoderPre::new(linked)?))
    }
}

fn log(mut store: StoreContextMut<'_, CallState>, (level, message): (Level, String)) -> Result<()> {
    let left = store.get_fuel()?;
    store.set_fuel(left.saturating_sub(LINE_FUEL + message.len() as u64))?;
    let level = match level {
        Level::Debug => LogLevel::Debug,
        Level::Info => LogLevel::Info,
        Level::Warn => LogLevel::Warn,
        Level::Error => LogLevel::Error,
    };
    store.data_mut().log.write(level, &message);
    Ok(())
}

/// A linked component, ready to be instantiated.
pub(super) struct Guest(bindings::DecoderPre<CallState>);

impl Guest {
    pub(super) fn plan(&self, store: &mut Store<CallState>, config: &[u8]) -> Result<Result<Vec<u8>, RawFailure>> {
        let guest = self.0.instantiate(&mut *store)?;
        Ok(guest.call_plan(store, config)?.map_err(convert::failure))
    }

    pub(super) fn describe(
        &self,
        store: &mut Store<CallState>,
        plan: &[u8],
    ) -> Result<Result<RawDescription, RawFailure>> {
        let guest = self.0.instantiate(&mut *store)?;
        Ok(guest.call_describe(store, plan)?.map(convert::description).map_err(convert::failure))
    }

    pub(super) fn decode(
        &self,
        store: &mut Store<CallState>,
        plan: &[u8],
        part: &Part<'_>,
    ) -> Result<Result<RawDecoded, RawFailure>> {
        let guest = self.0.instantiate(&mut *store)?;
        let columns = convert::Columns::of(part);
        Ok(guest.call_decode(store, plan, columns.lower(part))?.map(convert::decoded).map_err(convert::failure))
    }
}
