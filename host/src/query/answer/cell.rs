//! One value of an answer, ready to be written in any format.

use std::borrow::Cow;
use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeListArray, LargeListArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow::temporal_conversions::{
    date32_to_datetime, date64_to_datetime, timestamp_ms_to_datetime, timestamp_ns_to_datetime,
    timestamp_s_to_datetime, timestamp_us_to_datetime,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::super::bigint::to_decimal;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// NULL, and floats that are not numbers.
    Null,
    /// Boolean.
    Bool(bool),
    /// An integer of at most 64 bits.
    Integer(i128),
    /// A number that JSON readers would round: always in quotes there.
    Exact(String),
    /// A finite float.
    Float(f64),
    /// Text, timestamps and dates included.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Text of a json column.
    Json(&'a str),
    /// A list.
    List(Vec<Cell<'a>>),
    /// Named values.
    Struct(Vec<(String, Cell<'a>)>),
}

/// The value of `array` at `row`; `is_json` for columns of type json.
pub fn cell<'a>(array: &'a ArrayRef, row: usize, is_json: bool) -> Cell<'a> {
    if array.is_null(row) {
        return Cell::Null;
    }
    match array.data_type() {
        DataType::Null => Cell::Null,
        DataType::Boolean => Cell::Bool(array.as_boolean().value(row)),
        DataType::UInt8 => integer::<UInt8Type>(array, row),
        DataType::UInt16 => integer::<UInt16Type>(array, row),
        DataType::UInt32 => integer::<UInt32Type>(array, row),
        DataType::UInt64 => integer::<UInt64Type>(array, row),
        DataType::Int8 => integer::<Int8Type>(array, row),
        DataType::Int16 => integer::<Int16Type>(array, row),
        DataType::Int32 => integer::<Int32Type>(array, row),
        DataType::Int64 => integer::<Int64Type>(array, row),
        DataType::Float16 => float(f64::from(array.as_primitive::<Float16Type>().value(row))),
        // Through its shortest decimal form, so that 0.1 stays 0.1.
        DataType::Float32 => {
            float(array.as_primitive::<Float32Type>().value(row).to_string().parse().unwrap_or(f64::NAN))
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, row, *scale),
        DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(array, row, *scale),
        DataType::LargeBinary => Cell::Exact(to_decimal(array.as_binary::<i64>().value(row))),
        DataType::Binary => Cell::Bytes(array.as_binary::<i32>().value(row)),
        DataType::BinaryView => Cell::Bytes(array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => Cell::Bytes(array.as_fixed_size_binary().value(row)),
        DataType::Utf8 => text(array.as_string::<i32>().value(row), is_json),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row), is_json),
        DataType::Utf8View => text(array.as_string_view().value(row), is_json),
        DataType::Timestamp(unit, _) => timestamp(array, row, *unit),
        DataType::Date32 => {
            let day = array.as_primitive::<Date32Type>().value(row);
            date32_to_datetime(day)
                .map_or_else(|| Cell::Exact(day.to_string()), |day| Cell::Text(day.date().to_string().into()))
        }
        DataType::Date64 => {
            let ms = array.as_primitive::<Date64Type>().value(row);
            date64_to_datetime(ms)
                .map_or_else(|| Cell::Exact(ms.to_string()), |day| Cell::Text(day.date().to_string().into()))
        }
        DataType::List(_) => array.as_any().downcast_ref().map_or(Cell::Null, |list: &'a ListArray| {
            let range = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
            Cell::List(range.map(|place| cell(list.values(), place, false)).collect())
        }),
        DataType::LargeList(_) => array.as_any().downcast_ref().map_or(Cell::Null, |list: &'a LargeListArray| {
            let range = list.value_offsets()[row] as usize..list.value_offsets()[row + 1] as usize;
            Cell::List(range.map(|place| cell(list.values(), place, false)).collect())
        }),
        DataType::FixedSizeList(..) => {
            array.as_any().downcast_ref().map_or(Cell::Null, |list: &'a FixedSizeListArray| {
                let start = list.value_offset(row) as usize;
                let range = start..start + list.value_length() as usize;
                Cell::List(range.map(|place| cell(list.values(), place, false)).collect())
            })
        }
        DataType::Struct(_) => array.as_any().downcast_ref().map_or(Cell::Null, |fields| structure(fields, row)),
        DataType::Map(..) => array.as_any().downcast_ref().map_or(Cell::Null, |map: &'a MapArray| {
            let range = map.value_offsets()[row] as usize..map.value_offsets()[row + 1] as usize;
            let pair = |place| vec![cell(map.keys(), place, false), cell(map.values(), place, false)];
            Cell::List(range.map(|place| Cell::List(pair(place))).collect())
        }),
        _ => formatted(array, row),
    }
}

fn integer<'a, T: ArrowPrimitiveType>(array: &'a ArrayRef, row: usize) -> Cell<'a>
where
    T::Native: Into<i128>,
{
    Cell::Integer(array.as_primitive::<T>().value(row).into())
}

fn float<'a>(value: f64) -> Cell<'a> {
    if value.is_finite() { Cell::Float(value) } else { Cell::Null }
}

fn decimal<'a, T: DecimalType>(array: &'a ArrayRef, row: usize, scale: i8) -> Cell<'a> {
    Cell::Exact(T::format_decimal(array.as_primitive::<T>().value(row), T::MAX_PRECISION, scale))
}

fn text(value: &str, is_json: bool) -> Cell<'_> {
    if is_json { Cell::Json(value) } else { Cell::Text(Cow::Borrowed(value)) }
}

fn timestamp<'a>(array: &'a ArrayRef, row: usize, unit: TimeUnit) -> Cell<'a> {
    let (value, moment) = match unit {
        TimeUnit::Second => {
            let value = array.as_primitive::<TimestampSecondType>().value(row);
            (value, timestamp_s_to_datetime(value))
        }
        TimeUnit::Millisecond => {
            let value = array.as_primitive::<TimestampMillisecondType>().value(row);
            (value, timestamp_ms_to_datetime(value))
        }
        TimeUnit::Microsecond => {
            let value = array.as_primitive::<TimestampMicrosecondType>().value(row);
            (value, timestamp_us_to_datetime(value))
        }
        TimeUnit::Nanosecond => {
            let value = array.as_primitive::<TimestampNanosecondType>().value(row);
            (value, timestamp_ns_to_datetime(value))
        }
    };
    match moment {
        // `%.f` writes nothing for whole seconds.
        Some(moment) => Cell::Text(moment.format("%Y-%m-%dT%H:%M:%S%.fZ").to_string().into()),
        // A moment that no calendar has: the number is still the truth.
        None => Cell::Exact(value.to_string()),
    }
}

fn structure(fields: &StructArray, row: usize) -> Cell<'_> {
    let named = fields.fields().iter().zip(fields.columns());
    Cell::Struct(named.map(|(field, column)| (field.name().clone(), cell(column, row, false))).collect())
}

fn formatted(array: &ArrayRef, row: usize) -> Cell<'_> {
    match ArrayFormatter::try_new(array, &FormatOptions::default()) {
        Ok(formatter) => Cell::Text(formatter.value(row).to_string().into()),
        Err(_) => Cell::Null,
    }
}

/// Appends bytes as lower-case hex with `0x`.
pub fn push_hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.push_str("0x");
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

/// Appends a value as plain text: what CSV and the terminal show. NULL is nothing.
pub fn push_text(out: &mut String, value: &Cell<'_>) {
    // Writing to a string cannot fail.
    let _ = match value {
        Cell::Null => Ok(()),
        Cell::Bool(value) => write!(out, "{value}"),
        Cell::Integer(value) => write!(out, "{value}"),
        Cell::Exact(text) => out.write_str(text),
        Cell::Float(value) => write!(out, "{value}"),
        Cell::Text(text) => out.write_str(text),
        Cell::Json(text) => out.write_str(text),
        Cell::Bytes(bytes) => {
            push_hex(out, bytes);
            Ok(())
        }
        Cell::List(_) | Cell::Struct(_) => {
            super::json::push_cell(out, value);
            Ok(())
        }
    };
}
