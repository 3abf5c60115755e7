//! From a checked result to Arrow: the guest's own columns part by part, and provenance once for the whole batch.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray, Int64Array,
    PrimitiveArray, StringArray, TimestampSecondArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::concat;
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
use crate::model::{Address, B256, LogBatch, PROVENANCE, ignored_schema, rejected_schema};

/// Ignored logs, counted per block, contract and first topic.
pub(super) type Ignored = BTreeMap<(u64, Address, Option<B256>), u64>;

/// One part's rows of one table, without provenance.
#[derive(Debug)]
pub(super) struct OwnRows {
    /// The log of the whole batch that each row came from; not decreasing.
    pub source: Vec<u32>,
    pub columns: Vec<ArrayRef>,
}

/// One part's rows.
#[derive(Debug, Default)]
pub(super) struct PartRows {
    pub tables: Vec<(u32, OwnRows)>,
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
        let own = own_rows(raw, part, layout).map_err(|error| failed(&layout.name, &error))?;
        rows.tables.push((number, own));
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

fn own_rows(raw: RawTable, part: &Part<'_>, layout: &Layout) -> Result<OwnRows, ArrowError> {
    let fields = &layout.schema.fields()[PROVENANCE.len()..];
    let rows = raw.source.len();
    let columns = raw.columns.into_iter().zip(fields).map(|(raw, field)| column(raw, field.data_type(), rows));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let first = part.first as u32;
    let mut source = raw.source;
    source.iter_mut().for_each(|log| *log += first);
    Ok(OwnRows { source, columns })
}

/// One table of a batch: the rows of its parts, which stand in log order.
pub(super) fn table(parts: Vec<OwnRows>, batch: &LogBatch, layout: &Layout) -> Result<RecordBatch, ArrowError> {
    let (sources, own): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.source, part.columns)).unzip();
    let mut columns = provenance(batch, &sources)?;
    let width = own.first().map_or(0, Vec::len);
    for place in 0..width {
        let pieces: Vec<&dyn Array> = own.iter().map(|columns| columns[place].as_ref()).collect();
        columns.push(match own.as_slice() {
            [only] => Arc::clone(&only[place]),
            _ => concat(&pieces)?,
        });
    }
    RecordBatch::try_new(Arc::clone(&layout.schema), columns)
}

/// The columns that a guest cannot forge, of the logs at these places.
fn provenance(batch: &LogBatch, sources: &[Vec<u32>]) -> Result<Vec<ArrayRef>, ArrowError> {
    let whole = sources.iter().flatten().copied().eq(0..batch.len() as u32);
    let picked = Picked { sources, whole };
    // Chains with times beyond the range of i64 do not exist.
    let seconds = |time: &u64| i64::try_from(*time).unwrap_or(i64::MAX);
    let time = TimestampSecondArray::from(picked.map(&batch.block_timestamp, seconds));
    Ok(vec![
        Arc::new(UInt64Array::from(picked.map(&batch.block_number, |number| *number))),
        fixed(picked.map(&batch.block_hash, |hash| hash.0))?,
        Arc::new(time.with_timezone("+00:00")),
        fixed(picked.map(&batch.tx_hash, |hash| hash.0))?,
        Arc::new(UInt32Array::from(picked.map(&batch.tx_index, |index| *index))),
        Arc::new(UInt64Array::from(picked.map(&batch.log_index, |index| *index))),
        fixed(picked.map(&batch.address, |address| address.0.0))?,
    ])
}

/// The logs that rows came from. Most often that is each of them once, which is one copy.
struct Picked<'a> {
    sources: &'a [Vec<u32>],
    whole: bool,
}

impl Picked<'_> {
    fn map<T, U>(&self, values: &[T], of: impl Fn(&T) -> U) -> Vec<U> {
        if self.whole {
            return values.iter().map(of).collect();
        }
        let rows = self.sources.iter().map(Vec::len).sum();
        let mut picked = Vec::with_capacity(rows);
        picked.extend(self.sources.iter().flatten().map(|log| of(&values[*log as usize])));
        picked
    }
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
    let first = part.first as u32;
    let source: Vec<u32> = order.iter().map(|rejection| first + rejection.log).collect();
    let logs = || order.iter().map(|rejection| part.log(rejection.log as usize));
    let mut columns = provenance(part.batch, &[source])?;
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
