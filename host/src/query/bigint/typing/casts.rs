//! Casts from and to integers, written in a query or put there by type coercion: Arrow's own would copy bytes.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::scalar::ScalarValue;

use super::super::convert::{OnBadValue, readable};
use super::super::error::type_name;
use super::super::functions::conversion::{from_integer, to_integer};
use super::super::functions::nested::holds_integers;
use super::{Typed, WIDE, mismatch};

/// Replaces a cast where an integer is on either side.
pub(super) fn replace_cast(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let (inner, target, on_bad) = match &expr {
        Expr::Cast(Cast { expr, field }) => (expr, field.data_type(), OnBadValue::Fail),
        Expr::TryCast(TryCast { expr, field }) => (expr, field.data_type(), OnBadValue::Null),
        _ => return Ok(Transformed::no(expr)),
    };
    let ty = inner.get_type(schema)?;
    if !holds_integers(&ty) && !holds_integers(target) {
        return Ok(Transformed::no(expr));
    }
    let value = Typed { expr: inner.as_ref().clone(), ty };
    let target = target.clone();
    Ok(Transformed::yes(match (&value.ty, &target) {
        (from, to) if from == to => value.expr,
        (_, &WIDE) => to_wide(value, on_bad)?,
        (&WIDE, _) => from_wide(value, target, on_bad)?,
        (_, to) if to.is_string() => Expr::Cast(Cast::new(Box::new(value.into_text()), target)),
        // Lists of the same items, or of none.
        (from, to) if from.equals_datatype(to) || empty_list(from) => return Ok(Transformed::no(expr)),
        (from, to) => return plan_err!("cannot cast {from} to {to}: cast each 256-bit integer in it instead"),
    }))
}

fn empty_list(ty: &DataType) -> bool {
    matches!(ty, DataType::List(item) if item.data_type().is_null()) || ty.is_null()
}

fn from_wide(value: Typed, target: DataType, on_bad: OnBadValue) -> Result<Expr> {
    match &target {
        // A number cast to a timestamp is seconds.
        DataType::Timestamp(_, zone) => {
            let seconds = from_integer(value.expr, DataType::Int64, on_bad);
            let stamp = Cast::new(Box::new(seconds), DataType::Timestamp(TimeUnit::Second, zone.clone()));
            Ok(Expr::Cast(Cast::new(Box::new(Expr::Cast(stamp)), target)))
        }
        ty if ty.is_numeric() || ty.is_string() || *ty == DataType::Boolean => {
            Ok(from_integer(value.expr, target, on_bad))
        }
        ty => plan_err!(
            "cannot cast a 256-bit integer to {}: cast it to bigint, decimal, double or varchar",
            type_name(ty)
        ),
    }
}

fn to_wide(value: Typed, on_bad: OnBadValue) -> Result<Expr> {
    match &value.ty {
        DataType::Null => Ok(Expr::Literal(ScalarValue::LargeBinary(None), None)),
        ty if readable(ty) => Ok(to_integer(value.expr, on_bad)),
        ty => mismatch(ty),
    }
}
