//! What an aggregate makes of a total and a count.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type, UInt64Type};
use datafusion::error::Result;
use datafusion::scalar::ScalarValue;

use super::super::codec;
use super::super::error::{IntegerError, type_name};
use super::super::value::Wide;
use super::total::{Direction, Total};

/// The result of an aggregate over integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `sum`: the exact total.
    Sum,
    /// `avg` of wide integers: the exact quotient, truncated toward zero.
    Quotient,
    /// `avg` of integers of up to 64 bits: the double nearest to the exact quotient.
    Ratio,
}

impl Outcome {
    /// The type of the result.
    pub fn data_type(self) -> DataType {
        match self {
            Outcome::Sum | Outcome::Quotient => DataType::LargeBinary,
            Outcome::Ratio => DataType::Float64,
        }
    }

    /// An integer result, for [`Outcome::Sum`] and [`Outcome::Quotient`].
    pub fn integer(self, total: &Total, count: u64) -> Result<Option<Wide>, IntegerError> {
        if count == 0 {
            return Ok(None);
        }
        match self {
            Outcome::Quotient => total.value().div(&Wide::from(count)).map(Some),
            Outcome::Sum | Outcome::Ratio => Ok(Some(total.value())),
        }
    }

    /// The result.
    pub fn scalar(self, total: &Total, count: u64) -> Result<ScalarValue> {
        Ok(match self {
            Outcome::Ratio => ScalarValue::Float64((count > 0).then(|| total.value().ratio(count))),
            _ => ScalarValue::LargeBinary(match self.integer(total, count)? {
                Some(value) => Some(codec::to_bytes(&value)?),
                None => None,
            }),
        })
    }
}

/// Calls `apply` for each value that is not null: its row, and how it enters or leaves a total.
pub fn each_value(
    values: &ArrayRef,
    direction: Direction,
    mut apply: impl FnMut(usize, &dyn Fn(&mut Total) -> Result<(), IntegerError>) -> Result<(), IntegerError>,
) -> Result<()> {
    let rows = (0..values.len()).filter(|row| values.is_valid(*row));
    match values.data_type() {
        DataType::Int64 => {
            let values = values.as_primitive::<Int64Type>();
            for row in rows {
                let value = i128::from(values.value(row));
                apply(row, &|total| {
                    total.apply_small(value, direction);
                    Ok(())
                })?;
            }
        }
        DataType::UInt64 => {
            let values = values.as_primitive::<UInt64Type>();
            for row in rows {
                let value = i128::from(values.value(row));
                apply(row, &|total| {
                    total.apply_small(value, direction);
                    Ok(())
                })?;
            }
        }
        DataType::LargeBinary => {
            let values = values.as_binary::<i64>();
            for row in rows {
                apply(row, &|total| total.apply(values.value(row), direction))?;
            }
        }
        DataType::Null => {}
        other => return Err(IntegerError::NoConversion { found: type_name(other) }.into()),
    }
    Ok(())
}
