//! Turns filters into as few `eth_getLogs` requests as sensible.
//!
//! Two filters become one request where that asks for nothing more: same topics, or same contracts. Only when there
//! would be too many requests are unlike ones joined, the cheapest pair first; what comes too much is dropped locally.

use std::collections::BTreeSet;

use crate::model::{Address, B256, BlockNumber, BlockRange, LogBatch, LogView};

use super::filters::Filter;

/// Bounds of requests.
#[derive(Clone, Debug)]
pub(super) struct QueryLimits {
    /// Requests per range before unlike filters are joined.
    pub requests: usize,
    /// Contracts in one request. Learned from refusals.
    pub addresses: usize,
    /// Contracts above which a request with topics drops its contracts and filters locally.
    pub topic_only: usize,
}

/// One request's contracts and first topics. Empty means any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogQuery {
    pub addresses: BTreeSet<Address>,
    pub topics: BTreeSet<B256>,
}

/// What a request for any topic is taken to cost, in topics.
const ANY_TOPIC: usize = 64;
/// Above this many requests the best pair is not looked for any more.
const PAIRS_LOOKED_AT: usize = 32;

/// The union of two sets in which empty means "any".
fn join<T: Ord + Copy>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> BTreeSet<T> {
    if one.is_empty() || other.is_empty() { BTreeSet::new() } else { one.union(other).copied().collect() }
}

impl LogQuery {
    /// The request for every log.
    pub fn everything() -> Self {
        LogQuery { addresses: BTreeSet::new(), topics: BTreeSet::new() }
    }

    /// Whether the request asks for this log.
    pub fn wants(&self, log: &LogView<'_>) -> bool {
        self.wants_address(&log.address) && self.wants_topic(log)
    }

    fn wants_address(&self, address: &Address) -> bool {
        self.addresses.is_empty() || self.addresses.contains(address)
    }

    fn wants_topic(&self, log: &LogView<'_>) -> bool {
        self.topics.is_empty() || log.topics.first().is_some_and(|topic| self.topics.contains(topic))
    }

    fn covers(&self, other: &LogQuery) -> bool {
        let addresses =
            self.addresses.is_empty() || (!other.addresses.is_empty() && other.addresses.is_subset(&self.addresses));
        let topics = self.topics.is_empty() || (!other.topics.is_empty() && other.topics.is_subset(&self.topics));
        addresses && topics
    }

    fn join(&self, other: &LogQuery) -> LogQuery {
        LogQuery { addresses: join(&self.addresses, &other.addresses), topics: join(&self.topics, &other.topics) }
    }

    fn area(&self) -> usize {
        let topics = if self.topics.is_empty() { ANY_TOPIC } else { self.topics.len() };
        self.addresses.len().saturating_mul(topics)
    }

    /// Whether joining asks for nothing that the two would not ask for themselves.
    fn joins_exactly(&self, other: &LogQuery) -> bool {
        self.covers(other) || other.covers(self) || self.topics == other.topics || self.addresses == other.addresses
    }

    /// Two halves by contract; none where there are not two contracts.
    pub fn split(&self) -> Option<(LogQuery, LogQuery)> {
        let middle = *self.addresses.iter().nth(self.addresses.len() / 2)?;
        let mut left = self.clone();
        let right = LogQuery { addresses: left.addresses.split_off(&middle), topics: self.topics.clone() };
        (!left.addresses.is_empty()).then_some((left, right))
    }

    /// The first log that the request did not ask for, in words.
    pub fn stranger(&self, batch: &LogBatch, range: BlockRange) -> Option<String> {
        batch.iter().find_map(|log| {
            let place = || format!("log {} of block {}", log.log_index, log.block.number);
            if !range.contains(log.block.number) {
                Some(format!("{} lies outside the blocks asked for", place()))
            } else if !self.wants_address(&log.address) {
                Some(format!("{} is of contract {}, which was not asked for", place(), log.address))
            } else if !self.wants_topic(&log) {
                Some(format!("{} has a first topic that was not asked for", place()))
            } else {
                None
            }
        })
    }

    /// Whether a block with this bloom can hold a log of this request. False is certain, true is not.
    pub fn may_be_in(&self, bloom: &alloy_primitives::Bloom) -> bool {
        use alloy_primitives::BloomInput;
        if bloom.is_zero() {
            return false;
        }
        let holds = |bytes: &[u8]| bloom.contains_input(BloomInput::Raw(bytes));
        (self.addresses.is_empty() || self.addresses.iter().any(|address| holds(address.as_slice())))
            && (self.topics.is_empty() || self.topics.iter().any(|topic| holds(topic.as_slice())))
    }

    /// The filter object of `eth_getLogs`, without its blocks.
    pub fn to_json(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut object = serde_json::Map::new();
        let list = |items: Vec<String>| serde_json::Value::from(items);
        if !self.addresses.is_empty() {
            object.insert("address".into(), list(self.addresses.iter().map(|a| format!("{a:#x}")).collect()));
        }
        if !self.topics.is_empty() {
            let first = list(self.topics.iter().map(|t| format!("{t:#x}")).collect());
            object.insert("topics".into(), serde_json::Value::Array(vec![first]));
        }
        object
    }
}

/// The requests for these filters.
pub(super) fn compile<'a>(filters: impl Iterator<Item = &'a Filter>, limits: &QueryLimits) -> Vec<LogQuery> {
    let mut queries: Vec<LogQuery> = Vec::new();
    for filter in filters {
        add(&mut queries, LogQuery { addresses: filter.addresses.clone(), topics: filter.topics.clone() });
    }
    while queries.len() > limits.requests.max(1) {
        let Some((one, other)) = cheapest_pair(&queries) else { break };
        let second = queries.swap_remove(other);
        let first = queries.swap_remove(one);
        add(&mut queries, first.join(&second));
    }
    queries.sort_by(|a, b| (&a.addresses, &a.topics).cmp(&(&b.addresses, &b.topics)));
    queries.into_iter().flat_map(|query| bound(query, limits)).collect()
}

/// Adds a query, joined with those that it joins exactly.
fn add(queries: &mut Vec<LogQuery>, mut query: LogQuery) {
    while let Some(place) = queries.iter().position(|there| there.joins_exactly(&query)) {
        query = queries.swap_remove(place).join(&query);
    }
    queries.push(query);
}

/// Places (lower first) of the two queries whose join asks for the fewest strangers. Joining with a query for any
/// contract is never worth it.
fn cheapest_pair(queries: &[LogQuery]) -> Option<(usize, usize)> {
    let looked_at = queries.len().min(PAIRS_LOOKED_AT);
    let pairs = (0..looked_at).flat_map(|one| (one + 1..looked_at).map(move |other| (one, other)));
    pairs.filter(|&(one, other)| !queries[one].addresses.is_empty() && !queries[other].addresses.is_empty()).min_by_key(
        |&(one, other)| {
            let (a, b) = (&queries[one], &queries[other]);
            a.join(b).area().saturating_sub(a.area() + b.area())
        },
    )
}

fn bound(query: LogQuery, limits: &QueryLimits) -> Vec<LogQuery> {
    let too_many = query.addresses.len() > limits.topic_only;
    if too_many && !query.topics.is_empty() {
        return vec![LogQuery { addresses: BTreeSet::new(), topics: query.topics }];
    }
    if query.addresses.len() <= limits.addresses {
        return vec![query];
    }
    let all: Vec<Address> = query.addresses.into_iter().collect();
    let chunk = |part: &[Address]| LogQuery { addresses: part.iter().copied().collect(), topics: query.topics.clone() };
    all.chunks(limits.addresses.max(1)).map(chunk).collect()
}

/// Blocks of a request, as JSON-RPC wants them.
pub(super) fn quantity(number: BlockNumber) -> String {
    format!("{:#x}", number.0)
}
