//! Comparing integers: always by value, and always as one plain comparison of encoded integers where it can be.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, Operator};

use super::super::functions::conversion::literal;
use super::super::functions::operation::Operation;
use super::super::functions::unscaled::unscaled;
use super::super::value::Wide;
use super::binary::{compute, plain};
use super::{Number, Typed, into_wide, wide_literal};

/// Compares two sides of which one at least is wide.
pub(super) fn compare(left: Typed, operator: Operator, right: Typed) -> Result<Expr> {
    if left.is_wide() {
        return against(left, operator, right);
    }
    let Some(mirrored) = operator.swap() else {
        return Ok(plain(into_wide(left)?, operator, into_wide(right)?));
    };
    against(right, mirrored, left)
}

/// Compares a wide side with any other.
fn against(wide: Typed, operator: Operator, other: Typed) -> Result<Expr> {
    if let Some(value) = literal(&other.expr)
        && !other.is_wide()
        && let Some(number) = Number::of_literal(&value)?
        && number.scale > 0
    {
        return with_fraction(wide, operator, &number);
    }
    match &other.ty {
        ty if ty.is_floating() && literal(&other.expr).is_none() => Ok(plain(wide.into_double(), operator, other.expr)),
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale > 0 && literal(&other.expr).is_none() =>
        {
            let factor = wide_literal(&Wide::ten_to(u32::from(scale.unsigned_abs())))?;
            Ok(plain(compute(Operation::Multiply, wide.expr, factor), operator, unscaled(other.expr)))
        }
        _ => Ok(plain(into_wide(wide)?, operator, into_wide(other)?)),
    }
}

/// Compares with a literal that lies between two integers.
fn with_fraction(wide: Typed, operator: Operator, number: &Number) -> Result<Expr> {
    match operator {
        Operator::Gt | Operator::GtEq => Ok(plain(wide.expr, Operator::Gt, wide_literal(&number.floor()?)?)),
        Operator::Lt | Operator::LtEq => Ok(plain(wide.expr, Operator::LtEq, wide_literal(&number.floor()?)?)),
        _ => {
            let scaled = compute(Operation::Multiply, wide.expr, wide_literal(&Wide::ten_to(number.scale))?);
            Ok(plain(scaled, operator, wide_literal(&number.unscaled)?))
        }
    }
}
