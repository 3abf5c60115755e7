//! `format_units`, `parse_units` and `to_hex`.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, LargeBinaryArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::scalar::ScalarValue;

use super::super::convert::{OnBadValue, Range, to_wide};
use super::super::error::{IntegerError, type_name};
use super::super::{codec, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Units {
    /// `format_units(integer, decimals)`: text.
    Format,
    /// `parse_units(text, decimals)`: integer.
    Parse,
    /// `to_hex(integer)`: text without `0x`.
    Hex,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct UnitsFunction {
    units: Units,
    signature: Signature,
}

static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(|| {
    [Units::Format, Units::Parse, Units::Hex]
        .into_iter()
        .map(|units| {
            let signature = Signature::user_defined(Volatility::Immutable);
            Arc::new(ScalarUDF::new_from_impl(UnitsFunction { units, signature }))
        })
        .collect()
});

/// The functions.
pub fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    FUNCTIONS.iter().map(Arc::clone)
}

/// As many decimals as a token could have; `decimals` is a `uint8` in ERC-20.
const MOST_DECIMALS: u32 = 255;

fn decimals(array: &Int64Array, row: usize) -> Result<Option<u32>, IntegerError> {
    if array.is_null(row) {
        return Ok(None);
    }
    let value = array.value(row);
    match u32::try_from(value) {
        Ok(decimals @ 0..=MOST_DECIMALS) => Ok(Some(decimals)),
        _ => Err(IntegerError::BadAmount { operation: "units", amount: value.to_string(), limit: MOST_DECIMALS }),
    }
}

impl UnitsFunction {
    fn evaluate(&self, args: &[ArrayRef]) -> Result<ArrayRef> {
        match (self.units, args) {
            (Units::Format, [values, places]) => {
                let values = to_wide(values, Range::Any, OnBadValue::Fail)?;
                let places = cast(places, &DataType::Int64)?;
                let places = places.as_primitive::<Int64Type>();
                let format = |(row, value): (usize, Option<&[u8]>)| -> Result<Option<String>, IntegerError> {
                    Ok(match (value, decimals(places, row)?) {
                        (Some(bytes), Some(decimals)) => Some(text::format_units(&codec::decode(bytes)?, decimals)),
                        _ => None,
                    })
                };
                let texts: Result<StringArray, IntegerError> = values.iter().enumerate().map(format).collect();
                Ok(Arc::new(texts?))
            }
            (Units::Parse, [texts, places]) => {
                let texts = cast(texts, &DataType::Utf8)?;
                let places = cast(places, &DataType::Int64)?;
                let places = places.as_primitive::<Int64Type>();
                let parse = |(row, value): (usize, Option<&str>)| -> Result<Option<Vec<u8>>, IntegerError> {
                    Ok(match (value, decimals(places, row)?) {
                        (Some(written), Some(decimals)) => {
                            Some(codec::to_bytes(&text::parse_units(written, decimals)?)?)
                        }
                        _ => None,
                    })
                };
                let values: Result<LargeBinaryArray, IntegerError> =
                    texts.as_string::<i32>().iter().enumerate().map(parse).collect();
                Ok(Arc::new(values?))
            }
            (Units::Hex, [values]) => {
                let values = to_wide(values, Range::Any, OnBadValue::Fail)?;
                let hex = |value: Option<&[u8]>| -> Result<Option<String>, IntegerError> {
                    Ok(value.map(codec::decode).transpose()?.map(|value| format!("{:x}", value.to_big())))
                };
                let texts: Result<StringArray, IntegerError> = values.iter().map(hex).collect();
                Ok(Arc::new(texts?))
            }
            _ => Err(DataFusionError::Internal(format!("{} without its arguments", self.name()))),
        }
    }
}

impl ScalarUDFImpl for UnitsFunction {
    fn name(&self) -> &str {
        match self.units {
            Units::Format => "format_units",
            Units::Parse => "parse_units",
            Units::Hex => "to_hex",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let integer = |ty: &DataType| ty.is_integer() || matches!(ty, DataType::Null | DataType::LargeBinary);
        let narrow = |ty: &DataType| ty.is_integer() || ty.is_null();
        let written = |ty: &DataType| ty.is_string() || ty.is_null();
        let fits = match (self.units, types) {
            (Units::Format, [value, places]) => integer(value) && narrow(places),
            (Units::Parse, [value, places]) => written(value) && narrow(places),
            (Units::Hex, [value]) => integer(value),
            _ => false,
        };
        if fits {
            return Ok(types.to_vec());
        }
        let takes = match self.units {
            Units::Format => "format_units takes an integer and a number of decimals",
            Units::Parse => "parse_units takes a text and a number of decimals",
            Units::Hex => "to_hex takes an integer",
        };
        let given: Vec<String> = types.iter().map(type_name).collect();
        Err(DataFusionError::Plan(format!("{takes}, not ({})", given.join(", "))))
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(if self.units == Units::Parse { DataType::LargeBinary } else { DataType::Utf8 })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let result = self.evaluate(&ColumnarValue::values_to_arrays(&args.args)?)?;
        Ok(if constant {
            ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)
        } else {
            ColumnarValue::Array(result)
        })
    }
}
