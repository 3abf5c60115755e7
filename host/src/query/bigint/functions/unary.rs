//! `-x`, `abs` and `sign` of integers; other numbers as usual.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, LargeBinaryBuilder};
use arrow::compute::kernels::cmp::lt;
use arrow::compute::kernels::numeric::neg_wrapping;
use arrow::compute::kernels::zip::zip;
use arrow::compute::{cast, unary};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;

use super::super::codec;
use super::super::error::{IntegerError, type_name};
use super::super::value::Wide;

/// An operation on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperation {
    /// `-x`
    Negate,
    /// `abs(x)`
    Abs,
    /// `sign(x)`: −1, 0 or 1.
    Sign,
}

/// The function of a [`UnaryOperation`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Unary {
    operation: UnaryOperation,
    signature: Signature,
}

static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(|| {
    [UnaryOperation::Negate, UnaryOperation::Abs, UnaryOperation::Sign]
        .into_iter()
        .map(|operation| {
            let signature = Signature::user_defined(Volatility::Immutable);
            Arc::new(ScalarUDF::new_from_impl(Unary { operation, signature }))
        })
        .collect()
});

/// The functions, callable by name.
pub fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    FUNCTIONS.iter().map(Arc::clone)
}

/// The name under which `-x` is planned.
pub const NEGATE: &str = "integer_negate";

/// `-x` of an integer expression.
pub fn negate(expr: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&FUNCTIONS[0]), vec![expr]))
}

/// Whether a function stands for `-x`.
pub fn is_negate(function: &ScalarUDF) -> bool {
    function.name() == NEGATE
}

impl UnaryOperation {
    fn wide(self, value: &Wide) -> Wide {
        match self {
            UnaryOperation::Negate => -value,
            UnaryOperation::Abs => value.abs(),
            UnaryOperation::Sign => Wide::from(value.signum()),
        }
    }
}

impl Unary {
    fn typing(&self, types: &[DataType]) -> Result<(DataType, DataType)> {
        let [ty] = types else {
            return Err(DataFusionError::Plan(format!("{} takes one argument, {} given", self.name(), types.len())));
        };
        let input = match ty {
            DataType::LargeBinary | DataType::UInt64 | DataType::Float64 => ty.clone(),
            DataType::Null => DataType::Int64,
            ty if ty.is_integer() => DataType::Int64,
            ty if ty.is_floating() => DataType::Float64,
            ty if ty.is_decimal() => ty.clone(),
            DataType::Interval(_) | DataType::Duration(_) | DataType::Timestamp(..)
                if self.operation == UnaryOperation::Negate =>
            {
                ty.clone()
            }
            other => {
                let sign = if self.operation == UnaryOperation::Negate { "-" } else { self.name() };
                return Err(DataFusionError::Plan(format!("{sign} needs a number, not {}", type_name(other))));
            }
        };
        let result = match (self.operation, &input) {
            (UnaryOperation::Sign, DataType::Float64) => DataType::Float64,
            (UnaryOperation::Sign, _) => DataType::Int64,
            (UnaryOperation::Negate, DataType::UInt64) => DataType::Int64,
            (_, input) => input.clone(),
        };
        Ok((input, result))
    }

    fn evaluate(&self, array: &ArrayRef, result: &DataType) -> Result<ArrayRef> {
        match (array.data_type(), self.operation) {
            (DataType::LargeBinary, UnaryOperation::Sign) => self.narrow(array, result),
            (DataType::LargeBinary, _) => self.wide(array),
            (DataType::Int64 | DataType::UInt64, _) => self.narrow(array, result),
            (DataType::Float64, UnaryOperation::Sign) => {
                let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
                Ok(Arc::new(unary::<_, _, Float64Type>(array.as_primitive::<Float64Type>(), sign)))
            }
            (_, UnaryOperation::Negate) => Ok(neg_wrapping(array)?),
            (ty, operation) => {
                let zero = ScalarValue::new_zero(ty)?.to_scalar()?;
                let negative = lt(array, &zero)?;
                if operation == UnaryOperation::Abs {
                    return Ok(zip(&negative, &neg_wrapping(array)?, array)?);
                }
                let positive = lt(&zero, array)?;
                let sign = negative.iter().zip(&positive).map(|sides| match sides {
                    (Some(negative), Some(positive)) => Some(i64::from(positive) - i64::from(negative)),
                    _ => None,
                });
                Ok(Arc::new(sign.collect::<arrow::array::Int64Array>()))
            }
        }
    }

    fn wide(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let mut builder = LargeBinaryBuilder::with_capacity(array.len(), array.len() * 12);
        for value in array.as_binary::<i64>() {
            match value {
                Some(bytes) => {
                    let value = self.operation.wide(&codec::decode(bytes)?);
                    builder.append_value(codec::to_bytes(&value)?);
                }
                None => builder.append_null(),
            }
        }
        Ok(Arc::new(builder.finish()))
    }

    fn narrow(&self, array: &ArrayRef, result: &DataType) -> Result<ArrayRef> {
        let overflow = |value: &Wide| IntegerError::OutOfRange { value: value.to_string(), target: type_name(result) };
        let compute = |value: Wide| {
            let value = self.operation.wide(&value);
            value.to_i128().ok_or_else(|| overflow(&value))
        };
        let wides: Box<dyn Iterator<Item = Result<Option<Wide>, IntegerError>>> = match array.data_type() {
            DataType::LargeBinary => {
                Box::new(array.as_binary::<i64>().iter().map(|v| v.map(codec::decode).transpose()))
            }
            DataType::UInt64 if *result == DataType::UInt64 => return Ok(Arc::clone(array)),
            DataType::UInt64 => {
                let values = array.as_primitive::<arrow::datatypes::UInt64Type>().iter();
                Box::new(values.map(|value| Ok(value.map(Wide::from))))
            }
            _ => Box::new(array.as_primitive::<Int64Type>().iter().map(|value| Ok(value.map(Wide::from)))),
        };
        let values: Result<arrow::array::Int64Array, IntegerError> = wides
            .map(|value| {
                let value = value?.map(compute).transpose()?;
                value.map(|value| i64::try_from(value).map_err(|_| overflow(&Wide::from(value)))).transpose()
            })
            .collect();
        Ok(Arc::new(values?))
    }
}

impl ScalarUDFImpl for Unary {
    fn name(&self) -> &str {
        match self.operation {
            UnaryOperation::Negate => NEGATE,
            UnaryOperation::Abs => "abs",
            UnaryOperation::Sign => "sign",
        }
    }

    fn aliases(&self) -> &[String] {
        static SIGNUM: LazyLock<[String; 1]> = LazyLock::new(|| ["signum".to_owned()]);
        if self.operation == UnaryOperation::Sign { SIGNUM.as_slice() } else { &[] }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match (self.operation, args) {
            (UnaryOperation::Negate, [arg]) => format!("(- {})", arg.schema_name()),
            (_, [arg]) => format!("{}({})", self.name(), arg.schema_name()),
            _ => self.name().to_owned(),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(vec![self.typing(types)?.0])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(self.typing(types)?.1)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let result = args.return_field.data_type();
        match args.args.as_slice() {
            [ColumnarValue::Scalar(scalar)] => {
                let computed = self.evaluate(&scalar.to_array()?, result)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&cast(&computed, result)?, 0)?))
            }
            [array] => {
                let computed = self.evaluate(&array.to_array(args.number_rows)?, result)?;
                Ok(ColumnarValue::Array(computed))
            }
            _ => Err(DataFusionError::Internal(format!("{} without one argument", self.name()))),
        }
    }
}
