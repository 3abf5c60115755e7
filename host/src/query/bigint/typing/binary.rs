//! Operators with an integer on either side.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;

use super::super::convert::OnBadValue;
use super::super::functions::arithmetic;
use super::super::functions::conversion::{from_integer, literal, to_integer};
use super::super::functions::operation::{Operation, integer_typing};
use super::{Typed, compare, into_wide, mismatch};

/// What became of an operator.
pub enum Combined {
    /// It has a new form.
    New(Expr),
    /// It is left to DataFusion.
    Native(Expr, Expr),
}

pub(super) fn plain(left: Expr, operator: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr::new(Box::new(left), operator, Box::new(right)))
}

/// The call of an operation's function.
pub(super) fn compute(operation: Operation, left: Expr, right: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(arithmetic::function(operation), vec![left, right]))
}

/// Brings the sides of an operator together where an integer is involved.
pub fn combine(left: Expr, operator: Operator, right: Expr, schema: &DFSchema) -> Result<Combined> {
    // Chains of AND and OR are long, and typing each link types all before it.
    if matches!(operator, Operator::And | Operator::Or) {
        return Ok(Combined::Native(left, right));
    }
    let (Some(l), Some(r)) = (Typed::new(&left, schema), Typed::new(&right, schema)) else {
        return Ok(Combined::Native(left, right));
    };
    let wide = l.is_wide() || r.is_wide();
    if let Some(operation) = Operation::of(operator) {
        let narrow = operation.checks_narrow() && integer_typing(operation, &l.ty, &r.ty).is_some();
        if wide || narrow {
            return Ok(Combined::New(arithmetic(operation, l, r)?));
        }
    } else if wide && is_comparison(operator) {
        return Ok(Combined::New(compare::compare(l, operator, r)?));
    } else if wide && is_textual(operator) && !l.ty.is_nested() && !r.ty.is_nested() {
        return Ok(Combined::New(plain(l.into_text(), operator, r.into_text())));
    }
    Ok(Combined::Native(left, right))
}

fn is_comparison(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(operator, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
}

fn is_textual(operator: Operator) -> bool {
    use Operator::{
        ILikeMatch, LikeMatch, NotILikeMatch, NotLikeMatch, RegexIMatch, RegexMatch, RegexNotIMatch, RegexNotMatch,
        StringConcat,
    };
    matches!(
        operator,
        StringConcat
            | LikeMatch
            | ILikeMatch
            | NotLikeMatch
            | NotILikeMatch
            | RegexMatch
            | RegexIMatch
            | RegexNotMatch
            | RegexNotIMatch
    )
}

/// A whole number from zero up takes the unsigned side's type, so that `block_number + 1` stays unsigned.
fn adapt(side: Typed, other: &DataType) -> Typed {
    match &side.expr {
        Expr::Literal(ScalarValue::Int64(Some(value @ 0..)), _) if *other == DataType::UInt64 => {
            let expr = Expr::Literal(ScalarValue::UInt64(Some(value.unsigned_abs())), None);
            Typed { expr, ty: DataType::UInt64 }
        }
        _ => side,
    }
}

/// Arithmetic with an integer on each side, or a wide one on either.
pub(super) fn arithmetic(operation: Operation, left: Typed, right: Typed) -> Result<Expr> {
    let (left, right) = match (left.ty.clone(), right.ty.clone()) {
        (DataType::UInt64, _) | (_, DataType::UInt64) => {
            let (left_ty, right_ty) = (left.ty.clone(), right.ty.clone());
            (adapt(left, &right_ty), adapt(right, &left_ty))
        }
        _ => (left, right),
    };
    if integer_typing(operation, &left.ty, &right.ty).is_some() {
        return Ok(compute(operation, left.expr, right.expr));
    }
    let other = if left.is_wide() { &right.ty } else { &left.ty };
    match (other, operation.operator()) {
        (ty, _) if ty.is_floating() && operation == Operation::Power => {
            Ok(compute(operation, left.into_double(), right.into_double()))
        }
        (ty, Some(operator)) if ty.is_floating() && operation.checks_narrow() => {
            Ok(plain(left.into_double(), operator, right.into_double()))
        }
        (ty, Some(operator)) if scale(ty).is_some_and(|scale| scale != 0) && operation.checks_narrow() => {
            Ok(plain(decimal(left), operator, decimal(right)))
        }
        _ => Ok(compute(operation, operand(left)?, operand(right)?)),
    }
}

/// The scale of a decimal.
fn scale(ty: &DataType) -> Option<i8> {
    match ty {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Some(*scale),
        _ => None,
    }
}

/// A side of decimal arithmetic, as wide as decimals get.
fn decimal(side: Typed) -> Expr {
    match scale(&side.ty) {
        Some(scale) => Expr::Cast(Cast::new(Box::new(side.expr), DataType::Decimal256(76, scale))),
        None => from_integer(side.expr, DataType::Decimal256(76, 0), OnBadValue::Fail),
    }
}

/// One side of wide arithmetic.
fn operand(side: Typed) -> Result<Expr> {
    if side.is_wide() || side.ty.is_integer() || side.ty.is_null() {
        return Ok(side.expr);
    }
    if literal(&side.expr).is_some() {
        return into_wide(side);
    }
    if side.ty.is_string() || side.ty.is_decimal() {
        return Ok(to_integer(side.expr, OnBadValue::Fail));
    }
    mismatch(&side.ty)
}
