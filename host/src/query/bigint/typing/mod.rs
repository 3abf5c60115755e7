//! Making expressions agree on their types: integers stay exact, whatever they meet.
//!
//! Most is done while a statement is planned (`planner`), since DataFusion's planner refuses operators on types it cannot
//! bring together. What it accepts untyped (`BETWEEN`, `IN`, `CASE`, joins, unions, functions) is settled by an analyzer
//! rule before DataFusion's own type coercion, and casts that the latter adds are replaced by a rule after it.

pub mod binary;
mod casts;
mod compare;
mod expressions;
pub mod functions;
pub mod planner;
pub mod plans;
mod subquery;
mod unify;

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::scalar::ScalarValue;

use super::convert::OnBadValue;
use super::error::{IntegerError, type_name};
use super::functions::conversion::{from_integer, literal, to_integer};
use super::functions::nested::{holds_integers, integers_as_text};
use super::value::Wide;
use super::{codec, convert, text};

/// The Arrow type of an integer in queries.
pub const WIDE: DataType = DataType::LargeBinary;

/// An expression with its type.
pub(super) struct Typed {
    pub expr: Expr,
    pub ty: DataType,
}

impl Typed {
    /// Types an expression; none where its type is not known yet.
    pub fn new(expr: &Expr, schema: &DFSchema) -> Option<Self> {
        let ty = expr.get_type(schema).ok()?;
        Some(Typed { expr: expr.clone(), ty })
    }

    pub fn is_wide(&self) -> bool {
        self.ty == WIDE
    }

    /// Whether the expression is a wide integer or holds some.
    pub fn holds_wide(&self) -> bool {
        holds_integers(&self.ty)
    }

    /// The expression with its integers as text.
    pub fn into_text(self) -> Expr {
        match &self.ty {
            DataType::LargeBinary => from_integer(self.expr, DataType::Utf8, OnBadValue::Fail),
            ty if holds_integers(ty) => integers_as_text(self.expr),
            _ => self.expr,
        }
    }

    /// The expression as a double, if it is an integer.
    pub fn into_double(self) -> Expr {
        if self.is_wide() { from_integer(self.expr, DataType::Float64, OnBadValue::Fail) } else { self.expr }
    }
}

/// A literal of the wide type.
pub(super) fn wide_literal(value: &Wide) -> Result<Expr> {
    let bytes = codec::to_bytes(value).map_err(plan_error)?;
    Ok(Expr::Literal(ScalarValue::LargeBinary(Some(bytes)), None))
}

/// An integer error found while planning.
pub(super) fn plan_error(error: IntegerError) -> datafusion::error::DataFusionError {
    datafusion::error::DataFusionError::Plan(error.to_string())
}

/// A number written in a query: `unscaled / 10^scale`, the scale as small as can be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number {
    pub unscaled: Wide,
    pub scale: u32,
}

impl Number {
    fn new(unscaled: Wide, scale: u32) -> Self {
        let ten = Wide::Small(10);
        let mut number = Number { unscaled, scale };
        while number.scale > 0 {
            match (number.unscaled.rem(&ten), number.unscaled.div(&ten)) {
                (Ok(rest), Ok(quotient)) if rest.is_zero() => {
                    number = Number { unscaled: quotient, scale: number.scale - 1 };
                }
                _ => break,
            }
        }
        number
    }

    /// The shortest decimal text of a double, so that `1e23` is 10^23 and not the double nearest to it.
    fn of_double(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let shortest = format!("{value:e}");
        let (mantissa, exponent) = shortest.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let unscaled = text::parse(&format!("{whole}{fraction}")).ok()?;
        let scale = i32::try_from(fraction.len()).ok()? - exponent;
        Some(match u32::try_from(scale) {
            Ok(scale) => Number::new(unscaled, scale),
            Err(_) => Number::new(unscaled.mul(&Wide::ten_to(scale.unsigned_abs())), 0),
        })
    }

    /// The number a literal stands for: none for null, an error for what is no number.
    pub fn of_literal(value: &ScalarValue) -> Result<Option<Self>> {
        if value.is_null() {
            return Ok(None);
        }
        let whole = |wide: Wide| Ok(Some(Number { unscaled: wide, scale: 0 }));
        match value {
            ScalarValue::Float64(Some(double)) => match Number::of_double(*double) {
                Some(number) => Ok(Some(number)),
                None => plan_err!("a 256-bit integer cannot be compared with {double}"),
            },
            ScalarValue::Float32(Some(float)) => Number::of_literal(&ScalarValue::Float64(Some((*float).into()))),
            ScalarValue::Binary(Some(bytes)) => whole(Wide::from_be_unsigned(bytes)),
            ScalarValue::LargeBinary(Some(bytes)) => whole(codec::decode(bytes).map_err(plan_error)?),
            ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)) => {
                whole(text::parse(text).map_err(plan_error)?)
            }
            other if other.data_type().is_decimal() => {
                let (values, scale) = convert::widest_decimal(&other.to_array()?)?;
                let unscaled = convert::from_decimal(values.value(0), 0).map_err(plan_error)?;
                Ok(Some(match u32::try_from(scale) {
                    Ok(scale) => Number::new(unscaled, scale),
                    Err(_) => Number::new(unscaled.mul(&Wide::ten_to(u32::from(scale.unsigned_abs()))), 0),
                }))
            }
            other if other.data_type().is_integer() => {
                let wide = convert::to_wide(&other.to_array()?, convert::Range::Any, OnBadValue::Fail)?;
                whole(codec::decode(wide.value(0)).map_err(plan_error)?)
            }
            other => mismatch(&other.data_type()),
        }
    }

    /// The number rounded down.
    pub fn floor(&self) -> Result<Wide> {
        let factor = Wide::ten_to(self.scale);
        let quotient = self.unscaled.div(&factor).map_err(plan_error)?;
        let exact = quotient.mul(&factor) == self.unscaled;
        Ok(if self.unscaled.is_negative() && !exact { quotient.sub(&Wide::Small(1)) } else { quotient })
    }
}

/// An expression as a wide integer of the same value, for comparing or unifying with one. Literals are computed here.
pub(super) fn into_wide(side: Typed) -> Result<Expr> {
    if side.is_wide() {
        return match literal(&side.expr) {
            Some(value @ ScalarValue::LargeBinary(_)) => Ok(Expr::Literal(value, None)),
            _ => Ok(side.expr),
        };
    }
    if let Some(value) = literal(&side.expr) {
        return match Number::of_literal(&value)? {
            None => Ok(Expr::Literal(ScalarValue::LargeBinary(None), None)),
            Some(number) if number.scale == 0 => wide_literal(&number.unscaled),
            Some(_) => plan_err!("{value} is not an integer: write a whole number, or cast the integer to double"),
        };
    }
    match &side.ty {
        DataType::Null => Ok(side.expr),
        ty if ty.is_integer() || ty.is_string() => Ok(to_integer(side.expr, OnBadValue::Fail)),
        DataType::Decimal32(_, 0)
        | DataType::Decimal64(_, 0)
        | DataType::Decimal128(_, 0)
        | DataType::Decimal256(_, 0) => Ok(to_integer(side.expr, OnBadValue::Fail)),
        ty => mismatch(ty),
    }
}

/// The error for a type that does not mix with integers.
pub(super) fn mismatch<T>(ty: &DataType) -> Result<T> {
    let hint = match ty {
        DataType::Binary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            ": uint256(x) reads bytes as an integer"
        }
        ty if ty.is_floating() || ty.is_decimal() => {
            ": cast the integer to double, or the other side with to_integer(x), which cuts off its fraction"
        }
        _ => "",
    };
    plan_err!("a 256-bit integer does not mix with {}{hint}", type_name(ty))
}
