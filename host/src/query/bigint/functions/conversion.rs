//! Functions between integers and other types: `uint256`, `int256`, `uint128`, `int128`, `to_integer`, their `try_` forms,
//! and what `CAST` of an integer becomes.

use std::any::Any;
use std::sync::{Arc, LazyLock};

use arrow::array::AsArray;
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use super::super::convert::{self, OnBadValue, Range};
use super::super::error::type_name;

/// Any type to an integer.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ToInteger {
    name: &'static str,
    range: Range,
    on_bad: OnBadValue,
    signature: Signature,
}

/// An integer to another type.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FromInteger {
    target: DataType,
    on_bad: OnBadValue,
    signature: Signature,
}

const CONVERSIONS: [(&str, Range, OnBadValue); 10] = [
    ("to_integer", Range::Any, OnBadValue::Fail),
    ("try_to_integer", Range::Any, OnBadValue::Null),
    ("uint256", Range::Unsigned(256), OnBadValue::Fail),
    ("try_uint256", Range::Unsigned(256), OnBadValue::Null),
    ("int256", Range::Signed(256), OnBadValue::Fail),
    ("try_int256", Range::Signed(256), OnBadValue::Null),
    ("uint128", Range::Unsigned(128), OnBadValue::Fail),
    ("try_uint128", Range::Unsigned(128), OnBadValue::Null),
    ("int128", Range::Signed(128), OnBadValue::Fail),
    ("try_int128", Range::Signed(128), OnBadValue::Null),
];

/// Whether a function by this name makes an integer of another type.
pub fn converts(name: &str) -> bool {
    CONVERSIONS.iter().any(|(known, ..)| known.eq_ignore_ascii_case(name))
}

static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(|| {
    CONVERSIONS
        .into_iter()
        .map(|(name, range, on_bad)| {
            let signature = Signature::user_defined(Volatility::Immutable);
            Arc::new(ScalarUDF::new_from_impl(ToInteger { name, range, on_bad, signature }))
        })
        .collect()
});

/// The conversions that queries can call.
pub fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    FUNCTIONS.iter().map(Arc::clone)
}

/// The call that turns an expression into an integer, or null instead of an error.
pub fn to_integer(expr: Expr, on_bad: OnBadValue) -> Expr {
    let function = match on_bad {
        OnBadValue::Fail => &FUNCTIONS[0],
        OnBadValue::Null => &FUNCTIONS[1],
    };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), vec![expr]))
}

/// The call that turns an integer expression into another type.
pub fn from_integer(expr: Expr, target: DataType, on_bad: OnBadValue) -> Expr {
    let signature = Signature::user_defined(Volatility::Immutable);
    let function = ScalarUDF::new_from_impl(FromInteger { target, on_bad, signature });
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), vec![expr]))
}

/// Whether a function turns other types into integers.
pub fn is_conversion(function: &ScalarUDF) -> bool {
    (function.inner().as_ref() as &dyn Any).is::<ToInteger>()
}

/// The value of a literal, or of a long literal still wrapped in `to_integer('…')`.
pub fn literal(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value.clone()),
        Expr::ScalarFunction(call) => {
            let found = (call.func.inner().as_ref() as &dyn Any).downcast_ref::<ToInteger>()?;
            let [Expr::Literal(value, _)] = call.args.as_slice() else {
                return None;
            };
            found.convert(&ColumnarValue::Scalar(value.clone()), 1).ok().and_then(|value| match value {
                ColumnarValue::Scalar(value) => Some(value),
                ColumnarValue::Array(_) => None,
            })
        }
        _ => None,
    }
}

impl ToInteger {
    fn reads(&self, ty: &DataType) -> bool {
        let bytes = matches!(ty, DataType::Binary | DataType::FixedSizeBinary(0..=32));
        convert::readable(ty) || (self.range != Range::Any && bytes)
    }

    fn convert(&self, value: &ColumnarValue, rows: usize) -> Result<ColumnarValue> {
        match value {
            ColumnarValue::Scalar(scalar) => {
                let wide = convert::to_wide(&scalar.to_array()?, self.range, self.on_bad)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&wide, 0)?))
            }
            array => {
                let wide = convert::to_wide(&array.to_array(rows)?, self.range, self.on_bad)?;
                Ok(ColumnarValue::Array(Arc::new(wide)))
            }
        }
    }
}

fn only(name: &str, types: &[DataType]) -> Result<DataType> {
    match types {
        [only] => Ok(only.clone()),
        _ => Err(DataFusionError::Plan(format!("{name} takes one argument, {} given", types.len()))),
    }
}

impl ScalarUDFImpl for ToInteger {
    fn name(&self) -> &str {
        self.name
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            // What a long literal was rewritten to is shown as it was written.
            [Expr::Literal(ScalarValue::Utf8(Some(digits)), _)] if self.range == Range::Any => digits.clone(),
            [arg] => format!("{}({})", self.name, arg.schema_name()),
            _ => self.name.to_owned(),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let ty = only(self.name, types)?;
        if !self.reads(&ty) {
            let found = type_name(&ty);
            let bytes = if matches!(ty, DataType::Binary | DataType::FixedSizeBinary(_)) {
                "; uint256(x) reads up to 32 bytes as big-endian"
            } else {
                ""
            };
            return Err(DataFusionError::Plan(format!("cannot use {found} as an integer{bytes}")));
        }
        Ok(vec![ty])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        only(self.name, types)?;
        Ok(DataType::LargeBinary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [value] => self.convert(value, args.number_rows),
            _ => Err(DataFusionError::Internal(format!("{} without one argument", self.name))),
        }
    }
}

impl ScalarUDFImpl for FromInteger {
    fn name(&self) -> &str {
        "integer_to"
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
        Ok(format!("integer_to({},{})", args.join(","), self.target))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        only("integer_to", types)?;
        Ok(vec![DataType::LargeBinary])
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(self.target.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Scalar(scalar)] => {
                let array = scalar.to_array()?;
                let converted = convert::from_wide(array.as_binary::<i64>(), &self.target, self.on_bad)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&converted, 0)?))
            }
            [array] => {
                let array = array.to_array(args.number_rows)?;
                Ok(ColumnarValue::Array(convert::from_wide(array.as_binary::<i64>(), &self.target, self.on_bad)?))
            }
            _ => Err(DataFusionError::Internal("integer_to without one argument".into())),
        }
    }
}
