//! Which event a log belongs to.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use nuthatch_sdk::Log;

use super::body::{NoSink, Walk, budget};
use super::check::Check;
use super::fault::{Fault, Wrong};
use crate::plan::{Form, Plan};
use crate::types::Kind;

/// What becomes of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// A row of the event at this place of the plan, unless a value turns out to be wrong.
    Row(usize),
    /// Not an event of the plan.
    Ignored,
    /// An event of the plan that cannot be decoded.
    Rejected(Fault),
}

/// The events of one contract.
struct Events<'p> {
    start_block: u64,
    /// By first topic; the places of the forms by number of indexed parameters.
    regular: HashMap<&'p [u8; 32], [Option<u32>; 4], BuildHasherDefault<Words>>,
    /// Places of the anonymous forms, in order.
    anonymous: Vec<u32>,
}

/// Finds the event of each log. Remembers the last find, since logs of one kind come in runs.
pub struct Router<'p> {
    forms: Vec<&'p Form>,
    heads: Vec<usize>,
    contracts: Vec<Events<'p>>,
    addresses: HashMap<&'p [u8; 20], u32, BuildHasherDefault<Words>>,
    last_address: Option<(&'p [u8; 20], u32)>,
    last_topic: Option<(u32, &'p [u8; 32], [Option<u32>; 4])>,
}

impl<'p> Router<'p> {
    /// For the events of a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let mut forms = Vec::new();
        let mut contracts = Vec::with_capacity(plan.contracts.len());
        let mut addresses = HashMap::default();
        for (place, contract) in plan.contracts.iter().enumerate() {
            addresses.extend(contract.addresses.iter().map(|address| (address, place as u32)));
            let mut events =
                Events { start_block: contract.start_block, regular: HashMap::default(), anonymous: Vec::new() };
            for form in &contract.forms {
                let place = forms.len() as u32;
                match &form.topic0 {
                    None => events.anonymous.push(place),
                    Some(topic0) => events.regular.entry(topic0).or_default()[form.indexed().min(3)] = Some(place),
                }
                forms.push(form);
            }
            contracts.push(events);
        }
        let heads = forms.iter().map(|form| form.head()).collect();
        Router { forms, heads, contracts, addresses, last_address: None, last_topic: None }
    }

    /// All events, in the order of their tables.
    pub fn forms(&self) -> &[&'p Form] {
        &self.forms
    }

    /// What becomes of this log.
    pub fn route(&mut self, log: &Log<'_>) -> Route {
        let Some(contract) = self.contract(log.address) else {
            return Route::Ignored;
        };
        if log.block_number < self.contracts[contract as usize].start_block {
            return Route::Ignored;
        }
        let by_count = log.topics.first().and_then(|topic0| self.by_topic(contract, topic0));
        match by_count {
            Some(by_count) => match by_count.get(log.topics.len() - 1).copied().flatten() {
                Some(form) => self.regular(form as usize, log),
                None => Route::Rejected(self.mismatch(by_count, log)),
            },
            None => self.anonymous(contract, log),
        }
    }

    fn contract(&mut self, address: &[u8; 20]) -> Option<u32> {
        if let Some((last, contract)) = self.last_address
            && last == address
        {
            return Some(contract);
        }
        let (address, contract) = self.addresses.get_key_value(address)?;
        self.last_address = Some((address, *contract));
        Some(*contract)
    }

    fn by_topic(&mut self, contract: u32, topic0: &[u8; 32]) -> Option<[Option<u32>; 4]> {
        if let Some((of, last, by_count)) = self.last_topic
            && of == contract
            && last == topic0
        {
            return Some(by_count);
        }
        let (topic0, by_count) = self.contracts[contract as usize].regular.get_key_value(topic0)?;
        self.last_topic = Some((contract, topic0, *by_count));
        Some(*by_count)
    }

    fn regular(&self, form: usize, log: &Log<'_>) -> Route {
        let (head, len) = (self.heads[form], log.data.len());
        if len >= head {
            return Route::Row(form);
        }
        let wrong = Wrong::TooShort { end: head as u64, len };
        let detail = format!(
            "{}: its parameters take {head} bytes at least, the data has {len} bytes",
            self.forms[form].declaration()
        );
        Route::Rejected(Fault { code: wrong.code(), detail })
    }

    fn mismatch(&self, by_count: [Option<u32>; 4], log: &Log<'_>) -> Fault {
        let forms: Vec<String> =
            by_count.iter().flatten().map(|form| self.forms[*form as usize].declaration()).collect();
        let topics = log.topics.len();
        let detail = format!("the log has {topics} topics, which does not fit {}", forms.join(" or "));
        Fault { code: "topic-count-mismatch", detail }
    }

    /// An anonymous event's log tells nothing of its event: the first that fits in count of topics, values and length of
    /// data takes it, else the first that fits but for data that go on.
    fn anonymous(&self, contract: u32, log: &Log<'_>) -> Route {
        let mut loose = None;
        for &place in &self.contracts[contract as usize].anonymous {
            match fit(self.forms[place as usize], log) {
                Fit::Exact => return Route::Row(place as usize),
                Fit::Loose => loose = loose.or(Some(place)),
                Fit::No => {}
            }
        }
        loose.map_or(Route::Ignored, |place| Route::Row(place as usize))
    }
}

/// How well a log fits an anonymous event.
enum Fit {
    /// Data end where the last value does, give or take its padding.
    Exact,
    /// Data go on.
    Loose,
    /// Another number of topics, or a value that cannot be.
    No,
}

fn fit(form: &Form, log: &Log<'_>) -> Fit {
    if form.indexed() != log.topics.len() {
        return Fit::No;
    }
    let mut topics = log.topics.iter();
    let mut walk = Walk::new(log.data, budget(log.data.len()));
    let mut at = 0;
    for param in &form.params {
        if !param.indexed {
            if walk.value(&param.ty, 0, at, &mut NoSink).is_err() {
                return Fit::No;
            }
            at += param.ty.slot() as usize;
        } else if let (Some(topic), Kind::Word(word)) = (topics.next(), param.ty.kind())
            && !Check::new(*word).passes(topic)
        {
            return Fit::No;
        }
    }
    if log.data.len() <= walk.end.next_multiple_of(32) { Fit::Exact } else { Fit::Loose }
}

/// Hashes addresses and topics by their own bits: the keys are the nest's, so that nobody can make them collide.
#[derive(Default)]
struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.write_u64(u64::from_ne_bytes(*word));
        }
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_usize(&mut self, _: usize) {
        // The length that comes before the bytes is always the same.
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
