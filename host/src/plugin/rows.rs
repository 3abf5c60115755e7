//! From a checked result to Arrow: provenance from the logs, then the guest's own columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray, Int64Array,
    PrimitiveArray, StringArray, TimestampSecondArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Int8Type, Int16Type, Int32Type, SchemaRef, UInt8Type, UInt16Type, UInt32Type, i256,
};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use super::fault::HostFault;
use super::log::escape;
use super::parts::Part;
use super::raw::{RawColumn, RawRejection, RawTable, RawValues};
use super::validate::Checked;
use crate::model::{Address, B256, ignored_schema, rejected_schema};

/// Ignored logs, counted per block, contract and first topic.
pub(super) type Ignored = BTreeMap<(u64, Address, Option<B256>), u64>;

/// One part's rows.
#[derive(Debug, Default)]
pub(super) struct PartRows {
    pub tables: Vec<(u32, RecordBatch)>,
    pub rejected: Option<RecordBatch>,
    pub ignored: Ignored,
    pub rows: usize,
    pub sources: usize,
    pub rejections: usize,
}

/// Arrow rows of a part.
pub(super) fn build(checked: Checked, part: &Part<'_>, layouts: &[Layout]) -> Result<PartRows, HostFault> {
    let mut rows = PartRows { sources: checked.sources, rejections: checked.rejected.len(), ..PartRows::default() };
    for raw in checked.tables {
        let Some(layout) = layouts.get(raw.table as usize) else { continue };
        rows.rows += raw.source.len();
        let number = raw.table;
        let batch = table(raw, part, layout).map_err(|error| failed(&layout.name, &error))?;
        rows.tables.push((number, batch));
    }
    if !checked.rejected.is_empty() {
        let batch = rejected(checked.rejected, part).map_err(|error| failed("_rejected", &error))?;
        rows.rejected = Some(batch);
    }
    for log in checked.ignored {
        let log = part.log(log as usize);
        *rows.ignored.entry((log.block.number.0, log.address, log.topics.first().copied())).or_default() += 1;
    }
    Ok(rows)
}

/// A table's name and Arrow schema.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub name: String,
    pub schema: SchemaRef,
}

pub(super) fn failed(table: &str, error: &ArrowError) -> HostFault {
    HostFault::Rows { table: table.to_owned(), reason: error.to_string() }
}

fn table(raw: RawTable, part: &Part<'_>, layout: &Layout) -> Result<RecordBatch, ArrowError> {
    let mut columns = provenance(part, &raw.source)?;
    let own = &layout.schema.fields()[columns.len()..];
    let rows = raw.source.len();
    for (raw, field) in raw.columns.into_iter().zip(own) {
        columns.push(column(raw, field.data_type(), rows)?);
    }
    RecordBatch::try_new(Arc::clone(&layout.schema), columns)
}

/// The columns that a guest cannot forge.
fn provenance(part: &Part<'_>, source: &[u32]) -> Result<Vec<ArrayRef>, ArrowError> {
    let Part { batch, first, last } = *part;
    let numbers = &batch.block_number[first..last];
    let hashes = &batch.block_hash[first..last];
    let times = &batch.block_timestamp[first..last];
    let tx_hashes = &batch.tx_hash[first..last];
    let tx_indices = &batch.tx_index[first..last];
    let log_indices = &batch.log_index[first..last];
    let addresses = &batch.address[first..last];
    // Chains with times beyond the range of i64 do not exist.
    let seconds = pick(times, source).into_iter().map(|time| i64::try_from(time).unwrap_or(i64::MAX));
    let time = TimestampSecondArray::from(seconds.collect::<Vec<_>>());
    Ok(vec![
        Arc::new(UInt64Array::from(pick(numbers, source))),
        fixed(pick(hashes, source).into_iter().map(|hash| hash.0).collect())?,
        Arc::new(time.with_timezone("+00:00")),
        fixed(pick(tx_hashes, source).into_iter().map(|hash| hash.0).collect())?,
        Arc::new(UInt32Array::from(pick(tx_indices, source))),
        Arc::new(UInt64Array::from(pick(log_indices, source))),
        fixed(pick(addresses, source).into_iter().map(|address| address.0.0).collect())?,
    ])
}

/// The values of the source logs. Most often that is each of them once, which is one copy.
fn pick<T: Copy>(values: &[T], source: &[u32]) -> Vec<T> {
    if source.len() == values.len() && source.iter().zip(0u32..).all(|(row, place)| *row == place) {
        return values.to_vec();
    }
    source.iter().map(|row| values[*row as usize]).collect()
}

fn fixed<const N: usize>(values: Vec<[u8; N]>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(FixedSizeBinaryArray::try_new(N as i32, values.into_flattened().into(), None)?))
}

/// A column's array. The values have been checked against the column's type.
fn column(raw: RawColumn, ty: &DataType, rows: usize) -> Result<ArrayRef, ArrowError> {
    let bits = |bits: Vec<u8>| BooleanBuffer::new(Buffer::from(bits), 0, rows);
    let nulls = raw.validity.map(|validity| NullBuffer::new(bits(validity))).filter(|nulls| nulls.null_count() > 0);
    Ok(match (raw.values, ty) {
        (RawValues::Bits(values), _) => Arc::new(BooleanArray::new(bits(values), nulls)),
        (RawValues::U64s(values), DataType::UInt8) => narrow::<UInt8Type, _>(&values, nulls)?,
        (RawValues::U64s(values), DataType::UInt16) => narrow::<UInt16Type, _>(&values, nulls)?,
        (RawValues::U64s(values), DataType::UInt32) => narrow::<UInt32Type, _>(&values, nulls)?,
        (RawValues::U64s(values), _) => Arc::new(UInt64Array::try_new(values.into(), nulls)?),
        (RawValues::S64s(values), DataType::Int8) => narrow::<Int8Type, _>(&values, nulls)?,
        (RawValues::S64s(values), DataType::Int16) => narrow::<Int16Type, _>(&values, nulls)?,
        (RawValues::S64s(values), DataType::Int32) => narrow::<Int32Type, _>(&values, nulls)?,
        (RawValues::S64s(values), DataType::Timestamp(_, zone)) => {
            Arc::new(TimestampSecondArray::try_new(values.into(), nulls)?.with_timezone_opt(zone.clone()))
        }
        (RawValues::S64s(values), _) => Arc::new(Int64Array::try_new(values.into(), nulls)?),
        (RawValues::Fixed { values, .. }, DataType::Decimal128(precision, scale)) => {
            let values = decimals(&values).map(|value| value.to_i128().unwrap_or(0)).collect::<Vec<_>>();
            let array = Decimal128Array::try_new(values.into(), nulls)?;
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        (RawValues::Fixed { values, .. }, DataType::Decimal256(precision, scale)) => {
            let array = Decimal256Array::try_new(decimals(&values).collect::<Vec<_>>().into(), nulls)?;
            Arc::new(array.with_precision_and_scale(*precision, *scale)?)
        }
        (RawValues::Fixed { width, values }, _) => {
            Arc::new(FixedSizeBinaryArray::try_new(width as i32, values.into(), nulls)?)
        }
        (RawValues::Bytes { offsets, values }, _) => {
            Arc::new(BinaryArray::try_new(arrow_offsets(offsets)?, values.into(), nulls)?)
        }
        (RawValues::Text { offsets, values }, _) => {
            Arc::new(StringArray::try_new(arrow_offsets(offsets)?, values.into(), nulls)?)
        }
    })
}

/// A narrower integer column. Values of NULL rows were not checked, and become 0 where they do not fit.
fn narrow<T, W>(values: &[W], nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<W>,
    W: Copy,
{
    let values = values.iter().map(|value| T::Native::try_from(*value).unwrap_or_default()).collect::<Vec<_>>();
    Ok(Arc::new(PrimitiveArray::<T>::try_new(ScalarBuffer::from(values), nulls)?))
}

fn decimals(values: &[u8]) -> impl Iterator<Item = i256> {
    values.as_chunks::<32>().0.iter().map(|value| i256::from_be_bytes(*value))
}

/// Offsets that start at 0 and do not fall; the last one is the length of the values.
fn arrow_offsets(offsets: Vec<u32>) -> Result<OffsetBuffer<i32>, ArrowError> {
    match offsets.last() {
        Some(last) if i32::try_from(*last).is_ok() => {}
        _ => return Err(ArrowError::OffsetOverflowError(offsets.last().map_or(0, |last| *last as usize))),
    }
    Ok(OffsetBuffer::new(offsets.into_iter().map(|offset| offset as i32).collect::<Vec<_>>().into()))
}

fn rejected(rejected: Vec<RawRejection>, part: &Part<'_>) -> Result<RecordBatch, ArrowError> {
    let mut order = rejected;
    order.sort_by_key(|rejection| rejection.log);
    let source: Vec<u32> = order.iter().map(|rejection| rejection.log).collect();
    let mut columns = provenance(part, &source)?;
    let logs = || source.iter().map(|log| part.log(*log as usize));
    columns.push(Arc::new(StringArray::from_iter_values(logs().map(|log| topics_json(log.topics)))));
    columns.push(Arc::new(BinaryArray::from_iter_values(logs().map(|log| log.data))));
    columns.push(Arc::new(StringArray::from_iter_values(order.iter().map(|rejection| &rejection.code))));
    let details = order.iter().map(|rejection| escape(&rejection.detail, usize::MAX));
    columns.push(Arc::new(StringArray::from_iter_values(details)));
    RecordBatch::try_new(rejected_schema(), columns)
}

fn topics_json(topics: &[B256]) -> String {
    let mut json = String::with_capacity(2 + topics.len() * 69);
    json.push('[');
    for (place, topic) in topics.iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        json.push_str("\"0x");
        json.push_str(&hex::encode(topic));
        json.push('"');
    }
    json.push(']');
    json
}

/// The rows of `_ignored`; none when nothing was ignored.
pub(super) fn ignored(counts: &Ignored) -> Result<Option<RecordBatch>, ArrowError> {
    if counts.is_empty() {
        return Ok(None);
    }
    let topics = counts.keys().map(|(_, _, topic)| topic.as_ref().map(|topic| topic.as_slice()));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(counts.keys().map(|(block, _, _)| *block).collect::<UInt64Array>()),
        fixed(counts.keys().map(|(_, address, _)| address.0.0).collect())?,
        Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(topics, 32)?),
        Arc::new(counts.values().copied().collect::<UInt64Array>()),
    ];
    RecordBatch::try_new(ignored_schema(), columns).map(Some)
}
