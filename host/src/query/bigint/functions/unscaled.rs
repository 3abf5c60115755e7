//! The unscaled value of a decimal, for comparing it exactly with an integer of the same scale.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::codec;
use super::super::convert::{from_decimal, widest_decimal};

#[derive(Debug, PartialEq, Eq, Hash)]
struct Unscaled {
    signature: Signature,
}

static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    Arc::new(ScalarUDF::new_from_impl(Unscaled { signature: Signature::user_defined(Volatility::Immutable) }))
});

/// The call that gives a decimal expression's unscaled value.
pub fn unscaled(expr: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&FUNCTION), vec![expr]))
}

impl ScalarUDFImpl for Unscaled {
    fn name(&self) -> &str {
        "decimal_unscaled"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        Ok(DataType::LargeBinary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let (values, _) = widest_decimal(&arrays[0])?;
        let encoded: Result<Vec<Option<Vec<u8>>>> = values
            .iter()
            .map(|value| Ok(value.map(|value| codec::to_bytes(&from_decimal(value, 0)?)).transpose()?))
            .collect();
        let encoded = arrow::array::LargeBinaryArray::from_iter(encoded?);
        Ok(ColumnarValue::Array(Arc::new(encoded)))
    }
}
