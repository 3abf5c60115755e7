use arrow::array::{Array, FixedSizeBinaryArray, LargeBinaryArray};
use num_bigint::{BigInt, Sign};
use proptest::prelude::*;

use crate::query::bigint::codec::{MAX_BYTES, decode, to_bytes};
use crate::query::bigint::{
    IntegerError, Signedness, Stored, Wide, from_storage, to_decimal, to_decimal_array, to_storage, to_storage_value,
};

/// Integers of every width, the edges of bytes and words among them.
fn integers() -> impl Strategy<Value = BigInt> {
    let random = (any::<bool>(), prop::collection::vec(any::<u8>(), 0..=MAX_BYTES))
        .prop_map(|(minus, bytes)| BigInt::from_bytes_be(if minus { Sign::Minus } else { Sign::Plus }, &bytes));
    let edges = (any::<bool>(), 0u32..1008, -2i32..=2).prop_map(|(minus, power, step)| {
        let value: BigInt = two_to(power) + step;
        if minus { -value } else { value }
    });
    let small = any::<i64>().prop_map(BigInt::from);
    prop_oneof![random, edges, small]
}

fn two_to(power: u32) -> BigInt {
    BigInt::from(2).pow(power)
}

fn encode(value: &BigInt) -> Vec<u8> {
    to_bytes(&Wide::from(value.clone())).unwrap()
}

fn max_of(signedness: Signedness) -> BigInt {
    match signedness {
        Signedness::Unsigned => two_to(256) - 1,
        Signedness::Signed => two_to(255) - 1,
    }
}

fn min_of(signedness: Signedness) -> BigInt {
    match signedness {
        Signedness::Unsigned => BigInt::ZERO,
        Signedness::Signed => -two_to(255),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_integer_comes_back_from_its_encoding(value in integers()) {
        prop_assert_eq!(decode(&encode(&value)).unwrap().to_big(), value);
    }

    #[test]
    fn byte_order_is_numeric_order(a in integers(), b in integers()) {
        prop_assert_eq!(encode(&a).cmp(&encode(&b)), a.cmp(&b));
        // Neighbours differ most subtly.
        let next: BigInt = &a + 1;
        if next.bits() <= 1008 {
            prop_assert!(encode(&a) < encode(&next));
        }
    }

    #[test]
    fn an_integer_has_one_encoding_only(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(value) = decode(&bytes) {
            prop_assert_eq!(to_bytes(&value).unwrap(), bytes);
        }
    }

    #[test]
    fn text_is_what_num_bigint_writes(value in integers()) {
        let encoded = encode(&value);
        prop_assert_eq!(to_decimal(&encoded), value.to_string());
        let column = to_decimal_array(&LargeBinaryArray::from(vec![None, Some(encoded.as_slice()), None]));
        prop_assert!(column.is_null(0) && column.is_null(2));
        prop_assert_eq!(column.value(1), value.to_string());
    }

    #[test]
    fn text_reads_back(value in integers()) {
        let wide = Wide::from(value.clone());
        prop_assert_eq!(crate::query::bigint::text::parse(&value.to_string()).unwrap(), wide.clone());
        let (sign, magnitude) = (value.sign(), value.magnitude().to_str_radix(16));
        let hex = format!("{}0x{magnitude}", if sign == Sign::Minus { "-" } else { "" });
        prop_assert_eq!(crate::query::bigint::text::parse(&hex).unwrap(), wide);
    }

    #[test]
    fn storage_and_query_forms_agree(value in integers(), signed in any::<bool>()) {
        let signedness = if signed { Signedness::Signed } else { Signedness::Unsigned };
        let encoded = encode(&value);
        let found = to_storage_value(&encoded, signedness).unwrap();
        if value > max_of(signedness) {
            prop_assert_eq!(found, Stored::Above);
        } else if value < min_of(signedness) {
            prop_assert_eq!(found, Stored::Below);
        } else {
            let Stored::At(bytes) = found else { panic!("{value} is in range") };
            // Stored: the distance from the smallest value, big-endian, is what a flipped top bit makes of it.
            let distance = BigInt::from_bytes_be(Sign::Plus, &bytes);
            prop_assert_eq!(distance, &value - min_of(signedness));
            let column = FixedSizeBinaryArray::try_from_iter([bytes].into_iter()).unwrap();
            let back = from_storage(&column, signedness);
            prop_assert_eq!(back.value(0), encoded.as_slice());
            prop_assert_eq!(to_storage(&back, signedness).unwrap(), column);
        }
    }
}

#[test]
fn nulls_keep_their_place_through_storage() {
    let stored =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some([0u8; 32]), None, Some([0xff; 32])].into_iter(), 32)
            .unwrap();
    let wide = from_storage(&stored, Signedness::Unsigned);
    assert_eq!((wide.is_null(1), wide.null_count()), (true, 1));
    assert_eq!(to_decimal(wide.value(0)), "0");
    assert_eq!(to_decimal(wide.value(2)), max_of(Signedness::Unsigned).to_string());
    let signed = from_storage(&stored, Signedness::Signed);
    assert_eq!(to_decimal(signed.value(0)), min_of(Signedness::Signed).to_string());
    assert_eq!(to_decimal(signed.value(2)), max_of(Signedness::Signed).to_string());
}

#[test]
fn nothing_wider_than_1008_bits_is_encoded() {
    let widest: BigInt = two_to(1008) - 1;
    assert_eq!(encode(&widest).len(), 127);
    assert_eq!(encode(&-&widest).len(), 127);
    for value in [&widest + 1, -&widest - 1] {
        assert_eq!(to_bytes(&Wide::from(value)), Err(IntegerError::TooWide));
    }
}

#[test]
fn bytes_that_are_no_encoding_are_told_apart() {
    for bytes in [&[][..], &[0x7f], &[0x80, 0], &[0x81], &[0x81, 0], &[0x7e, 0xff], &[0xff; 128], &[0x00; 128]] {
        assert!(matches!(decode(bytes), Err(IntegerError::Malformed(_))), "{bytes:?}");
        assert_eq!(to_decimal(bytes), format!("invalid:0x{}", hex::encode(bytes)));
    }
}
