//! One type for values that stand in for each other: branches of `CASE`, arguments of `COALESCE`, arms of `UNION`.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::Expr;

use super::super::convert::OnBadValue;
use super::super::functions::conversion::from_integer;
use super::{Typed, WIDE, into_wide, mismatch};

/// What values are unified to when one of them is a wide integer. As among DataFusion's own numbers, text wins over a
/// number, a double over a decimal, a decimal over an integer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Common {
    /// Wide integers.
    Wide,
    /// Text: integers in decimal.
    Text,
    /// Doubles.
    Double,
    /// Decimals of this scale.
    Decimal(i8),
}

impl Common {
    /// The common type; none where no value is wide.
    pub fn of<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Result<Option<Self>> {
        let types: Vec<&DataType> = types.into_iter().collect();
        if !types.contains(&&WIDE) {
            return Ok(None);
        }
        let mut common = Common::Wide;
        for ty in types {
            let next = match ty {
                DataType::LargeBinary | DataType::Null => continue,
                ty if ty.is_string() => Common::Text,
                ty if ty.is_floating() => Common::Double,
                ty if ty.is_integer() => Common::Wide,
                DataType::Decimal32(_, scale)
                | DataType::Decimal64(_, scale)
                | DataType::Decimal128(_, scale)
                | DataType::Decimal256(_, scale) => match scale {
                    0 => Common::Wide,
                    scale => Common::Decimal(*scale),
                },
                other => return mismatch(other),
            };
            common = match (common, next) {
                (Common::Text, _) | (_, Common::Text) => Common::Text,
                (Common::Double, _) | (_, Common::Double) => Common::Double,
                (Common::Decimal(a), Common::Decimal(b)) => Common::Decimal(a.max(b)),
                (Common::Decimal(scale), Common::Wide) | (Common::Wide, Common::Decimal(scale)) => {
                    Common::Decimal(scale)
                }
                (Common::Wide, Common::Wide) => Common::Wide,
            };
        }
        Ok(Some(common))
    }

    /// The Arrow type.
    pub fn data_type(&self) -> DataType {
        match self {
            Common::Wide => WIDE,
            Common::Text => DataType::Utf8,
            Common::Double => DataType::Float64,
            Common::Decimal(scale) => DataType::Decimal256(76, *scale),
        }
    }

    /// Brings a value to the common type. What is no wide integer is left to DataFusion where it can do it.
    pub(super) fn convert(&self, value: Typed) -> Result<Expr> {
        if *self == Common::Wide {
            return into_wide(value);
        }
        Ok(if value.is_wide() { from_integer(value.expr, self.data_type(), OnBadValue::Fail) } else { value.expr })
    }
}
