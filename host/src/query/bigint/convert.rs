//! Between integers and every other type, a column at a time.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array, LargeBinaryArray,
    LargeBinaryBuilder, PrimitiveArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use datafusion::error::{DataFusionError, Result};
use num_bigint::BigInt;
use num_traits::FromPrimitive;

use super::codec;
use super::error::{IntegerError, type_name};
use super::text;
use super::value::Wide;

/// What a conversion does with a value that cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnBadValue {
    /// Fails the query, as `CAST` does.
    Fail,
    /// Gives null, as `TRY_CAST` does.
    Null,
}

/// The range a conversion checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Range {
    /// Anything of at most 1,008 bits.
    Any,
    /// From zero up, of this many bits.
    Unsigned(u16),
    /// Two's complement of this many bits.
    Signed(u16),
}

impl Range {
    fn check(self, value: Wide) -> Result<Wide, IntegerError> {
        let (fits, target) = match self {
            Range::Any => return Ok(value),
            Range::Unsigned(bits) => (value.fits_unsigned(bits.into()), format!("uint{bits}")),
            Range::Signed(bits) => (value.fits_signed(bits.into()), format!("int{bits}")),
        };
        if fits { Ok(value) } else { Err(IntegerError::OutOfRange { value: value.to_string(), target }) }
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Range::Unsigned(_))
    }

    /// Bytes as an integer: big-endian, two's complement of 32 bytes where the range is signed.
    fn read_bytes(self, bytes: &[u8]) -> Result<Wide, IntegerError> {
        let value = Wide::from_be_unsigned(bytes);
        match self {
            Range::Signed(_) if bytes.len() == 32 && bytes[0] & 0x80 != 0 => {
                Ok(Wide::from(BigInt::from_signed_bytes_be(bytes)))
            }
            _ => Ok(value),
        }
    }
}

/// Collects encoded integers, with one rule for values that cannot be had.
struct Collector {
    builder: LargeBinaryBuilder,
    scratch: Vec<u8>,
    on_bad: OnBadValue,
}

impl Collector {
    fn new(rows: usize, on_bad: OnBadValue) -> Self {
        Collector { builder: LargeBinaryBuilder::with_capacity(rows, rows * 12), scratch: Vec::new(), on_bad }
    }

    fn push(&mut self, value: Option<Result<Wide, IntegerError>>) -> Result<()> {
        self.scratch.clear();
        let outcome = match value {
            None => {
                self.builder.append_null();
                return Ok(());
            }
            Some(value) => value.and_then(|value| codec::encode(&value, &mut self.scratch)),
        };
        match (outcome, self.on_bad) {
            (Ok(()), _) => self.builder.append_value(&self.scratch),
            (Err(_), OnBadValue::Null) => self.builder.append_null(),
            (Err(error), OnBadValue::Fail) => return Err(error.into()),
        }
        Ok(())
    }

    fn finish(mut self) -> LargeBinaryArray {
        self.builder.finish()
    }
}

fn from_small_ints<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> LargeBinaryArray
where
    T::Native: Into<i128>,
{
    let mut builder = LargeBinaryBuilder::with_capacity(array.len(), array.len() * 9);
    let mut scratch = Vec::with_capacity(17);
    for value in array {
        match value {
            Some(value) => {
                scratch.clear();
                codec::encode_i128(value.into(), &mut scratch);
                builder.append_value(&scratch);
            }
            None => builder.append_null(),
        }
    }
    builder.finish()
}

/// A double without its fraction.
pub fn from_f64(value: f64) -> Result<Wide, IntegerError> {
    match BigInt::from_f64(value) {
        Some(value) => Ok(Wide::from(value)),
        None => Err(IntegerError::NotAnInteger(value.to_string())),
    }
}

/// A decimal's unscaled value without its fraction.
pub fn from_decimal(unscaled: i256, scale: i8) -> Result<Wide, IntegerError> {
    let unscaled = match unscaled.to_i128() {
        Some(small) => Wide::Small(small),
        None => Wide::from(BigInt::from_signed_bytes_be(&unscaled.to_be_bytes())),
    };
    if scale >= 0 {
        unscaled.div(&Wide::ten_to(u32::from(scale.unsigned_abs())))
    } else {
        Ok(unscaled.mul(&Wide::ten_to(u32::from(scale.unsigned_abs()))))
    }
}

/// Whether [`to_wide`] can read a type at all.
pub fn readable(ty: &DataType) -> bool {
    ty.is_integer()
        || ty.is_floating()
        || ty.is_decimal()
        || ty.is_string()
        || matches!(ty, DataType::Null | DataType::Boolean | DataType::LargeBinary)
}

/// Any readable column as integers, checked against a range. Fractions are cut off, text is parsed.
pub fn to_wide(array: &ArrayRef, range: Range, on_bad: OnBadValue) -> Result<LargeBinaryArray> {
    let rows = array.len();
    let mut out = Collector::new(rows, on_bad);
    match array.data_type() {
        DataType::Null => return Ok(LargeBinaryArray::new_null(rows)),
        DataType::LargeBinary if range == Range::Any => return Ok(array.as_binary::<i64>().clone()),
        DataType::LargeBinary => {
            for value in array.as_binary::<i64>() {
                out.push(value.map(|bytes| codec::decode(bytes).and_then(|value| range.check(value))))?;
            }
        }
        DataType::Int8 if !range.is_unsigned() => return Ok(from_small_ints(array.as_primitive::<Int8Type>())),
        DataType::Int16 if !range.is_unsigned() => return Ok(from_small_ints(array.as_primitive::<Int16Type>())),
        DataType::Int32 if !range.is_unsigned() => return Ok(from_small_ints(array.as_primitive::<Int32Type>())),
        DataType::Int64 if !range.is_unsigned() => return Ok(from_small_ints(array.as_primitive::<Int64Type>())),
        DataType::UInt8 => return Ok(from_small_ints(array.as_primitive::<UInt8Type>())),
        DataType::UInt16 => return Ok(from_small_ints(array.as_primitive::<UInt16Type>())),
        DataType::UInt32 => return Ok(from_small_ints(array.as_primitive::<UInt32Type>())),
        DataType::UInt64 => return Ok(from_small_ints(array.as_primitive::<UInt64Type>())),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            let wide = cast(array, &DataType::Int64)?;
            for value in wide.as_primitive::<Int64Type>() {
                out.push(value.map(|value| range.check(Wide::from(value))))?;
            }
        }
        DataType::Boolean => {
            for value in array.as_boolean() {
                out.push(value.map(|value| Ok(Wide::Small(value.into()))))?;
            }
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let doubles = cast(array, &DataType::Float64)?;
            for value in doubles.as_primitive::<Float64Type>() {
                out.push(value.map(|value| from_f64(value).and_then(|value| range.check(value))))?;
            }
        }
        ty if ty.is_decimal() => {
            let (values, scale) = widest_decimal(array)?;
            for value in &values {
                out.push(value.map(|value| from_decimal(value, scale).and_then(|value| range.check(value))))?;
            }
        }
        ty if ty.is_string() => {
            let texts = cast(array, &DataType::Utf8)?;
            for value in texts.as_string::<i32>() {
                out.push(value.map(|value| text::parse(value).and_then(|value| range.check(value))))?;
            }
        }
        DataType::Binary => {
            for value in array.as_binary::<i32>() {
                out.push(value.map(|bytes| range.read_bytes(bytes).and_then(|value| range.check(value))))?;
            }
        }
        DataType::FixedSizeBinary(_) => {
            for value in array.as_fixed_size_binary() {
                out.push(value.map(|bytes| range.read_bytes(bytes).and_then(|value| range.check(value))))?;
            }
        }
        other => return Err(IntegerError::NoConversion { found: type_name(other) }.into()),
    }
    Ok(out.finish())
}

/// A decimal column's unscaled values, and its scale.
pub fn widest_decimal(array: &ArrayRef) -> Result<(Decimal256Array, i8)> {
    let scale = match array.data_type() {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => *scale,
        other => return Err(IntegerError::NoConversion { found: type_name(other) }.into()),
    };
    let wide = cast(array, &DataType::Decimal256(76, scale))?;
    Ok((wide.as_primitive::<Decimal256Type>().clone(), scale))
}

/// Applies a conversion to each integer of a column.
fn each<T>(
    array: &LargeBinaryArray,
    on_bad: OnBadValue,
    convert: impl Fn(Wide) -> Result<T, IntegerError>,
) -> Result<Vec<Option<T>>, IntegerError> {
    array
        .iter()
        .map(|value| match (value.map(|bytes| codec::decode(bytes).and_then(&convert)).transpose(), on_bad) {
            (Err(_), OnBadValue::Null) => Ok(None),
            (outcome, _) => outcome,
        })
        .collect()
}

fn to_small_ints<T: ArrowPrimitiveType>(array: &LargeBinaryArray, on_bad: OnBadValue) -> Result<ArrayRef, IntegerError>
where
    T::Native: TryFrom<i128>,
{
    let values = each(array, on_bad, |value| {
        let small = value.to_i128().and_then(|value| T::Native::try_from(value).ok());
        small.ok_or_else(|| out_of_range(&value, &T::DATA_TYPE))
    })?;
    Ok(Arc::new(PrimitiveArray::<T>::from_iter(values)))
}

fn out_of_range(value: &Wide, target: &DataType) -> IntegerError {
    IntegerError::OutOfRange { value: value.to_string(), target: type_name(target) }
}

/// The unscaled value of a decimal of 76 digits or less.
fn to_decimal_value(value: &Wide, target: &DataType, precision: u8, scale: i8) -> Result<i256, IntegerError> {
    let factor = Wide::ten_to(u32::from(scale.unsigned_abs()));
    let unscaled = if scale >= 0 { value.mul(&factor) } else { value.div(&factor)? };
    let fail = || out_of_range(value, target);
    if unscaled.abs() >= Wide::ten_to(precision.into()) {
        return Err(fail());
    }
    match unscaled {
        Wide::Small(small) => Ok(i256::from_i128(small)),
        Wide::Big(big) => i256::from_string(&big.to_string()).ok_or_else(fail),
    }
}

/// A column of integers as another type; fails, or gives null, where a value does not fit.
pub fn from_wide(array: &LargeBinaryArray, target: &DataType, on_bad: OnBadValue) -> Result<ArrayRef> {
    Ok(match target {
        DataType::LargeBinary => Arc::new(array.clone()),
        DataType::Int8 => to_small_ints::<Int8Type>(array, on_bad)?,
        DataType::Int16 => to_small_ints::<Int16Type>(array, on_bad)?,
        DataType::Int32 => to_small_ints::<Int32Type>(array, on_bad)?,
        DataType::Int64 => to_small_ints::<Int64Type>(array, on_bad)?,
        DataType::UInt8 => to_small_ints::<UInt8Type>(array, on_bad)?,
        DataType::UInt16 => to_small_ints::<UInt16Type>(array, on_bad)?,
        DataType::UInt32 => to_small_ints::<UInt32Type>(array, on_bad)?,
        DataType::UInt64 => to_small_ints::<UInt64Type>(array, on_bad)?,
        DataType::Float64 => Arc::new(Float64Array::from_iter(each(array, on_bad, |value| Ok(value.to_f64()))?)),
        DataType::Float16 | DataType::Float32 => cast(&from_wide(array, &DataType::Float64, on_bad)?, target)?,
        DataType::Boolean => Arc::new(BooleanArray::from_iter(each(array, on_bad, |value| Ok(!value.is_zero()))?)),
        DataType::Decimal128(precision, scale) => {
            let values = each(array, on_bad, |value| {
                let wide = to_decimal_value(&value, target, *precision, *scale)?;
                wide.to_i128().ok_or_else(|| out_of_range(&value, target))
            })?;
            let array = PrimitiveArray::<Decimal128Type>::from_iter(values);
            Arc::new(Decimal128Array::with_precision_and_scale(array, *precision, *scale)?)
        }
        DataType::Decimal256(precision, scale) => {
            let values = each(array, on_bad, |value| to_decimal_value(&value, target, *precision, *scale))?;
            let array = PrimitiveArray::<Decimal256Type>::from_iter(values);
            Arc::new(Decimal256Array::with_precision_and_scale(array, *precision, *scale)?)
        }
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            let wide = DataType::Decimal128(*precision, *scale);
            cast(&from_wide(array, &wide, on_bad)?, target)?
        }
        DataType::Utf8 => Arc::new(text::to_decimal_array(array)),
        DataType::LargeUtf8 | DataType::Utf8View => cast(&text::to_decimal_array(array), target)?,
        other => {
            return Err(DataFusionError::Plan(format!(
                "cannot cast a 256-bit integer to {}: cast to bigint, decimal, double or varchar instead",
                type_name(other)
            )));
        }
    })
}
