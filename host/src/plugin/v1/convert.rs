//! From and to the bindings of this world. Lists move; nothing is copied that the canonical ABI has not copied already.

use super::bindings::nuthatch::nest::types as wit;
use crate::model::{address_bytes, hash_bytes};
use crate::plugin::parts::Part;
use crate::plugin::raw::{
    RawColumn, RawColumnDef, RawDecoded, RawDescription, RawFailure, RawFilter, RawRejection, RawTable, RawTableDef,
    RawValues,
};

/// Those columns of a part that lie differently on the host's side.
pub(super) struct Columns {
    topic_offsets: Vec<u32>,
    data_offsets: Vec<u32>,
}

fn rebased(offsets: &[u32]) -> Vec<u32> {
    let first = offsets.first().copied().unwrap_or(0);
    offsets.iter().map(|offset| offset - first).collect()
}

impl Columns {
    pub(super) fn of(part: &Part<'_>) -> Self {
        let Part { batch, first, last } = *part;
        Columns {
            topic_offsets: rebased(&batch.topic_offsets[first..=last]),
            data_offsets: rebased(&batch.data_offsets[first..=last]),
        }
    }

    pub(super) fn lower<'a>(&'a self, part: &'a Part<'_>) -> wit::LogBatch<'a> {
        let Part { batch, first, last } = *part;
        wit::LogBatch {
            chain_id: batch.chain_id.0,
            len: (last - first) as u32,
            block_number: &batch.block_number[first..last],
            block_timestamp: &batch.block_timestamp[first..last],
            tx_index: &batch.tx_index[first..last],
            log_index: &batch.log_index[first..last],
            tx_hash: hash_bytes(&batch.tx_hash[first..last]),
            address: address_bytes(&batch.address[first..last]),
            topics: hash_bytes(part.topics()),
            topic_offsets: &self.topic_offsets,
            data: part.data(),
            data_offsets: &self.data_offsets,
        }
    }
}

pub(super) fn failure(failure: wit::Failure) -> RawFailure {
    RawFailure { code: failure.code, message: failure.message }
}

pub(super) fn decoded(decoded: wit::Decoded) -> RawDecoded {
    let rejection = |r: wit::Rejection| RawRejection { log: r.log, code: r.code, detail: r.detail };
    RawDecoded {
        tables: decoded.tables.into_iter().map(table).collect(),
        rejected: decoded.rejected.into_iter().map(rejection).collect(),
        ignored: decoded.ignored,
    }
}

fn table(rows: wit::TableRows) -> RawTable {
    RawTable { table: rows.table, source: rows.source, columns: rows.columns.into_iter().map(column).collect() }
}

fn column(column: wit::Column) -> RawColumn {
    let values = match column.values {
        wit::Values::Bits(bits) => RawValues::Bits(bits),
        wit::Values::S64s(values) => RawValues::S64s(values),
        wit::Values::U64s(values) => RawValues::U64s(values),
        wit::Values::Fixed(fixed) => RawValues::Fixed { width: fixed.width, values: fixed.values },
        wit::Values::Bytes(var) => RawValues::Bytes { offsets: var.offsets, values: var.values },
        wit::Values::Text(var) => RawValues::Text { offsets: var.offsets, values: var.values },
    };
    RawColumn { values, validity: column.validity }
}

pub(super) fn description(part: wit::ManifestPart) -> RawDescription {
    let column = |c: wit::ColumnDef| RawColumnDef { name: c.name, ty: c.type_, nullable: c.nullable, doc: c.doc };
    let table = |t: wit::TableDef| RawTableDef {
        name: t.name,
        columns: t.columns.into_iter().map(column).collect(),
        doc: t.doc,
    };
    let filter = |f: wit::Filter| RawFilter { addresses: f.addresses, topics: f.topics, start_block: f.start_block };
    RawDescription {
        tables: part.tables.into_iter().map(table).collect(),
        filters: part.filters.into_iter().map(filter).collect(),
    }
}
