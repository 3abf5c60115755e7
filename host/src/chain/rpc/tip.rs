//! The tip: a piece of chain with its logs, all from one endpoint, held together by hashes.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};

use crate::chain::error::{Result, Trouble};
use crate::chain::filters::LogFilters;
use crate::chain::queries::LogQuery;
use crate::chain::range::Next;
use crate::chain::settle::{check_headers, check_logs_stand_in, settle};
use crate::chain::source::{NotLinked, Tip, TipWindow};
use crate::chain::wire::ParsedLogs;
use crate::model::{BlockNumber, BlockRange, BlockRef, Header, LogBatch};

use super::RpcSource;
use super::ask::{Blocks, ask};
use super::endpoint::Endpoint;
use super::headers::headers_of;
use super::http::GET_LOGS;

/// Windows up to this many blocks ask for logs by block hash, longer ones by number.
const BY_HASH: usize = 4;

impl RpcSource {
    pub(super) async fn tip(&self, filters: &LogFilters, parent: BlockRef, last: BlockNumber) -> Result<Tip> {
        let Some(range) = BlockRange::new(parent.number.next(), last) else {
            return Ok(Tip::Window(TipWindow { headers: Vec::new(), logs: LogBatch::new(self.chain.id) }));
        };
        let mut attempts = self.pool.attempts(GET_LOGS, Some(range));
        let mut parted: Option<NotLinked> = None;
        loop {
            let endpoint = match (self.pool.next(&mut attempts).await, parted.take()) {
                (Ok(endpoint), before) => {
                    parted = before;
                    endpoint
                }
                (Err(_), Some(parted)) => return Ok(Tip::NotLinked(parted)),
                (Err(error), None) => return Err(error),
            };
            let failed = match self.tip_from(&endpoint, filters, parent, range).await {
                Ok(Tip::Window(window)) => {
                    self.pool.succeeded(&endpoint);
                    return Ok(Tip::Window(window));
                }
                Ok(Tip::NotLinked(found)) => {
                    self.pool.succeeded(&endpoint);
                    self.pool.set_aside(&mut attempts, &endpoint);
                    parted.get_or_insert(found);
                    Ok(())
                }
                Err(trouble) => self.pool.failed(&mut attempts, &endpoint, trouble),
            };
            // One endpoint that has the parent outweighs those that do not; waiting for one would hide a reorg.
            match parted.take() {
                Some(parted) if failed.is_err() || !self.pool.has_untried(&attempts) => {
                    return Ok(Tip::NotLinked(parted));
                }
                before => parted = before,
            }
            failed?;
        }
    }

    async fn tip_from(
        &self,
        endpoint: &Arc<Endpoint>,
        filters: &LogFilters,
        parent: BlockRef,
        range: BlockRange,
    ) -> Result<Tip, Trouble> {
        let numbers: Vec<u64> = (range.first.0..=range.last.0).collect();
        let headers = headers_of(endpoint, &numbers).await?;
        check_headers(range.first.0, &headers).map_err(Trouble::Inconsistent)?;
        endpoint.saw_head(range.last);
        if let Some(first) = headers.first().filter(|first| first.parent_hash != parent.hash) {
            let found = NotLinked { parent, found: first.clone(), endpoint: endpoint.label().to_owned() };
            return Ok(Tip::NotLinked(found));
        }
        let by_hash = headers.len() <= BY_HASH && endpoint.takes_block_hash();
        let mut logs = LogBatch::new(self.chain.id);
        let mut doubtful = Vec::new();
        for query in filters.queries(range, &self.query_limits()) {
            let found = match by_hash {
                true => self.by_hash(endpoint, &query, &headers).await?,
                false => self.by_number(endpoint, &query, range).await?,
            };
            if found.removed > 0 {
                return Err(Trouble::Inconsistent(format!("{} logs are marked as removed", found.removed)));
            }
            doubtful.extend(self.doubtful(&query, &headers, &found.batch));
            logs.append(&found.batch);
        }
        let mut logs = filters.select_owned(logs);
        settle(&mut logs).map_err(Trouble::BadAnswer)?;
        check_logs_stand_in(&headers, &mut logs).map_err(Trouble::Inconsistent)?;
        self.confirm_empty(endpoint, doubtful).await?;
        if let (false, Some(tip)) = (by_hash, headers.last()) {
            self.still_there(endpoint, tip).await?;
        }
        Ok(Tip::Window(TipWindow { headers, logs }))
    }

    async fn by_hash(&self, endpoint: &Endpoint, query: &LogQuery, headers: &[Header]) -> Result<ParsedLogs, Trouble> {
        let blocks = headers.iter().map(|header| Blocks::Hash(header.block_ref()));
        let asks: Vec<_> = blocks.map(|block| ask(endpoint, self.chain.id, query, block)).collect();
        let answers: Vec<ParsedLogs> = stream::iter(asks).buffered(BY_HASH).try_collect().await?;
        Ok(joined(self, answers))
    }

    /// By number, in as many requests as the endpoint wants; all of them to this endpoint.
    async fn by_number(&self, endpoint: &Endpoint, query: &LogQuery, range: BlockRange) -> Result<ParsedLogs, Trouble> {
        let mut answers = Vec::new();
        let mut rest = Some(range);
        let mut most = range.blocks();
        while let Some(left) = rest {
            let size = most.min(endpoint.range().size());
            let last = BlockNumber(left.first.0.saturating_add(size.max(1) - 1).min(left.last.0));
            let asked = BlockRange { first: left.first, last };
            match ask(endpoint, self.chain.id, query, Blocks::Range(asked)).await {
                Ok(logs) => {
                    endpoint.range().accepted(asked.blocks(), logs.batch.len() as u64);
                    answers.push(logs);
                    most = range.blocks();
                    rest = BlockRange::new(last.next(), left.last);
                }
                Err(Trouble::Refused(refusal)) => match endpoint.range().refused(asked.blocks(), &refusal) {
                    Next::Ask(fewer) => most = fewer,
                    Next::SingleBlock => return Err(Trouble::Refused(refusal)),
                },
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(joined(self, answers))
    }

    /// Blocks for which the query brought nothing, unless their bloom proves that there is nothing.
    fn doubtful(&self, query: &LogQuery, headers: &[Header], found: &LogBatch) -> Vec<(LogQuery, Header)> {
        let silent = headers.iter().filter(|header| found.block_number.binary_search(&header.number.0).is_err());
        let unproven = silent.filter(|header| match (&header.logs_bloom, self.chain.bloom) {
            (Some(bloom), true) => query.may_be_in(bloom),
            _ => true,
        });
        unproven.map(|header| (query.clone(), header.clone())).collect()
    }

    async fn confirm_empty(&self, endpoint: &Endpoint, doubtful: Vec<(LogQuery, Header)>) -> Result<(), Trouble> {
        let checks = doubtful.into_iter().map(|(query, header)| async move {
            match (&header.logs_bloom, self.chain.bloom) {
                (Some(bloom), true) => self.confirm_against_bloom(endpoint, &query, &header, bloom).await,
                // Without a bloom the endpoint must at least know the block that it calls empty.
                _ => match endpoint.block_of(header.hash).await? {
                    Some(_) => Ok(()),
                    None => Err(Trouble::Behind(format!("block {}", header.block_ref()))),
                },
            }
        });
        stream::iter(checks).buffer_unordered(BY_HASH).try_collect().await
    }

    /// The bloom says "maybe". All logs of the block settle it: they account for the whole bloom, or some are missing.
    async fn confirm_against_bloom(
        &self,
        endpoint: &Endpoint,
        query: &LogQuery,
        header: &Header,
        bloom: &alloy_primitives::Bloom,
    ) -> Result<(), Trouble> {
        let withheld = || {
            let block = header.block_ref();
            Trouble::Inconsistent(format!("no logs came for block {block}, whose bloom tells of some"))
        };
        let block = Blocks::Hash(header.block_ref());
        let all = match endpoint.takes_block_hash() {
            true => ask(endpoint, self.chain.id, &LogQuery::everything(), block).await,
            false => {
                let range = BlockRange { first: header.number, last: header.number };
                ask(endpoint, self.chain.id, &LogQuery::everything(), Blocks::Range(range)).await
            }
        };
        match all {
            Ok(all) => {
                let mut rebuilt = alloy_primitives::Bloom::ZERO;
                for log in all.batch.iter() {
                    rebuilt.accrue_raw_log(log.address, log.topics);
                }
                let wanted = all.batch.iter().any(|log| query.wants(&log));
                if wanted || !rebuilt.contains(bloom) { Err(withheld()) } else { Ok(()) }
            }
            // A block too full to be had whole: a second empty answer, by hash, has to do.
            Err(Trouble::Refused(_)) => {
                let again = ask(endpoint, self.chain.id, query, block).await?;
                if again.batch.is_empty() { Ok(()) } else { Err(withheld()) }
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Logs by number are of whatever branch the endpoint was on: it must still be the one of the headers.
    async fn still_there(&self, endpoint: &Endpoint, tip: &Header) -> Result<(), Trouble> {
        match endpoint.block_at(tip.number).await? {
            Some(now) if now.hash == tip.hash => Ok(()),
            _ => Err(Trouble::Inconsistent(format!("block {} was replaced while its logs were read", tip.block_ref()))),
        }
    }
}

fn joined(source: &RpcSource, answers: Vec<ParsedLogs>) -> ParsedLogs {
    let mut all = ParsedLogs::new(source.chain.id, crate::chain::wire::BlockHashes::Required);
    for answer in answers {
        all.batch.append(&answer.batch);
        all.removed += answer.removed;
    }
    all
}
