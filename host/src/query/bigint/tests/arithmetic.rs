//! Arithmetic and totals against num-bigint's.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, LargeBinaryArray};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use datafusion::scalar::ScalarValue;
use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{Signed, ToPrimitive, Zero};
use proptest::prelude::*;

use crate::query::bigint::aggregate::{DistinctAccumulator, ExactAccumulator, ExactGroups, Outcome};
use crate::query::bigint::codec::{decode, to_bytes};
use crate::query::bigint::text::{format_units, parse_units};
use crate::query::bigint::{IntegerError, Wide};

fn two_to(power: u32) -> BigInt {
    BigInt::from(2).pow(power)
}

/// Integers of up to `bits` bits, many of them near a power of two.
fn integers(bits: u32) -> impl Strategy<Value = BigInt> {
    let random = (any::<bool>(), prop::collection::vec(any::<u8>(), 0..=(bits / 8) as usize))
        .prop_map(|(minus, bytes)| BigInt::from_bytes_be(if minus { Sign::Minus } else { Sign::Plus }, &bytes));
    let edges = (any::<bool>(), 0..bits, -1i32..=1).prop_map(|(minus, power, step)| {
        let value: BigInt = two_to(power) + step;
        if minus { -value } else { value }
    });
    prop_oneof![random, edges, any::<i64>().prop_map(BigInt::from)]
}

fn wide(value: &BigInt) -> Wide {
    Wide::from(value.clone())
}

fn column(values: &[Option<BigInt>]) -> ArrayRef {
    let encoded: Vec<Option<Vec<u8>>> =
        values.iter().map(|value| value.as_ref().map(|value| to_bytes(&wide(value)).unwrap())).collect();
    Arc::new(LargeBinaryArray::from_iter(encoded))
}

fn back(scalar: ScalarValue) -> Option<BigInt> {
    let ScalarValue::LargeBinary(bytes) = scalar else { panic!("{scalar:?} is no integer") };
    bytes.map(|bytes| decode(&bytes).unwrap().to_big())
}

fn sum(values: &[Option<BigInt>]) -> Option<BigInt> {
    let present: Vec<&BigInt> = values.iter().flatten().collect();
    (!present.is_empty()).then(|| present.into_iter().sum())
}

fn values() -> impl Strategy<Value = Vec<Option<BigInt>>> {
    prop::collection::vec(prop::option::weighted(0.9, integers(900)), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_operation_is_num_bigints(a in integers(500), b in integers(500)) {
        let (x, y) = (wide(&a), wide(&b));
        prop_assert_eq!(x.add(&y), wide(&(&a + &b)));
        prop_assert_eq!(x.sub(&y), wide(&(&a - &b)));
        prop_assert_eq!(x.mul(&y), wide(&(&a * &b)));
        prop_assert_eq!(x.and(&y), wide(&(&a & &b)));
        prop_assert_eq!(x.or(&y), wide(&(&a | &b)));
        prop_assert_eq!(x.xor(&y), wide(&(&a ^ &b)));
        prop_assert_eq!(x.abs(), wide(&a.abs()));
        prop_assert_eq!(-&x, wide(&-&a));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        if b.is_zero() {
            prop_assert_eq!(x.div(&y), Err(IntegerError::DivisionByZero));
            prop_assert_eq!(x.rem(&y), Err(IntegerError::DivisionByZero));
        } else {
            prop_assert_eq!(x.div(&y).unwrap(), wide(&(&a / &b)));
            prop_assert_eq!(x.rem(&y).unwrap(), wide(&(&a % &b)));
        }
    }

    #[test]
    fn shifts_and_powers_are_num_bigints(a in integers(300), amount in 0u32..1100) {
        let x = wide(&a);
        let by = Wide::Small(amount.into());
        if amount <= 1008 {
            prop_assert_eq!(x.shl(&by).unwrap(), wide(&(&a << amount)));
            prop_assert_eq!(x.shr(&by).unwrap(), wide(&(&a >> amount)));
        } else {
            prop_assert!(x.shl(&by).is_err() && x.shr(&by).is_err());
        }
        let exponent = amount % 12;
        let power = a.pow(exponent);
        match x.pow(&Wide::Small(exponent.into())) {
            Ok(found) => prop_assert_eq!(found, wide(&power)),
            Err(error) => prop_assert!(error == IntegerError::TooWide && power.bits() > 1008),
        }
    }

    #[test]
    fn a_ratio_is_the_nearest_double(a in integers(600), divisor in 1u64..) {
        // Cross-checked with a quotient of far more bits than a double has.
        let scaled: BigUint = (a.magnitude() << 1200u32) / divisor;
        let exact = scaled.to_f64().map(|double| double * 2f64.powi(-600) * 2f64.powi(-600));
        if let Some(nearest) = exact.filter(|double| double.is_finite()) {
            prop_assert_eq!(wide(&a).ratio(divisor).abs(), nearest);
        }
    }

    #[test]
    fn units_come_back_from_their_text(a in integers(300), decimals in 0u32..80) {
        let text = format_units(&wide(&a), decimals);
        prop_assert_eq!(parse_units(&text, decimals).unwrap(), wide(&a));
        if let Some((_, fraction)) = text.split_once('.') {
            prop_assert!(!fraction.ends_with('0') && fraction.len() <= decimals as usize);
        }
    }

    #[test]
    fn a_window_that_slides_holds_the_sum_of_its_rows(values in values(), width in 1usize..6) {
        let mut all = ExactAccumulator::new(Outcome::Sum);
        let mut distinct = DistinctAccumulator::new(Outcome::Sum);
        for end in 0..values.len() {
            let entering = column(&values[end..=end]);
            all.update_batch(&[Arc::clone(&entering)]).unwrap();
            distinct.update_batch(&[entering]).unwrap();
            if end >= width {
                let leaving = column(&values[end - width..end - width + 1]);
                all.retract_batch(&[Arc::clone(&leaving)]).unwrap();
                distinct.retract_batch(&[leaving]).unwrap();
            }
            let window = &values[(end + 1).saturating_sub(width)..=end];
            prop_assert_eq!(back(all.evaluate().unwrap()), sum(window));
            let mut once: Vec<Option<BigInt>> = window.to_vec();
            once.sort();
            once.dedup();
            prop_assert_eq!(back(distinct.evaluate().unwrap()), sum(&once));
        }
    }

    #[test]
    fn merged_states_are_the_sum_of_all_rows(a in values(), b in values()) {
        let mut merged = ExactAccumulator::new(Outcome::Quotient);
        let mut merged_distinct = DistinctAccumulator::new(Outcome::Sum);
        for part in [&a, &b] {
            let mut one = ExactAccumulator::new(Outcome::Quotient);
            one.update_batch(&[column(part)]).unwrap();
            let states: Vec<ArrayRef> = one.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
            merged.merge_batch(&states).unwrap();
            let mut one = DistinctAccumulator::new(Outcome::Sum);
            one.update_batch(&[column(part)]).unwrap();
            let states: Vec<ArrayRef> = one.state().unwrap().iter().map(|state| state.to_array().unwrap()).collect();
            merged_distinct.merge_batch(&states).unwrap();
        }
        let mut rows = [a, b].concat();
        let count = rows.iter().flatten().count();
        prop_assert_eq!(back(merged.evaluate().unwrap()), sum(&rows).map(|sum| sum / count));
        rows.sort();
        rows.dedup();
        prop_assert_eq!(back(merged_distinct.evaluate().unwrap()), sum(&rows));
    }

    #[test]
    fn groups_hold_the_sums_of_their_rows(
        rows in prop::collection::vec((0usize..5, prop::option::weighted(0.9, integers(900)), prop::option::of(any::<bool>())), 0..60),
        first in 1usize..5,
    ) {
        let groups: Vec<usize> = rows.iter().map(|(group, ..)| *group).collect();
        let values: Vec<Option<BigInt>> = rows.iter().map(|(_, value, _)| value.clone()).collect();
        let filter: BooleanArray = rows.iter().map(|(.., admitted)| *admitted).collect();
        let expected: Vec<Option<BigInt>> = (0..5)
            .map(|group| {
                let own = rows.iter().filter(|(of, _, admitted)| *of == group && *admitted == Some(true));
                sum(&own.map(|(_, value, _)| value.clone()).collect::<Vec<_>>())
            })
            .collect();
        let read = |array: ArrayRef| -> Vec<Option<BigInt>> {
            array.as_binary::<i64>().iter().map(|bytes| bytes.map(|bytes| decode(bytes).unwrap().to_big())).collect()
        };

        let mut partial = ExactGroups::new(Outcome::Sum);
        partial.update_batch(&[column(&values)], &groups, Some(&filter), 5).unwrap();
        let states = partial.state(EmitTo::All).unwrap();
        let mut merged = ExactGroups::new(Outcome::Sum);
        merged.merge_batch(&states, &[0, 1, 2, 3, 4], 5).unwrap();
        let mut found = read(merged.evaluate(EmitTo::First(first)).unwrap());
        found.extend(read(merged.evaluate(EmitTo::All).unwrap()));
        prop_assert_eq!(&found, &expected);

        // Rows turned into states one by one, without a partial aggregation.
        let states = partial.convert_to_state(&[column(&values)], Some(&filter)).unwrap();
        let mut merged = ExactGroups::new(Outcome::Sum);
        merged.merge_batch(&states, &groups, 5).unwrap();
        prop_assert_eq!(&read(merged.evaluate(EmitTo::All).unwrap()), &expected);
    }
}

#[test]
fn narrow_columns_are_summed_without_wrapping() {
    let rows: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MAX), None, Some(i64::MAX), Some(i64::MIN)]));
    let mut total = ExactAccumulator::new(Outcome::Sum);
    for _ in 0..1000 {
        total.update_batch(&[Arc::clone(&rows)]).unwrap();
    }
    assert_eq!(back(total.evaluate().unwrap()), Some(BigInt::from(i64::MAX - 1) * 1000));
    let mut mean = ExactAccumulator::new(Outcome::Ratio);
    mean.update_batch(&[rows.slice(0, 3)]).unwrap();
    assert_eq!(mean.evaluate().unwrap(), ScalarValue::Float64(Some(i64::MAX as f64)));
}

#[test]
fn a_total_beyond_1008_bits_is_an_error_not_a_wrong_sum() {
    let widest: BigInt = two_to(1008) - 1;
    let mut total = ExactAccumulator::new(Outcome::Sum);
    total.update_batch(&[column(&[Some(widest.clone()), Some(widest)])]).unwrap();
    let message = total.evaluate().unwrap_err().to_string();
    assert!(message.contains("exceeds 1,008 bits"), "{message}");
    total.update_batch(&[column(&[Some(1 - two_to(1008))])]).unwrap();
    assert_eq!(back(total.evaluate().unwrap()), Some(two_to(1008) - 1));
}
