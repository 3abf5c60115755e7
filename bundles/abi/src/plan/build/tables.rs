//! Names of tables: `{alias}__{event}`, with a suffix from the signature where events share a name.

use std::collections::{HashMap, HashSet};

use nuthatch_sdk::{Failure, failure};

use crate::abi::Event;
use crate::naming::{MAX_NAME, cut, snake};
use crate::plan::Form;
use crate::{hex, keccak::keccak};

/// The table of each event; none where there is no event or its name holds nothing to name a table by. What is selected
/// does not matter here, so that selecting one more event renames no table.
pub fn names<'a>(alias: &str, events: impl Iterator<Item = Option<&'a Event>>) -> Vec<Option<String>> {
    let events: Vec<Option<(&Event, String)>> =
        events.map(|event| event.map(|event| (event, snake(&event.name)))).collect();
    let mut signatures: HashMap<&str, HashSet<String>> = HashMap::new();
    let mut layouts: HashMap<String, usize> = HashMap::new();
    let mut regular: HashSet<String> = HashSet::new();
    for (event, name) in events.iter().flatten() {
        let signature = event.signature();
        signatures.entry(name).or_default().insert(signature.clone());
        *layouts.entry(format!("{}{signature}", event.anonymous)).or_default() += 1;
        if !event.anonymous {
            regular.insert(signature);
        }
    }
    let table = |event: &Event, name: &str| {
        let signature = event.signature();
        let mut suffix = String::new();
        if signatures.get(name).is_some_and(|found| found.len() > 1) {
            suffix.push('_');
            hex::push_digits(&mut suffix, &keccak(signature.as_bytes())[..4]);
        }
        if event.anonymous && regular.contains(&signature) {
            suffix.push_str("_anonymous");
        }
        if layouts.get(&format!("{}{signature}", event.anonymous)).is_some_and(|count| *count > 1) {
            suffix.push_str(&format!("_ix{}", event.indexed()));
        }
        format!("{alias}__{}{suffix}", cut(name, MAX_NAME - suffix.len(), &signature))
    };
    let named = |(event, name): &(&Event, String)| (!name.is_empty()).then(|| table(event, name));
    events.iter().map(|event| event.as_ref().and_then(named)).collect()
}

/// Refuses forms between which a log cannot choose.
pub fn check_distinct(alias: &str, forms: &[Form<'_>]) -> Result<(), Failure> {
    for (place, form) in forms.iter().enumerate() {
        for other in &forms[..place] {
            let alike = match form.topic0 {
                Some(_) => form.topic0 == other.topic0 && form.indexed() == other.indexed(),
                None => other.topic0.is_none() && shape(form) == shape(other),
            };
            if alike {
                let message = format!(
                    "contract '{alias}': a log of '{}' cannot be told from one of '{}'; take one of them out of the ABI",
                    form.declaration(),
                    other.declaration()
                );
                return Err(failure("indistinguishable-events", message));
            }
            if form.table == other.table {
                let message = format!(
                    "contract '{alias}': '{}' and '{}' would both fill the table '{}'; leave one out with `events`",
                    form.declaration(),
                    other.declaration(),
                    form.table
                );
                return Err(failure("indistinguishable-events", message));
            }
        }
    }
    Ok(())
}

/// What an anonymous event's logs are told by: types in topics and in data.
fn shape(form: &Form<'_>) -> (Vec<String>, Vec<String>) {
    let types = |indexed: bool| {
        form.params.iter().filter(|param| param.indexed == indexed).map(|param| param.ty.to_string()).collect()
    };
    (types(true), types(false))
}
