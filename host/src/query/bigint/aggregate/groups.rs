//! The accumulator for many groups at once.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, LargeBinaryBuilder, UInt64Array};
use arrow::compute::{and, is_not_null, nullif};
use arrow::datatypes::UInt64Type;
use datafusion::error::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::super::codec;
use super::super::convert::{OnBadValue, Range, to_wide};
use super::super::error::IntegerError;
use super::outcome::{Outcome, each_value};
use super::total::{Direction, Total};

/// A total and a count for each group.
pub struct ExactGroups {
    outcome: Outcome,
    totals: Vec<Total>,
    counts: Vec<u64>,
    /// Totals that came to need the heap. Never counted down: a group that leaves is soon followed by all.
    on_heap: usize,
}

impl ExactGroups {
    /// No groups yet.
    pub fn new(outcome: Outcome) -> Self {
        ExactGroups { outcome, totals: Vec::new(), counts: Vec::new(), on_heap: 0 }
    }

    fn grow(&mut self, groups: usize) {
        self.totals.resize_with(groups, Total::default);
        self.counts.resize(groups, 0);
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<Total>, Vec<u64>) {
        (emit_to.take_needed(&mut self.totals), emit_to.take_needed(&mut self.counts))
    }
}

fn integers(outcome: Outcome, totals: &[Total], counts: &[u64]) -> Result<ArrayRef> {
    let mut builder = LargeBinaryBuilder::with_capacity(totals.len(), totals.len() * 12);
    let mut scratch = Vec::with_capacity(42);
    for (total, count) in totals.iter().zip(counts) {
        match outcome.integer(total, *count)? {
            Some(value) => {
                scratch.clear();
                codec::encode(&value, &mut scratch)?;
                builder.append_value(&scratch);
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// The most that a total of 1,008-bit integers takes on the heap.
const HEAP_BYTES: usize = 192;

/// Adds a value to a total, counting the totals that need the heap from now on.
fn grow_into(
    total: &mut Total,
    enter: &dyn Fn(&mut Total) -> Result<(), IntegerError>,
    on_heap: &mut usize,
) -> Result<(), IntegerError> {
    let before = total.is_on_heap();
    enter(total)?;
    *on_heap += usize::from(total.is_on_heap() && !before);
    Ok(())
}

/// Whether a filter lets a row in.
fn admits(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

impl GroupsAccumulator for ExactGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.grow(total_num_groups);
        each_value(&values[0], Direction::Enter, |row, enter| {
            if !admits(opt_filter, row) {
                return Ok(());
            }
            let group = group_indices[row];
            self.counts[group] += 1;
            grow_into(&mut self.totals[group], enter, &mut self.on_heap)
        })
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (totals, counts) = self.take(emit_to);
        if self.outcome != Outcome::Ratio {
            return integers(self.outcome, &totals, &counts);
        }
        let ratios = totals.iter().zip(&counts).map(|(total, count)| (*count > 0).then(|| total.value().ratio(*count)));
        Ok(Arc::new(ratios.collect::<Float64Array>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (totals, counts) = self.take(emit_to);
        Ok(vec![integers(Outcome::Sum, &totals, &counts)?, Arc::new(UInt64Array::from(counts))])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], group_indices: &[usize], total_num_groups: usize) -> Result<()> {
        self.grow(total_num_groups);
        each_value(&values[0], Direction::Enter, |row, enter| {
            grow_into(&mut self.totals[group_indices[row]], enter, &mut self.on_heap)
        })?;
        for (count, group) in values[1].as_primitive::<UInt64Type>().iter().zip(group_indices) {
            self.counts[*group] += count.unwrap_or(0);
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], opt_filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let wide: ArrayRef = Arc::new(to_wide(&values[0], Range::Any, OnBadValue::Fail)?);
        let mut present = is_not_null(&wide)?;
        if let Some(filter) = opt_filter {
            let admitted: BooleanArray = (0..wide.len()).map(|row| Some(admits(Some(filter), row))).collect();
            present = and(&present, &admitted)?;
        }
        let absent = arrow::compute::not(&present)?;
        let counts: UInt64Array = present.values().iter().map(|present| Some(u64::from(present))).collect();
        Ok(vec![nullif(&wide, &absent)?, Arc::new(counts)])
    }

    fn size(&self) -> usize {
        self.on_heap * HEAP_BYTES
            + self.totals.capacity() * size_of::<Total>()
            + self.counts.capacity() * size_of::<u64>()
    }
}
