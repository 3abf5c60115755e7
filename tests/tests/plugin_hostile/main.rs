//! Hostile guests: each attack ends in an error of its own, within its budget, and the host stays up (I10, I15, I16).

#![allow(clippy::unwrap_used)]

mod halving;
mod isolation;
mod load;
mod logging;
mod malformed;
mod output;
mod waste;

use nuthatch::model::{Fault, LogBatch};
use nuthatch::plugin::{Budget, DecodeError, Decoder, PluginHost};
use nuthatch_tests::guests::{evil_decode, evil_logs};

/// The fault of a batch that must have one.
fn fault(outcome: Result<nuthatch::plugin::Decoded, DecodeError>) -> Fault {
    match outcome {
        Err(DecodeError::Fault(fault)) => fault,
        other => panic!("a fault is expected, not {other:?}"),
    }
}

/// The hostile guest's fault over three logs, as `class: message`.
fn evil_fault(mode: &str) -> String {
    let fault = fault(evil_decode(mode, &evil_logs(10..13, &[])));
    format!("{}: {}", fault.class, fault.message)
}

/// A guest from text, as a decoder without tables.
fn decoder(host: &PluginHost, component: &[u8]) -> Decoder {
    let plugin = host.load(component).unwrap();
    Decoder::new(plugin, &"text".parse().unwrap(), Vec::new(), Vec::new(), Budget::DEFAULT)
}

/// The fault of a guest from text, as `class: message`.
fn text_fault(host: &PluginHost, component: &[u8], batch: &LogBatch) -> String {
    let fault = fault(decoder(host, component).decode_blocking(batch));
    format!("{}: {}", fault.class, fault.message)
}
