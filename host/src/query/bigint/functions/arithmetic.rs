//! The functions that integer operators become.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::error::type_name;
use super::operation::{self, Operation, Typing};

/// `+ - * / %` and the bit operators on integers, and `power`.
///
/// Integers are exact: a wide result never overflows below 1,008 bits, a 64-bit one is checked. Types that turn out not
/// to be integers only after planning (a `CASE` whose later branch is a double) are computed as DataFusion does.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Arithmetic {
    operation: Operation,
    signature: Signature,
}

static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> = LazyLock::new(|| {
    Operation::ALL
        .into_iter()
        .map(|operation| {
            let signature = Signature::user_defined(Volatility::Immutable);
            Arc::new(ScalarUDF::new_from_impl(Arithmetic { operation, signature }))
        })
        .collect()
});

/// The function of an operation.
pub fn function(operation: Operation) -> Arc<ScalarUDF> {
    Arc::clone(&FUNCTIONS[operation as usize])
}

/// The operation of a function made by [`function`].
pub fn operation_of(function: &ScalarUDF) -> Option<Operation> {
    (function.inner().as_ref() as &dyn std::any::Any).downcast_ref::<Arithmetic>().map(|found| found.operation)
}

impl Arithmetic {
    fn typing(&self, types: &[DataType]) -> Result<Typing> {
        let [left, right] = types else {
            return Err(DataFusionError::Plan(format!(
                "{} takes two arguments, {} given",
                self.operation.function(),
                types.len()
            )));
        };
        if let Some(typing) = operation::integer_typing(self.operation, left, right) {
            return Ok(typing);
        }
        match self.operation.operator() {
            Some(operator) => {
                let coercer = BinaryTypeCoercer::new(left, &operator, right);
                let (left, right) = coercer.get_input_types()?;
                Ok(Typing { left, right, result: coercer.get_result_type()? })
            }
            None => {
                for side in [left, right] {
                    let number = side.is_numeric() || matches!(side, DataType::Null | DataType::LargeBinary);
                    if !number {
                        let found = type_name(side);
                        return Err(DataFusionError::Plan(format!("power takes numbers, not {found}")));
                    }
                }
                // A wide side is left to the typing rule, which casts it to double.
                let double = |side: &DataType| {
                    if *side == DataType::LargeBinary { side.clone() } else { DataType::Float64 }
                };
                Ok(Typing { left: double(left), right: double(right), result: DataType::Float64 })
            }
        }
    }
}

impl ScalarUDFImpl for Arithmetic {
    fn name(&self) -> &str {
        self.operation.function()
    }

    fn aliases(&self) -> &[String] {
        static POW: LazyLock<[String; 1]> = LazyLock::new(|| ["pow".to_owned()]);
        if self.operation == Operation::Power { POW.as_slice() } else { &[] }
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            [left, right] if self.operation != Operation::Power => {
                format!("{} {} {}", left.schema_name(), self.operation.symbol(), right.schema_name())
            }
            _ => {
                let args: Vec<String> = args.iter().map(|arg| arg.schema_name().to_string()).collect();
                format!("{}({})", self.name(), args.join(","))
            }
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let typing = self.typing(types)?;
        Ok(vec![typing.left, typing.right])
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(self.typing(types)?.result)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} without two arguments", self.name())));
        };
        let result = args.return_field.data_type();
        if operation::integer_typing(self.operation, &left.data_type(), &right.data_type()).is_some() {
            operation::evaluate(self.operation, result, left, right, args.number_rows)
        } else if self.operation == Operation::Power {
            operation::evaluate_power(left, right, args.number_rows)
        } else {
            operation::evaluate_native(self.operation, left, right)
        }
    }
}
