//! Arrays, structs and maps of integers as such of text, so that no text function prints an encoding.

use std::sync::{Arc, LazyLock};

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::text::to_decimal_array;

#[derive(Debug, PartialEq, Eq, Hash)]
struct IntegersAsText {
    signature: Signature,
}

static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| {
    let signature = Signature::user_defined(Volatility::Immutable);
    Arc::new(ScalarUDF::new_from_impl(IntegersAsText { signature }))
});

/// The call that turns the integers inside a value into text.
pub fn integers_as_text(expr: Expr) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(&FUNCTION), vec![expr]))
}

/// Whether a type is, or holds, wide integers.
pub fn holds_integers(ty: &DataType) -> bool {
    match ty {
        DataType::LargeBinary => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => holds_integers(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_integers(field.data_type())),
        DataType::Dictionary(_, values) => holds_integers(values),
        _ => false,
    }
}

fn field_as_text(field: &FieldRef) -> FieldRef {
    Arc::new(Field::new(field.name(), type_as_text(field.data_type()), field.is_nullable()))
}

/// A type with text in place of its wide integers.
pub fn type_as_text(ty: &DataType) -> DataType {
    match ty {
        DataType::LargeBinary => DataType::Utf8,
        DataType::List(item) => DataType::List(field_as_text(item)),
        DataType::Map(item, sorted) => DataType::Map(field_as_text(item), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field_as_text).collect()),
        other => other.clone(),
    }
}

/// A column with text in place of its wide integers, however deep they lie.
pub fn array_as_text(array: &ArrayRef) -> Result<ArrayRef> {
    if !holds_integers(array.data_type()) {
        return Ok(Arc::clone(array));
    }
    Ok(match (array.data_type(), type_as_text(array.data_type())) {
        (DataType::LargeBinary, _) => Arc::new(to_decimal_array(array.as_binary())),
        (DataType::List(_), DataType::List(item)) => {
            let list = array.as_list::<i32>();
            let values = array_as_text(list.values())?;
            Arc::new(ListArray::try_new(item, list.offsets().clone(), values, list.nulls().cloned())?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let columns: Result<Vec<ArrayRef>> = array.as_struct().columns().iter().map(array_as_text).collect();
            Arc::new(StructArray::try_new(fields, columns?, array.nulls().cloned())?)
        }
        (DataType::Map(..), DataType::Map(item, sorted)) => {
            let map = array.as_map();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = array_as_text(&entries)?.as_struct().clone();
            Arc::new(MapArray::try_new(item, map.offsets().clone(), entries, map.nulls().cloned(), sorted)?)
        }
        (other, _) => {
            return Err(DataFusionError::Execution(format!("integers inside {other} cannot be written as text")));
        }
    })
}

impl ScalarUDFImpl for IntegersAsText {
    fn name(&self) -> &str {
        "integers_as_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types.first().map_or(DataType::Null, type_as_text))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        Ok(ColumnarValue::Array(array_as_text(&arrays[0])?))
    }
}
