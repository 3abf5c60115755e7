//! A guest that attacks its host. Its plan is the name of the attack, as text; an argument follows a colon.
//!
//! `plan` gives its configuration back as the plan. Without an attack, every log makes one row of `evil__logs`.

mod attacks;
mod honest;
mod spoil;

mod bindings {
    wit_bindgen::generate!({ path: "../../../schemas/wit/v1", world: "decoder" });
    use super::Evil;
    export!(Evil);
}

use bindings::nuthatch::nest::types::{Decoded, Failure, LogBatch, ManifestPart};

struct Evil;

/// The attack's name and its argument.
fn mode(plan: &[u8]) -> (&str, &str) {
    let text = core::str::from_utf8(plan).unwrap_or_default();
    text.split_once(':').unwrap_or((text, ""))
}

impl bindings::Guest for Evil {
    fn plan(config: Vec<u8>) -> Result<Vec<u8>, Failure> {
        match mode(&config) {
            ("plan-loop", _) => attacks::forever(),
            ("plan-panic", _) => panic!("as told"),
            ("plan-failure", _) => Err(attacks::failure()),
            ("plan-huge", _) => Ok(vec![b'x'; 16 << 20]),
            _ => Ok(config),
        }
    }

    fn describe(plan: Vec<u8>) -> Result<ManifestPart, Failure> {
        match mode(&plan) {
            ("describe-loop", _) => attacks::forever(),
            ("describe-panic", _) => panic!("as told"),
            ("describe-failure", _) => Err(attacks::failure()),
            ("describe-bad-type", _) => {
                let mut part = honest::describe();
                part.tables[0].columns[0].type_ = "uint7".into();
                Ok(part)
            }
            _ => Ok(honest::describe()),
        }
    }

    fn decode(plan: Vec<u8>, batch: LogBatch) -> Result<Decoded, Failure> {
        let (name, argument) = mode(&plan);
        if let Some(outcome) = attacks::attack(name, argument, &batch) {
            return outcome;
        }
        let mut decoded = honest::decode(&batch);
        if !spoil::spoil(name, argument, &mut decoded, batch.len) {
            return Err(Failure { code: "no-such-mode".into(), message: name.into() });
        }
        Ok(decoded)
    }
}
