//! Which logs are wanted: the filters of one nest, or of all nests that share a fetch.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::model::{Address, B256, BlockNumber, BlockRange, LogBatch, LogFilter, LogView};

use super::error::{ChainError, Result};
use super::queries::{self, LogQuery, QueryLimits};

/// One filter, parsed. Empty sets mean "any".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Filter {
    pub addresses: BTreeSet<Address>,
    pub topics: BTreeSet<B256>,
    pub start: BlockNumber,
}

impl Filter {
    fn wants_topic(&self, topic0: Option<&B256>) -> bool {
        self.topics.is_empty() || topic0.is_some_and(|topic| self.topics.contains(topic))
    }
}

/// A set of filters. A log is wanted when any of them wants it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct LogFilters(Arc<Compiled>);

#[derive(Debug, Default)]
struct Compiled {
    filters: Vec<Filter>,
    /// Filters that name a contract, by contract.
    by_address: HashMap<Address, Vec<usize>>,
    /// Filters that take any contract.
    any_address: Vec<usize>,
}

impl PartialEq for LogFilters {
    fn eq(&self, other: &Self) -> bool {
        self.0.filters == other.0.filters
    }
}

impl LogFilters {
    /// Parses the filters of a manifest.
    pub fn parse(filters: &[LogFilter]) -> Result<Self> {
        let filters = filters.iter().map(parse_filter).collect::<Result<Vec<_>>>()?;
        Ok(Self::from_filters(filters))
    }

    /// The filters of several nests together, for one fetch that serves all of them.
    pub fn union<'a>(sets: impl IntoIterator<Item = &'a LogFilters>) -> Self {
        Self::from_filters(sets.into_iter().flat_map(|set| set.0.filters.iter().cloned()).collect())
    }

    fn from_filters(mut filters: Vec<Filter>) -> Self {
        filters.sort();
        filters.dedup();
        let mut by_address: HashMap<Address, Vec<usize>> = HashMap::new();
        let mut any_address = Vec::new();
        for (place, filter) in filters.iter().enumerate() {
            if filter.addresses.is_empty() {
                any_address.push(place);
            }
            for address in &filter.addresses {
                by_address.entry(*address).or_default().push(place);
            }
        }
        LogFilters(Arc::new(Compiled { filters, by_address, any_address }))
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        self.0.filters.is_empty()
    }

    /// The first block from which any filter wants logs.
    pub fn first_block(&self) -> Option<BlockNumber> {
        self.0.filters.iter().map(|filter| filter.start).min()
    }

    /// Whether the log belongs to one of these filters: contract, first topic, and start block.
    pub fn matches(&self, log: &LogView<'_>) -> bool {
        let Compiled { filters, by_address, any_address } = &*self.0;
        let named = by_address.get(&log.address).into_iter().flatten();
        named.chain(any_address).any(|&place| {
            let filter = &filters[place];
            filter.start <= log.block.number && filter.wants_topic(log.topics.first())
        })
    }

    /// The logs of the batch that belong to these filters, in the same order. Nothing is copied when all do.
    pub fn select<'a>(&self, batch: &'a LogBatch) -> Cow<'a, LogBatch> {
        let places: Vec<usize> = (0..batch.len()).filter(|&place| self.matches(&batch.get(place))).collect();
        if places.len() == batch.len() { Cow::Borrowed(batch) } else { Cow::Owned(batch.select(places)) }
    }

    /// [`LogFilters::select`] for a batch that is not needed afterwards.
    pub fn select_owned(&self, batch: LogBatch) -> LogBatch {
        match self.select(&batch) {
            Cow::Owned(picked) => picked,
            Cow::Borrowed(_) => batch,
        }
    }

    /// The `eth_getLogs` requests that together bring every log of the range that is wanted, and maybe others.
    pub(super) fn queries(&self, range: BlockRange, limits: &QueryLimits) -> Vec<LogQuery> {
        let active = self.0.filters.iter().filter(|filter| filter.start <= range.last);
        queries::compile(active, limits)
    }
}

fn parse_filter(filter: &LogFilter) -> Result<Filter> {
    let address = |text: &String| parse_hex::<20>(text, "an address").map(Address::from);
    let topic = |text: &String| parse_hex::<32>(text, "a topic").map(B256::from);
    Ok(Filter {
        addresses: filter.addresses.iter().map(address).collect::<Result<_>>()?,
        topics: filter.topics.iter().map(topic).collect::<Result<_>>()?,
        start: BlockNumber(filter.start_block),
    })
}

fn parse_hex<const N: usize>(text: &str, expected: &'static str) -> Result<[u8; N]> {
    super::wire::fixed_hex(text)
        .map_err(|_| ChainError::BadFilter { text: text.escape_debug().take(80).collect(), expected })
}

#[cfg(test)]
#[path = "filters_tests.rs"]
mod tests;
