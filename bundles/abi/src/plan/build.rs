//! From the contracts of a nest and their ABIs to a plan.

mod tables;

use std::collections::HashSet;

use nuthatch_sdk::{Failure, failure};

use super::codec::{MAX_ABI_NAME, MAX_PARAMS, MAX_TABLES};
use super::{Contract, Form, Owners, Param, Plan};
use crate::abi::{self, Broken, Event};
use crate::config::{Config, ContractConfig};
use crate::types::{Kind, Type};
use crate::{hex, naming};

/// Works out the plan of these contracts.
pub fn build(config: &Config<'_>) -> Result<Plan<'static>, Failure> {
    if config.contracts.is_empty() {
        return Err(failure("no-contracts", "the nest names no contract, so there is nothing to decode"));
    }
    let mut aliases = HashSet::new();
    let mut owners = Vec::new();
    let mut contracts = Vec::new();
    for (place, contract) in config.contracts.iter().enumerate() {
        check_alias(&contract.alias)?;
        if !aliases.insert(contract.alias.as_str()) {
            return Err(failure("bad-config", format!("two contracts have the alias '{}'", contract.alias)));
        }
        owners.extend(addresses(contract)?.into_iter().map(|address| (address, place as u32)));
        contracts.push(build_contract(contract)?);
    }
    let owners = Owners::new(owners);
    if let Some((address, first, second)) = owners.twice() {
        let alias = |place: u32| config.contracts[place as usize].alias.as_str();
        let message = format!(
            "address {} is listed under '{}' and under '{}'; list it once, with both ABIs under one alias",
            hex::text(&address),
            alias(first.min(second)),
            alias(first.max(second))
        );
        return Err(failure("bad-config", message));
    }
    let tables: usize = contracts.iter().map(|contract| contract.forms.len()).sum();
    if tables > MAX_TABLES {
        let message = format!("the nest has {tables} events, more than {MAX_TABLES}; narrow them with `events`");
        return Err(failure("too-many-events", message));
    }
    Ok(Plan { contracts, owners })
}

fn check_alias(alias: &str) -> Result<(), Failure> {
    let first = alias.starts_with(|first: char| first.is_ascii_lowercase());
    let plain = alias.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    if first && plain && !alias.contains("__") && !alias.ends_with('_') && alias.len() <= naming::MAX_NAME {
        return Ok(());
    }
    let alias = alias.chars().take(80).collect::<String>();
    let message = format!(
        "'{}' is not an alias: a lower-case letter, then lower-case letters, digits and single underscores, {} at most",
        alias.escape_debug(),
        naming::MAX_NAME
    );
    Err(failure("bad-config", message))
}

fn addresses(contract: &ContractConfig<'_>) -> Result<Vec<[u8; 20]>, Failure> {
    let alias = &contract.alias;
    let mut addresses = Vec::new();
    for text in &contract.addresses {
        let Some(address) = hex::address(text) else {
            let shown = text.chars().take(80).collect::<String>();
            let message = format!(
                "contract '{alias}': '{}' is not an address: 0x and forty hex digits are expected",
                shown.escape_debug()
            );
            return Err(failure("bad-config", message));
        };
        addresses.push(address);
    }
    if addresses.is_empty() {
        return Err(failure("bad-config", format!("contract '{alias}' names no address")));
    }
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

fn build_contract(config: &ContractConfig<'_>) -> Result<Contract<'static>, Failure> {
    let alias = config.alias.as_str();
    let events = merged(config)?;
    let mut wanted = Wanted::new(config);
    let selected: Vec<bool> = events.iter().map(|event| wanted.selects(event)).collect();
    wanted.check_used(alias, &events)?;

    let named = tables::names(alias, events.iter().map(|event| event.as_ref().ok()));
    let mut forms = Vec::new();
    for ((event, table), _) in events.iter().zip(named).zip(selected).filter(|(_, selected)| *selected) {
        match (event, table) {
            (Ok(event), Some(table)) => forms.push(form(alias, event, table)?),
            (Err(broken), _) => return Err(unsupported(alias, &broken.name, &broken.reason)),
            (Ok(event), None) => return Err(unsupported(alias, &event.name, "its name gives no table name")),
        }
    }
    if forms.is_empty() {
        let message = match events.is_empty() {
            true => format!("contract '{alias}': its ABI declares no event"),
            false => format!(
                "contract '{alias}': no event of its ABI is selected; anonymous ones are listed under `anonymous`"
            ),
        };
        return Err(failure("no-events", message));
    }
    tables::check_distinct(alias, &forms)?;
    let narrowed = config.events.is_some() && forms.iter().all(|form| form.topic0.is_some());
    Ok(Contract { alias: alias.to_owned().into(), start_block: config.start_block, narrowed, forms })
}

type Declared = Result<Event, Broken>;

/// All events of a contract's ABIs, each declaration once: the first names its parameters.
fn merged(config: &ContractConfig<'_>) -> Result<Vec<Declared>, Failure> {
    let alias = &config.alias;
    if config.abis.is_empty() {
        return Err(failure("bad-abi", format!("contract '{alias}' has no ABI")));
    }
    let mut seen = HashSet::new();
    let mut merged = Vec::new();
    for (place, abi) in config.abis.iter().enumerate() {
        let events = abi::events(abi.get())
            .map_err(|error| failure("bad-abi", format!("contract '{alias}', ABI {}: {error}", place + 1)))?;
        for event in events {
            let new = match &event {
                Ok(event) => {
                    let indexed: Vec<bool> = event.inputs.iter().map(|input| input.indexed).collect();
                    seen.insert((event.signature(), indexed, event.anonymous))
                }
                Err(_) => true,
            };
            if new {
                merged.push(event);
            }
        }
    }
    Ok(merged)
}

/// Which events are wanted, and which of the wishes have been met.
struct Wanted<'a> {
    events: Option<Vec<(&'a str, bool)>>,
    anonymous: Vec<(&'a str, bool)>,
}

impl<'a> Wanted<'a> {
    fn new(config: &'a ContractConfig<'_>) -> Self {
        let wishes = |names: &'a Vec<String>| names.iter().map(|name| (name.as_str(), false)).collect();
        Wanted { events: config.events.as_ref().map(wishes), anonymous: wishes(&config.anonymous) }
    }

    fn selects(&mut self, event: &Declared) -> bool {
        let (name, anonymous) = match event {
            Ok(event) => (&event.name, event.anonymous),
            Err(broken) => (&broken.name, broken.anonymous),
        };
        match (anonymous, &mut self.events) {
            (true, _) => meet(&mut self.anonymous, name, event.as_ref().ok()),
            (false, Some(events)) => meet(events, name, event.as_ref().ok()),
            (false, None) => true,
        }
    }

    fn check_used(&self, alias: &str, events: &[Declared]) -> Result<(), Failure> {
        let names = |anonymous: bool| {
            let names = events.iter().flatten().filter(|event| event.anonymous == anonymous);
            let names: Vec<&str> = names.map(|event| event.name.as_str()).take(40).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let unmet = |wishes: &[(&str, bool)]| {
            wishes.iter().find(|(_, met)| !met).map(|(name, _)| name.chars().take(80).collect::<String>())
        };
        if let Some(name) = self.events.as_deref().and_then(unmet) {
            let message = format!(
                "contract '{alias}': `events` names '{}', which its ABI does not declare as an event that is not \
                 anonymous; it declares {}",
                name.escape_debug(),
                names(false)
            );
            return Err(failure("unknown-event", message));
        }
        if let Some(name) = unmet(&self.anonymous) {
            let message = format!(
                "contract '{alias}': `anonymous` names '{}', which its ABI does not declare as an anonymous event; it \
                 declares {}",
                name.escape_debug(),
                names(true)
            );
            return Err(failure("unknown-event", message));
        }
        Ok(())
    }
}

/// Whether a wish names the event, by name or by signature.
fn meet(wishes: &mut [(&str, bool)], name: &str, event: Option<&Event>) -> bool {
    let mut met = false;
    for (wish, seen) in wishes {
        if *wish == name || (wish.contains('(') && event.is_some_and(|event| event.signature() == **wish)) {
            (*seen, met) = (true, true);
        }
    }
    met
}

fn form(alias: &str, event: &Event, table: String) -> Result<Form<'static>, Failure> {
    let names = event.inputs.iter().map(|input| (input.name.as_str(), input.indexed && !is_word(&input.ty)));
    let columns = naming::columns(names);
    let params = event.inputs.iter().zip(columns);
    let form = Form {
        table: table.into(),
        event: event.name.clone().into(),
        topic0: (!event.anonymous).then(|| event.topic0()),
        params: params
            .map(|(input, column)| Param {
                column: column.into(),
                name: input.name.clone().into(),
                ty: input.ty.clone(),
                indexed: input.indexed,
            })
            .collect(),
    };
    if form.params.len() > MAX_PARAMS {
        return Err(unsupported(alias, &event.name, &format!("it has more than {MAX_PARAMS} parameters")));
    }
    if names_of(event).any(|name| name.len() > MAX_ABI_NAME) {
        return Err(unsupported(alias, "one", &format!("it has a name of more than {MAX_ABI_NAME} bytes")));
    }
    Ok(form)
}

fn is_word(ty: &Type) -> bool {
    matches!(ty.kind(), Kind::Word(_))
}

fn names_of(event: &Event) -> impl Iterator<Item = &str> {
    fn within<'a>(ty: &'a Type, names: &mut Vec<&'a str>) {
        match ty.kind() {
            Kind::Array(element) | Kind::FixedArray(element, _) => within(element, names),
            Kind::Tuple(fields) => fields.iter().for_each(|field| {
                names.push(&field.name);
                within(&field.ty, names);
            }),
            Kind::Word(_) | Kind::Bytes | Kind::String => {}
        }
    }
    let mut names = vec![event.name.as_str()];
    for input in &event.inputs {
        names.push(&input.name);
        within(&input.ty, &mut names);
    }
    names.into_iter()
}

fn unsupported(alias: &str, event: &str, reason: &str) -> Failure {
    let event = event.chars().take(80).collect::<String>();
    let message = format!(
        "contract '{alias}': event '{}' cannot be decoded: {reason}; leave it out with `events`",
        event.escape_debug()
    );
    failure("unsupported-event", message)
}
