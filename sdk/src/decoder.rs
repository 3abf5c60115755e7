//! What a nest implements, and the glue that exports it.

use std::marker::PhantomData;

use crate::{Decoded, Failure, LogBatch, ManifestPart, bindings, panics};

/// The logic of a nest: how its logs become rows. All three functions are pure.
pub trait Decoder {
    /// Turns the contracts of a nest (`config`, JSON as in the world's documentation) into the plan that the other two
    /// get. Called when a bundle is built. A nest whose code needs no plan keeps this default: an empty one.
    fn plan(config: &[u8]) -> Result<Vec<u8>, Failure> {
        let _ = config;
        Ok(Vec::new())
    }

    /// Tables and filters. Must equal the bundle's manifest.
    fn describe(plan: &[u8]) -> Result<ManifestPart, Failure>;

    /// Makes each log of the batch a source of rows, a rejection, or ignored. The outcome of a log depends on the plan
    /// and that log alone, never on the others of its batch.
    fn decode(plan: &[u8], batch: &LogBatch) -> Result<Decoded, Failure>;
}

/// Carries a [`Decoder`] to the exports. Named by [`export_decoder!`](crate::export_decoder) only.
pub struct Exported<D>(PhantomData<D>);

impl<D: Decoder> bindings::Guest for Exported<D> {
    fn plan(config: Vec<u8>) -> Result<Vec<u8>, Failure> {
        panics::report();
        D::plan(&config)
    }

    fn describe(plan: Vec<u8>) -> Result<ManifestPart, Failure> {
        panics::report();
        D::describe(&plan)
    }

    fn decode(plan: Vec<u8>, batch: LogBatch) -> Result<Decoded, Failure> {
        panics::report();
        D::decode(&plan, &batch)
    }
}

/// Exports a [`Decoder`] as the component's three functions. Does nothing in a native build, so that a nest's crate can
/// be tested as any other.
#[macro_export]
macro_rules! export_decoder {
    ($decoder:ty) => {
        #[cfg(target_arch = "wasm32")]
        type NuthatchExported = $crate::Exported<$decoder>;
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::export!(NuthatchExported with_types_in $crate::bindings);
    };
}
