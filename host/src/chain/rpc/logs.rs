//! Logs of final blocks: any number of blocks, in requests that endpoints answer.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::TryStreamExt;
use futures::stream::FuturesOrdered;

use crate::chain::error::{Call, ChainError, Result, Trouble};
use crate::chain::filters::LogFilters;
use crate::chain::queries::LogQuery;
use crate::chain::range::Next;
use crate::chain::refusal::{Refusal, RefusalKind};
use crate::chain::settle::{blocks_without_time, fill_times, settle};
use crate::chain::source::Source;
use crate::chain::wire::ParsedLogs;
use crate::model::{BlockNumber, BlockRange, Header, LogBatch};

use super::RpcSource;
use super::ask::{Blocks, ask};
use super::endpoint::Endpoint;
use super::headers::headers_of;
use super::http::GET_LOGS;
use super::pool::Attempts;

/// Times that a whole range is fetched again because its pieces did not fit together.
const ROUNDS: u32 = 3;

impl RpcSource {
    pub(super) async fn final_logs(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch> {
        let mut rounds = 0;
        loop {
            let mut batch = self.gather(filters, range).await?;
            let fitted = match settle(&mut batch) {
                Ok(()) => self.with_times(batch).await?,
                Err(clash) => Err(clash),
            };
            rounds += 1;
            match fitted {
                Ok(batch) => return Ok(batch),
                Err(clash) if rounds >= ROUNDS => return Err(self.mixed(range, clash, rounds)),
                Err(clash) => tracing::warn!(chain = %self.chain.id, %range, %clash, "logs do not fit together"),
            }
            self.limits.retry.backoff.pause(rounds).await;
        }
    }

    fn mixed(&self, range: BlockRange, clash: String, attempts: u32) -> ChainError {
        let endpoint = self.pool.in_use().map_or_else(String::new, |endpoint| endpoint.label().to_owned());
        let call = Box::new(Call { chain: self.chain.id, endpoint, method: GET_LOGS, range: Some(range) });
        ChainError::GaveUp { call, trouble: Trouble::Inconsistent(clash), attempts }
    }

    /// All pieces, unsorted where there are several queries.
    async fn gather(&self, filters: &LogFilters, range: BlockRange) -> Result<LogBatch> {
        let queries = filters.queries(range, &self.query_limits());
        let mut todo: VecDeque<_> = queries.into_iter().map(|query| (Arc::new(query), range)).collect();
        let mut pieces = FuturesOrdered::new();
        let mut all = LogBatch::new(self.chain.id);
        loop {
            while pieces.len() < self.limits.in_flight
                && let Some((query, left)) = todo.pop_front()
            {
                // Cut only now, so that what was learned meanwhile counts.
                let step = head_of(left, self.range_hint());
                if let Some(rest) = BlockRange::new(step.last.next(), left.last) {
                    todo.push_front((query.clone(), rest));
                }
                pieces.push_back(self.piece(query, step));
            }
            let Some(piece) = pieces.try_next().await? else { return Ok(all) };
            all.append(&filters.select_owned(piece));
            if all.bytes() > self.limits.batch_cap {
                return Err(ChainError::TooMuch { chain: self.chain.id, range, limit: self.limits.batch_cap });
            }
        }
    }

    /// The logs of one query for one step, in as many requests as it takes.
    async fn piece(&self, query: Arc<LogQuery>, step: BlockRange) -> Result<LogBatch> {
        let mut found = LogBatch::new(self.chain.id);
        let mut todo = vec![(LogQuery::clone(&query), step)];
        while let Some((query, range)) = todo.pop() {
            match self.shrink_until_answered(&query, range).await? {
                Answer::Logs(logs, asked) => {
                    found.append(&logs.batch);
                    if let Some(rest) = BlockRange::new(asked.last.next(), range.last) {
                        todo.push((query, rest));
                    }
                }
                Answer::SplitAddresses(left, right) => {
                    todo.push((right, range));
                    todo.push((left, range));
                }
            }
        }
        Ok(found)
    }

    /// The logs from the front of the range, for as many blocks as an endpoint answers for.
    async fn shrink_until_answered(&self, query: &LogQuery, range: BlockRange) -> Result<Answer> {
        let mut attempts = self.pool.attempts(GET_LOGS, Some(range));
        let mut most = range.blocks();
        loop {
            let endpoint = self.pool.next(&mut attempts).await?;
            let asked = head_of(range, most.min(endpoint.range().size()));
            attempts.narrow(asked);
            let trouble = match self.ask_final(&endpoint, query, asked, &attempts).await {
                Ok(logs) => {
                    self.pool.succeeded(&endpoint);
                    endpoint.range().accepted(asked.blocks(), logs.batch.len() as u64);
                    self.gauge_range(&endpoint);
                    return Ok(Answer::Logs(Box::new(logs), asked));
                }
                Err(trouble) => trouble,
            };
            let Some(refusal) = self.as_refusal(&trouble, &attempts, &endpoint) else {
                self.pool.failed(&mut attempts, &endpoint, trouble)?;
                continue;
            };
            // Fewer contracts help against a refusal, not against an endpoint that fails.
            let halves = query.split().filter(|_| matches!(trouble, Trouble::Refused(_)));
            if let (RefusalKind::Addresses, Some((left, right))) = (refusal.kind, halves.clone()) {
                self.learn_addresses(query.addresses.len());
                return Ok(Answer::SplitAddresses(left, right));
            }
            let next = endpoint.range().refused(asked.blocks(), &refusal);
            self.gauge_range(&endpoint);
            match (next, halves) {
                (Next::Ask(fewer), _) => {
                    most = fewer;
                    // A refused range costs nothing but the call; anything else uses up the budget.
                    match trouble {
                        Trouble::Refused(_) => self.pool.count(&endpoint, GET_LOGS, &trouble),
                        failure => self.pool.failed(&mut attempts, &endpoint, failure)?,
                    }
                }
                (Next::SingleBlock, Some((left, right))) => return Ok(Answer::SplitAddresses(left, right)),
                (Next::SingleBlock, None) => {
                    most = 1;
                    self.pool.failed(&mut attempts, &endpoint, trouble)?;
                }
            }
        }
    }

    async fn ask_final(
        &self,
        endpoint: &Endpoint,
        query: &LogQuery,
        asked: BlockRange,
        attempts: &Attempts,
    ) -> Result<ParsedLogs, Trouble> {
        // A node that has not reached the range answers with nothing, as if there were no logs.
        if endpoint.head_seen() < asked.last {
            endpoint.block("latest").await?;
            if endpoint.head_seen() < asked.last {
                return Err(Trouble::Behind(format!("block {}", asked.last)));
            }
        }
        let logs = ask(endpoint, self.chain.id, query, Blocks::Range(asked)).await?;
        // Final blocks have no removed logs, unless the node's index is just being mended: look again, then believe it.
        if logs.removed > 0 && attempts.made() == 0 {
            return Err(Trouble::Inconsistent(format!("{} logs are marked as removed", logs.removed)));
        }
        Ok(logs)
    }

    /// The refusal that a trouble is, or amounts to: what fails twice is taken to be too much.
    fn as_refusal(&self, trouble: &Trouble, attempts: &Attempts, endpoint: &Endpoint) -> Option<Refusal> {
        match trouble {
            Trouble::Refused(refusal) => Some(refusal.clone()),
            Trouble::Timeout(_) => Some(Refusal::new(RefusalKind::Slow, trouble.to_string())),
            Trouble::Status { .. } | Trouble::Transport(_) | Trouble::BadAnswer(_)
                if !trouble.is_hopeless() && attempts.failures(endpoint) >= 1 =>
            {
                Some(Refusal::new(RefusalKind::Unknown, trouble.to_string()))
            }
            _ => None,
        }
    }

    /// Fills in missing timestamps. The inner error: logs and headers are not of one chain.
    async fn with_times(&self, mut batch: LogBatch) -> Result<Result<LogBatch, String>> {
        let blocks = blocks_without_time(&batch);
        if blocks.is_empty() {
            return Ok(Ok(batch));
        }
        let headers = self.headers_anywhere(&blocks).await?;
        let filled = fill_times(&mut batch, &headers);
        Ok(filled.map(|()| batch))
    }

    /// Headers of these blocks, from whichever endpoint.
    pub(super) async fn headers_anywhere(&self, blocks: &[u64]) -> Result<Vec<Header>> {
        let (Some(&first), Some(&last)) = (blocks.first(), blocks.last()) else { return Ok(Vec::new()) };
        let range = BlockRange::new(BlockNumber(first), BlockNumber(last));
        let mut attempts = self.pool.attempts("eth_getBlockByNumber", range);
        loop {
            let endpoint = self.pool.next(&mut attempts).await?;
            match headers_of(&endpoint, blocks).await {
                Ok(headers) => {
                    self.pool.succeeded(&endpoint);
                    return Ok(headers);
                }
                Err(trouble) => {
                    if attempts.failures(&endpoint) >= 1 {
                        let size = endpoint.batch_size().get();
                        endpoint.batch_size().failed(size);
                    }
                    self.pool.failed(&mut attempts, &endpoint, trouble)?;
                }
            }
        }
    }
}

enum Answer {
    /// Logs of these blocks from the front.
    Logs(Box<ParsedLogs>, BlockRange),
    /// Ask for two halves of the contracts instead.
    SplitAddresses(LogQuery, LogQuery),
}

/// The first `blocks` blocks of a range.
fn head_of(range: BlockRange, blocks: u64) -> BlockRange {
    let last = range.first.0.saturating_add(blocks.max(1) - 1).min(range.last.0);
    BlockRange { first: range.first, last: BlockNumber(last) }
}
