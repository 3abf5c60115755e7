//! Answers: columns with nest types, rows, and where they came from.

pub(super) mod cell;
mod csv;
mod json;
mod table;

use std::collections::HashSet;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};

pub use cell::push_hex;

use super::status::Reach;
use super::tables::query_type;
use crate::model::{BlockHash, BlockNumber, BundleHash, ChainId, NestName, nest_type};
use crate::store::Snapshot;

/// What a query was answered with.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Columns in order; names are unique.
    pub columns: Vec<AnswerColumn>,
    /// Rows.
    pub batches: Vec<RecordBatch>,
    /// Where they came from.
    pub meta: Meta,
}

/// One column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerColumn {
    /// Name; a second column of one name gets `_2` behind it.
    pub name: String,
    /// Nest type such as `uint256`, or for computed columns the nearest word.
    pub ty: String,
}

/// Which bundle's rows an answer came from, and how far they reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Endpoint that was asked.
    pub endpoint: NestName,
    /// Nest that answered.
    pub nest: NestName,
    /// Its version.
    pub version: String,
    /// Its bundle.
    pub bundle: BundleHash,
    /// Chain.
    pub chain_id: ChainId,
    /// First block of the rows.
    pub first_block: BlockNumber,
    /// Last block whose rows are in; none before the first.
    pub as_of_block: Option<BlockNumber>,
    /// Its hash.
    pub as_of_hash: Option<BlockHash>,
    /// Whether rows reach the head of the chain, from `first_block` on.
    pub complete: bool,
    /// Why not.
    pub reason: Option<String>,
}

impl Meta {
    /// Of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let reach = Reach::of(snapshot);
        let done = snapshot.dataset.done_to;
        Meta {
            endpoint: snapshot.endpoint.name.clone(),
            nest: snapshot.endpoint.nest.clone(),
            version: snapshot.endpoint.version.to_string(),
            bundle: snapshot.endpoint.bundle,
            chain_id: snapshot.chain_id,
            first_block: snapshot.dataset.key.first_block,
            as_of_block: done.map(|block| block.number),
            as_of_hash: done.map(|block| block.hash),
            complete: reach == Reach::Head,
            reason: reach.reason(),
        }
    }
}

impl Answer {
    /// An answer with these rows.
    pub fn new(schema: &Schema, batches: Vec<RecordBatch>, meta: Meta) -> Self {
        Answer { columns: columns(schema), batches, meta }
    }

    /// Rows of all batches.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

fn columns(schema: &Schema) -> Vec<AnswerColumn> {
    let mut taken: HashSet<String> = HashSet::new();
    let all: HashSet<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    schema
        .fields()
        .iter()
        .map(|field| {
            let mut name = field.name().clone();
            let mut count = 1;
            while taken.contains(&name) || (count > 1 && all.contains(name.as_str())) {
                count += 1;
                name = format!("{}_{count}", field.name());
            }
            taken.insert(name.clone());
            AnswerColumn { name, ty: type_name(field) }
        })
        .collect()
}

/// The type of a column as people read it: the nest type where the values are still of that type, else a word.
pub fn type_name(field: &Field) -> String {
    match nest_type(field) {
        Some(ty) if query_type(ty) == *field.data_type() => ty.to_string(),
        _ => word(field.data_type()),
    }
}

fn word(ty: &DataType) -> String {
    match ty {
        DataType::Null => "null",
        DataType::Boolean => "bool",
        DataType::UInt8 => "uint8",
        DataType::UInt16 => "uint16",
        DataType::UInt32 => "uint32",
        DataType::UInt64 => "uint64",
        DataType::Int8 => "int8",
        DataType::Int16 => "int16",
        DataType::Int32 => "int32",
        DataType::Int64 => "int64",
        DataType::Float16 | DataType::Float32 | DataType::Float64 => "double",
        DataType::Decimal32(p, s)
        | DataType::Decimal64(p, s)
        | DataType::Decimal128(p, s)
        | DataType::Decimal256(p, s) => {
            return format!("decimal({p},{s})");
        }
        DataType::LargeBinary => "integer",
        DataType::FixedSizeBinary(20) => "address",
        DataType::FixedSizeBinary(width) => return format!("bytes{width}"),
        DataType::Binary | DataType::BinaryView => "bytes",
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "string",
        DataType::Timestamp(TimeUnit::Second, _) => "timestamp",
        DataType::Timestamp(..) => "timestamp",
        DataType::Date32 | DataType::Date64 => "date",
        DataType::Time32(_) | DataType::Time64(_) => "time",
        DataType::Interval(_) | DataType::Duration(_) => "interval",
        DataType::Dictionary(_, values) => return word(values),
        DataType::RunEndEncoded(_, values) => return word(values.data_type()),
        _ => "json",
    }
    .to_owned()
}

#[cfg(test)]
mod tests;
