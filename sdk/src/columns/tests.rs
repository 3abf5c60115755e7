#![allow(clippy::unwrap_used)]

use super::*;
use crate::{Column, Values};

const BYTES: [u8; 23] = *b"0123456789abcdefghijklm";
const TEXT: &str = "äöüßàâçéèêëîïôûùœæñá";

fn bit(bitmap: &[u8], row: usize) -> bool {
    bitmap[row / 8] >> (row % 8) & 1 == 1
}

/// The column's rows as bytes, by the rules of the interface, written apart from the builders.
fn rows(column: &Column, count: usize) -> Vec<Option<Vec<u8>>> {
    let value = |row: usize| match &column.values {
        Values::Bits(bits) => vec![u8::from(bit(bits, row))],
        Values::S64s(values) => values[row].to_be_bytes().to_vec(),
        Values::U64s(values) => values[row].to_be_bytes().to_vec(),
        Values::Fixed(fixed) => {
            let width = fixed.width as usize;
            assert_eq!(fixed.values.len(), width * count);
            fixed.values[row * width..(row + 1) * width].to_vec()
        }
        Values::Bytes(var) | Values::Text(var) => {
            assert_eq!(var.offsets.len(), count + 1);
            assert_eq!((var.offsets[0], var.offsets[count] as usize), (0, var.values.len()));
            var.values[var.offsets[row] as usize..var.offsets[row + 1] as usize].to_vec()
        }
    };
    if let Some(validity) = &column.validity {
        assert_eq!(validity.len(), count.div_ceil(8));
        assert!((count..validity.len() * 8).all(|spare| !bit(validity, spare)), "unused bits are not 0");
    }
    if let Values::Bits(bits) = &column.values {
        assert_eq!(bits.len(), count.div_ceil(8));
        assert!((count..bits.len() * 8).all(|spare| !bit(bits, spare)), "unused bits are not 0");
    }
    let valid = |row: usize| column.validity.as_ref().is_none_or(|validity| bit(validity, row));
    (0..count).map(|row| valid(row).then(|| value(row))).collect()
}

/// Rows 0 to 19; every row that `null` names is null.
macro_rules! fill {
    ($column:expr, $null:expr, $value:expr) => {{
        let mut column = $column;
        for row in 0..20usize {
            let null: fn(usize) -> bool = $null;
            if null(row) {
                column.push_null();
            } else {
                column.push($value(row));
            }
        }
        assert_eq!(column.len(), 20);
        column
    }};
}

macro_rules! check {
    ($column:expr, $value:expr, $bytes:expr) => {{
        let full = fill!($column, |_| false, $value);
        let wanted: Vec<_> = (0..20usize).map(|row| Some($bytes(row))).collect();
        let finished = full.finish();
        assert_eq!(finished.validity, None);
        assert_eq!(rows(&finished, 20), wanted);

        let null = |row: usize| row % 3 == 2;
        let wanted: Vec<_> = (0..20usize).map(|row| (!null(row)).then(|| $bytes(row))).collect();
        let holey = fill!($column, |row| row % 3 == 2, $value);
        assert_eq!(rows(&holey.clone().finish(), 20), wanted);

        let keep: Vec<bool> = (0..20usize).map(|row| row % 5 != 0).collect();
        let mut thinned = holey;
        thinned.retain(&keep);
        let wanted: Vec<_> = wanted.into_iter().zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row).collect();
        assert_eq!(thinned.len(), wanted.len());
        assert_eq!(rows(&thinned.finish(), wanted.len()), wanted);
    }};
}

#[test]
fn values_nulls_and_dropped_rows_keep_their_places() {
    check!(Bits::with_capacity(4), |row| row % 2 == 0, |row: usize| vec![u8::from(row.is_multiple_of(2))]);
    check!(U64s::with_capacity(4), |row| row as u64 * 7, |row: usize| (row as u64 * 7).to_be_bytes().to_vec());
    check!(S64s::with_capacity(4), |row| 3 - row as i64, |row: usize| (3 - row as i64).to_be_bytes().to_vec());
    check!(Fixed::with_capacity(3, 4), |row| &BYTES[row..row + 3], |row: usize| BYTES[row..row + 3].to_vec());
    check!(Bytes::with_capacity(4), |row| &BYTES[..row], |row: usize| BYTES[..row].to_vec());
    check!(Text::with_capacity(4), |row| &TEXT[..row * 2], |row: usize| TEXT.as_bytes()[..row * 2].to_vec());
}

#[test]
fn columns_of_whole_lists_equal_pushed_ones() {
    let pushed = fill!(Fixed::with_capacity(3, 4), |_| false, |row| &BYTES[row..row + 3]);
    let arrays = (0..20).map(|row| *BYTES[row..].first_chunk::<3>().unwrap()).collect();
    assert_eq!(Fixed::from_arrays(arrays), pushed);
    let pushed = fill!(U64s::with_capacity(4), |_| false, |row| row as u64);
    assert_eq!(U64s::from((0..20).collect::<Vec<u64>>()), pushed);
}

#[test]
fn byte_order_of_wide_integers_is_numeric_order() {
    let mut column = Fixed::with_capacity(32, 4);
    let lowest: [u8; 32] = std::array::from_fn(|place| if place == 0 { 0x80 } else { 0 });
    let highest: [u8; 32] = std::array::from_fn(|place| if place == 0 { 0x7f } else { 0xff });
    for value in [lowest, [0xff; 32], [0; 32], highest] {
        column.push_signed(&value);
    }
    let rows = rows(&column.finish(), 4);
    assert!(rows.is_sorted(), "{rows:?}");
    assert_eq!(rows[0], Some(vec![0; 32]));
}

#[test]
#[should_panic(expected = "a value of 19 bytes in a column of 20")]
fn a_value_of_another_width_panics() {
    Fixed::with_capacity(20, 1).push(&[0; 19]);
}

#[test]
fn a_failed_write_leaves_no_row() {
    let mut column = Text::with_capacity(2);
    column.push("a");
    let failed = column.push_with(|text| {
        text.push_str("half");
        Err::<(), _>("no")
    });
    assert_eq!((failed, column.len()), (Err("no"), 1));
    assert_eq!(
        column.push_with(|text| {
            text.push('b');
            Ok::<_, ()>(5)
        }),
        Ok(5)
    );
    assert_eq!(rows(&column.finish(), 2), [Some(b"a".to_vec()), Some(b"b".to_vec())]);
}
