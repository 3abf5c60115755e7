#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Decimal256Array, FixedSizeBinaryBuilder, PrimitiveArray,
    RecordBatch, StringArray, TimestampSecondArray, UInt64Array,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, Int8Type, Int16Type, Int32Type, Int64Type, Schema, SchemaRef, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type, i256,
};
use bytes::Bytes;
use proptest::prelude::*;
use rand::distr::{Distribution, StandardUniform};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{BadChunk, concat, cut, decode, encode, rows};
use crate::model::{BlockNumber, ColumnType, data_type};

/// Every shape a column type may have in Arrow, at the edges between them.
fn all_types() -> Vec<ColumnType> {
    let mut types = vec![
        ColumnType::Bool,
        ColumnType::Timestamp,
        ColumnType::Address,
        ColumnType::Bytes,
        ColumnType::String,
        ColumnType::Json,
    ];
    types.extend((1..=32).map(|bytes| ColumnType::Uint(bytes * 8)));
    types.extend((1..=32).map(|bytes| ColumnType::Int(bytes * 8)));
    types.extend((1..=32).map(ColumnType::FixedBytes));
    types.extend([(1, 0), (18, 18), (38, 2), (39, 0), (76, 18)].map(|(p, s)| ColumnType::Decimal(p, s)));
    types
}

fn numbers<T: ArrowPrimitiveType>(valid: &[bool], random: &mut StdRng) -> ArrayRef
where
    StandardUniform: Distribution<T::Native>,
{
    Arc::new(valid.iter().map(|&valid| valid.then(|| random.random())).collect::<PrimitiveArray<T>>())
}

fn some_bytes(random: &mut StdRng) -> Vec<u8> {
    (0..random.random_range(0..40)).map(|_| random.random()).collect()
}

fn some_text(random: &mut StdRng) -> String {
    (0..random.random_range(0..12)).map(|_| random.random::<char>()).collect()
}

fn column(ty: &DataType, valid: &[bool], random: &mut StdRng) -> ArrayRef {
    match ty {
        DataType::Boolean => {
            Arc::new(valid.iter().map(|&valid| valid.then(|| random.random())).collect::<BooleanArray>())
        }
        DataType::UInt8 => numbers::<UInt8Type>(valid, random),
        DataType::UInt16 => numbers::<UInt16Type>(valid, random),
        DataType::UInt32 => numbers::<UInt32Type>(valid, random),
        DataType::UInt64 => numbers::<UInt64Type>(valid, random),
        DataType::Int8 => numbers::<Int8Type>(valid, random),
        DataType::Int16 => numbers::<Int16Type>(valid, random),
        DataType::Int32 => numbers::<Int32Type>(valid, random),
        DataType::Int64 => numbers::<Int64Type>(valid, random),
        DataType::Timestamp(..) => {
            let values = valid.iter().map(|&valid| valid.then(|| random.random_range(0..4_000_000_000)));
            Arc::new(values.collect::<TimestampSecondArray>().with_timezone("+00:00"))
        }
        DataType::Decimal128(..) => {
            let values = valid.iter().map(|&valid| valid.then(|| random.random_range(-9..=9)));
            Arc::new(values.collect::<Decimal128Array>().with_data_type(ty.clone()))
        }
        DataType::Decimal256(..) => {
            let values = valid.iter().map(|&valid| valid.then(|| i256::from_i128(random.random())));
            Arc::new(values.collect::<Decimal256Array>().with_data_type(ty.clone()))
        }
        DataType::FixedSizeBinary(width) => {
            let mut builder = FixedSizeBinaryBuilder::new(*width);
            for &valid in valid {
                let value: Vec<u8> = (0..*width).map(|_| random.random()).collect();
                if valid { builder.append_value(value).unwrap() } else { builder.append_null() }
            }
            Arc::new(builder.finish())
        }
        DataType::Binary => {
            let values: Vec<_> = valid.iter().map(|&valid| valid.then(|| some_bytes(random))).collect();
            Arc::new(BinaryArray::from_iter(values))
        }
        DataType::Utf8 => Arc::new(StringArray::from_iter(valid.iter().map(|&valid| valid.then(|| some_text(random))))),
        other => panic!("no column type lies as {other}"),
    }
}

/// Rows of the column types, made of a seed; a nullable column is null a third of the time.
fn batch(types: &[(ColumnType, bool)], count: usize, seed: u64) -> RecordBatch {
    let mut random = StdRng::seed_from_u64(seed);
    let mut fields = vec![Field::new("block_number", DataType::UInt64, false)];
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(UInt64Array::from_iter_values((0..count as u64).map(|row| row / 3)))];
    for (place, (ty, nullable)) in types.iter().enumerate() {
        let valid: Vec<bool> = (0..count).map(|_| !nullable || random.random_range(0..3) > 0).collect();
        fields.push(Field::new(format!("c{place}"), data_type(*ty), *nullable));
        columns.push(column(&data_type(*ty), &valid, &mut random));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

fn shape() -> impl Strategy<Value = (Vec<(ColumnType, bool)>, usize, u64)> {
    let column = (prop::sample::select(all_types()), any::<bool>());
    (prop::collection::vec(column, 0..12), 0usize..70, any::<u64>())
}

#[test]
fn every_column_type_comes_back() {
    for nullable in [false, true] {
        let types: Vec<_> = all_types().into_iter().map(|ty| (ty, nullable)).collect();
        let batch = batch(&types, 50, 3);
        assert_eq!(decode(&batch.schema(), encode(&batch).unwrap()).unwrap(), batch);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is written is what is read, and a slice has the bytes of a batch of its own.
    #[test]
    fn rows_come_back((types, count, seed) in shape(), from in 0usize..70, len in 0usize..70) {
        let whole = batch(&types, count, seed);
        let bytes = encode(&whole).unwrap();
        prop_assert_eq!(rows(&bytes).unwrap(), count as u64);
        prop_assert_eq!(&decode(&whole.schema(), bytes).unwrap(), &whole);

        let from = from.min(count);
        let slice = whole.slice(from, len.min(count - from));
        let bytes = encode(&slice).unwrap();
        let back = decode(&whole.schema(), bytes.clone()).unwrap();
        prop_assert_eq!(&back, &slice);
        prop_assert_eq!(encode(&back).unwrap(), bytes);
    }

    /// A chunk cut short, and one with a byte changed, is an error or other rows, never a panic.
    #[test]
    fn damage_is_an_error((types, count, seed) in shape(), at in any::<prop::sample::Index>(), with in 1u8..) {
        let batch = batch(&types, count, seed);
        let bytes = encode(&batch).unwrap();
        let at = at.index(bytes.len());
        prop_assert!(decode(&batch.schema(), bytes.slice(..at)).is_err());
        let mut changed = bytes.to_vec();
        changed[at] ^= with;
        if let Ok(other) = decode(&batch.schema(), Bytes::from(changed)) {
            // Whatever was let through is sound: reading every value back trips over nothing.
            prop_assert!(encode(&other).is_ok());
        }
        let mut longer = bytes.to_vec();
        longer.extend([0; 8]);
        prop_assert!(decode(&batch.schema(), Bytes::from(longer)).is_err());
    }

    #[test]
    fn cutting_keeps_the_rows_up_to_a_block((types, count, seed) in shape(), last in 0u64..30) {
        let batch = batch(&types, count, seed);
        let stay = count.min((last as usize + 1) * 3);
        prop_assert_eq!(cut(&batch, BlockNumber(last)).unwrap(), batch.slice(0, stay));
    }

    #[test]
    fn parts_make_the_whole((types, count, seed) in shape(), at in 0usize..70) {
        let batch = batch(&types, count, seed);
        let at = at.min(count);
        let parts = [batch.slice(0, at), batch.slice(at, count - at)];
        prop_assert_eq!(concat(&batch.schema(), &parts).unwrap(), batch);
    }
}

fn one_column(column: ArrayRef) -> RecordBatch {
    let field = Field::new("c", column.data_type().clone(), false);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).unwrap()
}

#[test]
fn a_claim_of_many_rows_is_refused_before_anything_is_made() {
    let chunk = encode(&one_column(Arc::new(StringArray::from(vec!["a", "b"])))).unwrap();
    let schema: SchemaRef = Arc::new(Schema::new(vec![Field::new("c", DataType::Utf8, false)]));
    let mut bytes = chunk.to_vec();
    bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let refused = decode(&schema, Bytes::from(bytes)).unwrap_err();
    assert!(matches!(&refused, BadChunk::Damaged(why) if why.contains("ends within c")), "{refused}");
}

#[test]
fn another_table_is_refused() {
    let chunk = encode(&one_column(Arc::new(UInt64Array::from(vec![1, 2])))).unwrap();
    let two = Schema::new(vec![Field::new("a", DataType::UInt64, false), Field::new("b", DataType::UInt64, false)]);
    assert!(matches!(decode(&Arc::new(two), chunk.clone()), Err(BadChunk::Damaged(_))));
    let wider = Schema::new(vec![Field::new("a", DataType::FixedSizeBinary(32), false)]);
    assert!(matches!(decode(&Arc::new(wider), chunk), Err(BadChunk::Damaged(_))));
    assert!(matches!(decode(&Arc::new(Schema::empty()), Bytes::from_static(b"nch")), Err(BadChunk::Damaged(_))));
    assert!(matches!(rows(b"parquet file"), Err(BadChunk::Damaged(_))));
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let chunk = encode(&one_column(Arc::new(BinaryArray::from(vec![&b"\xff\xfe"[..]])))).unwrap();
    let text = Schema::new(vec![Field::new("c", DataType::Utf8, false)]);
    assert!(matches!(decode(&Arc::new(text), chunk), Err(BadChunk::Damaged(_))));
}

#[test]
fn a_type_without_a_layout_is_named() {
    let list = arrow::array::ListArray::from_iter_primitive::<UInt64Type, _, _>([Some([Some(1)])]);
    let refused = encode(&one_column(Arc::new(list))).unwrap_err();
    assert!(matches!(&refused, BadChunk::Type { column, .. } if column == "c"), "{refused}");
}

#[test]
fn decoding_copies_nothing() {
    let batch = batch(&[(ColumnType::Uint(256), false), (ColumnType::String, true)], 1_000, 1);
    let bytes = encode(&batch).unwrap();
    let within = bytes.as_ptr_range();
    let back = decode(&batch.schema(), bytes).unwrap();
    for column in back.columns() {
        for buffer in column.to_data().buffers() {
            assert!(within.contains(&buffer.as_ptr()), "{} was copied", column.data_type());
        }
    }
}
