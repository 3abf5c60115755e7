//! From logs to rows: cut, call, halve on a fault, put together.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use futures::stream::{self, StreamExt};
use metrics::counter;

use super::budget::Budget;
use super::call::{CallError, Called, Plugin};
use super::fault::{GuestFault, HostFault, guarded};
use super::log::escape;
use super::parts::{Part, cut};
use super::rows::{self, Ignored, Layout, OwnRows, PartRows};
use super::validate::validate;
use crate::model::{Fault, LogBatch, NestName, TableSchema, arrow_schema, rejected_schema};

/// Bytes of a fault's message that are kept.
const MESSAGE_BYTES: usize = 4_096;

/// What happened to the logs of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Logs that went in; the sum of the next three.
    pub logs: usize,
    /// Logs that made rows.
    pub sources: usize,
    /// Logs kept whole in `_rejected`.
    pub rejected: usize,
    /// Logs that the bundle says it does not want.
    pub ignored: usize,
    /// Rows of the nest's own tables.
    pub rows: usize,
}

/// A batch as rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// Rows by table number, ascending; tables without rows are left out. Schema: `model::arrow_schema`.
    pub tables: Vec<(u32, RecordBatch)>,
    /// Rows of `_rejected`. Schema: `model::rejected_schema`.
    pub rejected: Option<RecordBatch>,
    /// Rows of `_ignored`. Schema: `model::ignored_schema`.
    pub ignored: Option<RecordBatch>,
    /// What happened to the logs.
    pub counts: Counts,
}

/// A batch that gave no rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The nest's fault: it is quarantined with this.
    #[error("{0}")]
    Fault(Fault),
    /// Not the nest's fault: try again.
    #[error(transparent)]
    Host(#[from] HostFault),
}

/// A plugin with a plan and tables. Cloning shares it.
#[derive(Clone)]
pub struct Decoder {
    inner: Arc<Inner>,
}

struct Inner {
    plugin: Plugin,
    nest: Arc<str>,
    plan: Vec<u8>,
    tables: Vec<TableSchema>,
    layouts: Vec<Layout>,
    budget: Budget,
    /// Logs that the next call takes: fewer where logs are dear, so that batches rarely run out of fuel. Only a
    /// matter of speed: how a batch is cut changes no row.
    part_logs: AtomicUsize,
}

impl Decoder {
    /// A decoder for one nest. `plan` and `tables` are the bundle's; of `budget` counts what the host's cap allows.
    pub fn new(plugin: Plugin, nest: &NestName, plan: Vec<u8>, tables: Vec<TableSchema>, budget: Budget) -> Self {
        let limits = plugin.host().limits();
        let (budget, part_logs) = (budget.within(limits.budget), AtomicUsize::new(limits.part_logs.max(1)));
        let layout = |table: &TableSchema| Layout { name: table.name.clone(), schema: arrow_schema(table) };
        let layouts = tables.iter().map(layout).collect();
        let nest = Arc::from(nest.as_str());
        Decoder { inner: Arc::new(Inner { plugin, nest, plan, tables, layouts, budget, part_logs }) }
    }

    /// The tables whose rows it makes.
    pub fn tables(&self) -> &[TableSchema] {
        &self.inner.tables
    }

    /// Decodes a sorted batch on blocking threads, several parts at a time, at most as many as the pool has slots.
    /// Of several faults the first in log order is returned.
    pub async fn decode(&self, batch: Arc<LogBatch>) -> Result<Decoded, DecodeError> {
        let parts = self.inner.parts(&batch);
        if parts.len() <= 1 {
            let (inner, batch) = (Arc::clone(&self.inner), Arc::clone(&batch));
            let slot = self.inner.slot().await;
            return blocking(move || {
                let done = inner.parts_rows(&batch, parts)?;
                drop(slot);
                inner.assemble(done, &batch)
            })
            .await;
        }
        let abreast = self.inner.plugin.host().limits().slots as usize;
        let mut running = stream::iter(parts)
            .map(|part| {
                let (inner, batch) = (Arc::clone(&self.inner), Arc::clone(&batch));
                async move {
                    let slot = inner.slot().await;
                    blocking(move || {
                        let _slot = slot;
                        inner.parts_rows(&batch, vec![part])
                    })
                    .await
                }
            })
            .buffered(abreast);
        let mut done = Vec::new();
        while let Some(rows) = running.next().await {
            done.extend(rows?);
        }
        drop(running);
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.assemble(done, &batch)).await
    }

    /// The same on this thread, one part after the other. Blocks while all slots are taken.
    pub fn decode_blocking(&self, batch: &LogBatch) -> Result<Decoded, DecodeError> {
        let parts = self.inner.parts(batch);
        let slot = self.inner.plugin.slot();
        let done = self.inner.parts_rows(batch, parts)?;
        drop(slot);
        self.inner.assemble(done, batch)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DecodeError> + Send + 'static,
) -> Result<T, DecodeError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(joined) => Err(HostFault::Panic(joined.to_string()).into()),
    }
}

impl Inner {
    async fn slot(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        // None only of a closed semaphore, and this one is never closed.
        Arc::clone(&self.plugin.host().shared.slots).acquire_owned().await.ok()
    }

    fn parts(&self, batch: &LogBatch) -> Vec<Range<usize>> {
        cut(batch, self.part_logs.load(Ordering::Relaxed), self.plugin.host().limits().part_bytes)
    }

    fn parts_rows(&self, batch: &LogBatch, parts: Vec<Range<usize>>) -> Result<Vec<PartRows>, DecodeError> {
        let mut done = Vec::with_capacity(parts.len());
        for range in parts {
            self.halving(Part::new(batch, range), &mut done)?;
        }
        Ok(done)
    }

    /// Decodes a part, or finds the smallest part of it that shows the fault, the first one in log order.
    fn halving(&self, part: Part<'_>, done: &mut Vec<PartRows>) -> Result<(), DecodeError> {
        let fault = match self.once_more(&part) {
            Ok(rows) => {
                done.push(rows);
                return Ok(());
            }
            Err(CallError::Host(fault)) => return Err(fault.into()),
            Err(CallError::Guest(fault)) => fault,
        };
        let Some((left, right)) = part.halves() else {
            return Err(self.quarantine(&part, &fault));
        };
        if fault.adds_up() {
            self.part_logs.store(left.len().max(1), Ordering::Relaxed);
        }
        self.halving(left, done)?;
        self.halving(right, done)?;
        if fault.adds_up() { Ok(()) } else { Err(self.quarantine(&part, &fault)) }
    }

    /// One call; a panic of the host's own code gets a second try before it counts as a fault.
    fn once_more(&self, part: &Part<'_>) -> Result<PartRows, CallError> {
        match guarded(|| self.once(part)) {
            Err(CallError::Host(HostFault::Panic(_))) => {}
            outcome => return outcome,
        }
        match guarded(|| self.once(part)) {
            Err(CallError::Host(HostFault::Panic(words))) => Err(GuestFault::HostPanic(words).into()),
            outcome => outcome,
        }
    }

    fn once(&self, part: &Part<'_>) -> Result<PartRows, CallError> {
        let fuel = part.fuel(self.budget);
        let Called { result, fuel: used } = self.plugin.decode(&self.nest, &self.plan, part, fuel)?;
        self.learn(part.len(), fuel, used);
        let limits = self.plugin.host().limits();
        let checked = validate(result, &self.tables, part.len(), limits)?;
        Ok(rows::build(checked, part, &self.layouts)?)
    }

    /// Sets the size of the next calls to what takes about half a budget.
    fn learn(&self, logs: usize, fuel: u64, used: u64) {
        let each = (used / logs.max(1) as u64).max(1);
        let fit = usize::try_from(fuel / 2 / each).unwrap_or(usize::MAX);
        let most = self.plugin.host().limits().part_logs.max(1);
        // At most doubled, so that one cheap log does not undo what halving has found.
        let now = self.part_logs.load(Ordering::Relaxed);
        self.part_logs.store(fit.clamp(1, most.min(now.saturating_mul(2))), Ordering::Relaxed);
    }

    fn quarantine(&self, part: &Part<'_>, fault: &GuestFault) -> DecodeError {
        let log = part.log(0);
        let mut message = escape(&fault.to_string(), MESSAGE_BYTES);
        if part.len() > 1 {
            let last = part.log(part.len() - 1);
            message.push_str(&format!(
                " (the {} logs up to block {}, log {} fail together though each half of them is decoded: the rows of \
                 a log may depend on that log alone)",
                part.len(),
                last.block.number,
                last.log_index
            ));
        }
        let class = fault.class();
        counter!("nuthatch_plugin_faults_total", "nest" => self.nest.to_string(), "class" => class).increment(1);
        DecodeError::Fault(Fault { block: log.block, log_index: log.log_index, class: class.to_owned(), message })
    }

    /// One batch per table out of the parts, which stand in log order.
    fn assemble(&self, parts: Vec<PartRows>, batch: &LogBatch) -> Result<Decoded, DecodeError> {
        let mut tables: BTreeMap<u32, Vec<OwnRows>> = BTreeMap::new();
        let (mut rejected, mut ignored) = (Vec::new(), Ignored::new());
        let mut counts = Counts { logs: batch.len(), ..Counts::default() };
        for part in parts {
            counts.sources += part.sources;
            counts.rows += part.rows;
            counts.rejected += part.rejections;
            rejected.extend(part.rejected);
            for (table, own) in part.tables {
                tables.entry(table).or_default().push(own);
            }
            for (key, count) in part.ignored {
                counts.ignored += count as usize;
                *ignored.entry(key).or_default() += count;
            }
        }
        let mut joined = Vec::with_capacity(tables.len());
        for (table, parts) in tables {
            let Some(layout) = self.layouts.get(table as usize) else { continue };
            let rows = rows::table(parts, batch, layout).map_err(|error| rows::failed(&layout.name, &error))?;
            joined.push((table, rows));
        }
        let rejected = match rejected.is_empty() {
            true => None,
            false => {
                let rows = concat_batches(&rejected_schema(), &rejected);
                Some(rows.map_err(|error| rows::failed("_rejected", &error))?)
            }
        };
        let ignored = rows::ignored(&ignored).map_err(|error| rows::failed("_ignored", &error))?;
        for (outcome, logs) in [("row", counts.sources), ("rejected", counts.rejected), ("ignored", counts.ignored)] {
            let nest = self.nest.to_string();
            counter!("nuthatch_decode_logs_total", "nest" => nest, "outcome" => outcome).increment(logs as u64);
        }
        Ok(Decoded { tables: joined, rejected, ignored, counts })
    }
}
