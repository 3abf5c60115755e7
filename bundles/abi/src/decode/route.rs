//! Which event a log belongs to.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use nuthatch_sdk::{Log, Logs};

use super::body::{NoSink, Walk, budget};
use super::check::{Check, same};
use super::fault::{Fault, Wrong};
use crate::plan::{Form, Owners, Plan};
use crate::types::Kind;

/// What becomes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A row of the event at this place of the plan, unless a value turns out to be wrong.
    Row(u32),
    /// Not an event of the plan.
    Ignored,
    /// An event of the plan whose declarations have another number of topics.
    Mismatch(ByCount),
    /// The event at this place, with less data than it takes.
    TooShort(u32),
}

/// Places of the forms of one event by their number of indexed parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByCount([u32; 4]);

const NONE: u32 = u32::MAX;

impl ByCount {
    fn forms(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().filter(|form| *form != NONE)
    }
}

/// The events of one contract.
struct Events<'p> {
    start_block: u64,
    /// Places of its forms.
    forms: Range<usize>,
    /// Made when the first of its logs is seen.
    regular: Option<HashMap<&'p [u8; 32], ByCount, BuildHasherDefault<Words>>>,
    /// Places of the anonymous forms, in order.
    anonymous: Vec<u32>,
}

/// Finds the event of each log. Remembers the last find, since logs of one kind come in runs.
pub struct Router<'p> {
    forms: Vec<&'p Form<'p>>,
    heads: Vec<usize>,
    contracts: Vec<Events<'p>>,
    owners: &'p Owners<'p>,
    last_address: [u8; 20],
    last_contract: u32,
    last_topic: [u8; 32],
    last_forms: Option<ByCount>,
    /// Declarations of forms, once a rejection has named them.
    declarations: HashMap<u32, String, BuildHasherDefault<Words>>,
}

impl<'p> Router<'p> {
    /// For the events of a plan.
    pub fn new(plan: &'p Plan<'p>) -> Self {
        let mut forms = Vec::new();
        let mut contracts = Vec::with_capacity(plan.contracts.len());
        for contract in &plan.contracts {
            let first = forms.len();
            forms.extend(&contract.forms);
            contracts.push(Events {
                start_block: contract.start_block,
                forms: first..forms.len(),
                regular: None,
                anonymous: Vec::new(),
            });
        }
        let heads = forms.iter().map(|form| form.head()).collect();
        Router {
            forms,
            heads,
            contracts,
            owners: &plan.owners,
            last_address: [0; 20],
            last_contract: NONE,
            last_topic: [0; 32],
            last_forms: None,
            declarations: HashMap::default(),
        }
    }

    fn declaration(&mut self, form: u32) -> &str {
        self.declarations.entry(form).or_insert_with(|| self.forms[form as usize].declaration())
    }

    /// All events, in the order of their tables.
    pub fn forms(&self) -> &[&'p Form<'p>] {
        &self.forms
    }

    /// What becomes of the log at this place.
    #[inline(always)]
    pub fn route(&mut self, logs: &Logs<'_>, index: usize) -> Route {
        let address = logs.address(index);
        if (self.last_contract == NONE || !same_address(address, &self.last_address)) && !self.find_contract(address) {
            return Route::Ignored;
        }
        let events = &self.contracts[self.last_contract as usize];
        if logs.block_number(index) < events.start_block {
            return Route::Ignored;
        }
        let topics = logs.topics(index);
        let Some(topic0) = topics.first() else {
            return self.anonymous(&logs.get(index));
        };
        if !same(topic0, &self.last_topic) || self.last_forms.is_none() {
            self.find_topic(topic0);
        }
        let Some(by_count) = self.last_forms else {
            return self.anonymous(&logs.get(index));
        };
        match by_count.0.get(topics.len() - 1) {
            None | Some(&NONE) => Route::Mismatch(by_count),
            Some(form) if logs.data(index).len() < self.heads[*form as usize] => Route::TooShort(*form),
            Some(form) => Route::Row(*form),
        }
    }

    /// Makes the contract of the address the last one found, where there is one.
    #[inline(never)]
    fn find_contract(&mut self, address: &[u8; 20]) -> bool {
        let Some(contract) = self.owners.find(address) else {
            return false;
        };
        let Some(events) = self.contracts.get_mut(contract as usize) else {
            return false;
        };
        if contract != self.last_contract {
            self.last_forms = None;
        }
        self.last_address = *address;
        self.last_contract = contract;
        if events.regular.is_none() {
            let mut regular: HashMap<_, ByCount, _> = HashMap::default();
            for place in events.forms.clone() {
                let form = self.forms[place];
                match &form.topic0 {
                    None => events.anonymous.push(place as u32),
                    Some(topic0) => {
                        let by_count = regular.entry(topic0).or_insert(ByCount([NONE; 4]));
                        by_count.0[form.indexed().min(3)] = place as u32;
                    }
                }
            }
            events.regular = Some(regular);
        }
        true
    }

    /// Looks the topic up among the last contract's.
    #[inline(never)]
    fn find_topic(&mut self, topic0: &[u8; 32]) {
        self.last_topic = *topic0;
        let regular = self.contracts[self.last_contract as usize].regular.as_ref();
        self.last_forms = regular.and_then(|regular| regular.get(topic0)).copied();
    }

    /// Why a log of the event is rejected for its topics.
    pub fn mismatch(&mut self, by_count: ByCount, topics: usize) -> Fault {
        let mut declared = String::new();
        for form in by_count.forms() {
            declared.push_str(if declared.is_empty() { "" } else { " or " });
            declared.push_str(self.declaration(form));
        }
        Fault::new("topic-count-mismatch", &declared, format_args!("the log has {topics} topics"))
    }

    /// Why a log of the event is rejected for the length of its data.
    pub fn too_short(&mut self, form: u32, len: usize) -> Fault {
        let head = self.heads[form as usize];
        let code = Wrong::TooShort { end: head as u64, len }.code();
        let detail = format_args!("its parameters take {head} bytes at least, the data has {len} bytes");
        Fault::new(code, self.declaration(form), detail)
    }

    /// An anonymous event's log tells nothing of its event: the first that fits in count of topics, values and length of
    /// data takes it, else the first that fits but for data that go on.
    #[inline(never)]
    fn anonymous(&self, log: &Log<'_>) -> Route {
        let mut loose = Route::Ignored;
        for &place in &self.contracts[self.last_contract as usize].anonymous {
            match fit(self.forms[place as usize], log) {
                Fit::Exact => return Route::Row(place),
                Fit::Loose if loose == Route::Ignored => loose = Route::Row(place),
                Fit::Loose | Fit::No => {}
            }
        }
        loose
    }
}

#[inline(always)]
fn same_address(one: &[u8; 20], other: &[u8; 20]) -> bool {
    let lanes = |address: &[u8; 20]| {
        let (lanes, rest) = address.as_chunks();
        let low = rest.first_chunk().copied().unwrap_or_default();
        (u64::from_ne_bytes(lanes[0]), u64::from_ne_bytes(lanes[1]), u32::from_ne_bytes(low))
    };
    lanes(one) == lanes(other)
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

fn fit(form: &Form<'_>, log: &Log<'_>) -> Fit {
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

/// Hashes topics and places by their own bits: the keys are the nest's, so that nobody can make them collide.
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

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
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
