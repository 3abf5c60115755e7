//! Accumulators for one group, sliding windows included.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, LargeBinaryArray};
use arrow::datatypes::{DataType, UInt64Type};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::error::Result;
use datafusion::logical_expr::Accumulator;
use datafusion::scalar::ScalarValue;

use super::super::convert::{OnBadValue, Range, to_wide};
use super::outcome::{Outcome, each_value};
use super::total::{Direction, Total};

/// Sums, and counts what it sums.
#[derive(Debug)]
pub struct ExactAccumulator {
    outcome: Outcome,
    total: Total,
    count: u64,
}

impl ExactAccumulator {
    /// An empty accumulator.
    pub fn new(outcome: Outcome) -> Self {
        ExactAccumulator { outcome, total: Total::default(), count: 0 }
    }
}

impl Accumulator for ExactAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count += (values[0].len() - values[0].null_count()) as u64;
        each_value(&values[0], Direction::Enter, |_, enter| enter(&mut self.total))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count -= (values[0].len() - values[0].null_count()) as u64;
        each_value(&values[0], Direction::Leave, |_, leave| leave(&mut self.total))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.outcome.scalar(&self.total, self.count)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.total.heap_size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![Outcome::Sum.scalar(&self.total, self.count)?, ScalarValue::UInt64(Some(self.count))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        each_value(&states[0], Direction::Enter, |_, enter| enter(&mut self.total))?;
        self.count += states[1].as_primitive::<UInt64Type>().iter().flatten().sum::<u64>();
        Ok(())
    }
}

/// Keeps the distinct values, each with how often it is in the window.
#[derive(Debug)]
pub struct DistinctAccumulator {
    outcome: Outcome,
    values: HashMap<Vec<u8>, u64>,
    bytes: usize,
}

impl DistinctAccumulator {
    /// An empty accumulator.
    pub fn new(outcome: Outcome) -> Self {
        DistinctAccumulator { outcome, values: HashMap::new(), bytes: 0 }
    }

    fn enter(&mut self, values: &LargeBinaryArray) {
        for bytes in values.iter().flatten() {
            match self.values.get_mut(bytes) {
                Some(times) => *times += 1,
                None => {
                    self.bytes += bytes.len();
                    self.values.insert(bytes.to_vec(), 1);
                }
            }
        }
    }
}

impl Accumulator for DistinctAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.enter(&to_wide(&values[0], Range::Any, OnBadValue::Fail)?);
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for bytes in to_wide(&values[0], Range::Any, OnBadValue::Fail)?.iter().flatten() {
            if let Some(times) = self.values.get_mut(bytes) {
                *times -= 1;
                if *times == 0 {
                    self.bytes -= bytes.len();
                    self.values.remove(bytes);
                }
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut total = Total::default();
        for bytes in self.values.keys() {
            total.apply(bytes, Direction::Enter)?;
        }
        self.outcome.scalar(&total, self.values.len() as u64)
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes + self.values.capacity() * size_of::<(Vec<u8>, u64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = LargeBinaryArray::from_iter_values(self.values.keys());
        let list = SingleRowListArrayBuilder::new(Arc::new(values)).with_nullable(true).build_list_array();
        Ok(vec![ScalarValue::List(Arc::new(list))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for values in states[0].as_list::<i32>().iter().flatten() {
            self.enter(values.as_binary::<i64>());
        }
        Ok(())
    }
}

/// The type of the values that a distinct accumulator keeps.
pub const DISTINCT_ITEM: DataType = DataType::LargeBinary;
