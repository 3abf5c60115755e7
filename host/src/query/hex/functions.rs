//! `hex(bytes)` and `unhex(text)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::literal::{is_bytes, is_text};
use crate::query::answer::push_hex;

/// Both functions.
pub fn all() -> [Arc<ScalarUDF>; 2] {
    [hex(), unhex()]
}

/// `hex(bytes)`: lower-case hex with `0x`.
pub fn hex() -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Hex { signature: Signature::user_defined(Volatility::Immutable) }))
}

/// `unhex(text)`: the bytes of hex text with `0x`; an error where the text is not that.
pub fn unhex() -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::new_from_impl(Unhex { signature: Signature::user_defined(Volatility::Immutable) }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Hex {
    signature: Signature,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Unhex {
    signature: Signature,
}

impl ScalarUDFImpl for Hex {
    fn name(&self) -> &str {
        "hex"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[DataType]) -> Result<Vec<DataType>> {
        match args {
            [ty] if is_bytes(ty) => Ok(vec![ty.clone()]),
            [DataType::Null] => Ok(vec![DataType::Binary]),
            _ => plan_err!("hex takes one value of type address, bytesN or bytes"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        by_array(&args, |bytes| {
            let mut built = StringBuilder::new();
            let mut text = String::new();
            for value in each_bytes(bytes)? {
                match value {
                    None => built.append_null(),
                    Some(value) => {
                        text.clear();
                        push_hex(&mut text, value);
                        built.append_value(&text);
                    }
                }
            }
            Ok(Arc::new(built.finish()))
        })
    }
}

impl ScalarUDFImpl for Unhex {
    fn name(&self) -> &str {
        "unhex"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, args: &[DataType]) -> Result<Vec<DataType>> {
        match args {
            [ty] if is_text(ty) || ty.is_null() => Ok(vec![DataType::Utf8]),
            _ => plan_err!("unhex takes one text"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        by_array(&args, |texts| {
            let mut built = BinaryBuilder::new();
            for text in texts.as_string::<i32>() {
                match text {
                    None => built.append_null(),
                    Some(text) => {
                        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                        let bytes = digits.and_then(|digits| ::hex::decode(digits).ok());
                        let shown: String = text.chars().take(80).collect();
                        built.append_value(bytes.ok_or_else(|| {
                            exec_datafusion_err!("'{shown}' is not hex: 0x and an even number of hex digits")
                        })?);
                    }
                }
            }
            Ok(Arc::new(built.finish()))
        })
    }
}

fn by_array(args: &ScalarFunctionArgs, make: impl Fn(&ArrayRef) -> Result<ArrayRef>) -> Result<ColumnarValue> {
    match args.args.as_slice() {
        [ColumnarValue::Array(array)] => make(array).map(ColumnarValue::Array),
        [ColumnarValue::Scalar(value)] => {
            let made = make(&value.to_array()?)?;
            Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&made, 0)?))
        }
        other => Err(DataFusionError::Internal(format!("one argument is expected, and there are {}", other.len()))),
    }
}

fn each_bytes(array: &ArrayRef) -> Result<Box<dyn Iterator<Item = Option<&[u8]>> + '_>> {
    Ok(match array.data_type() {
        DataType::FixedSizeBinary(_) => Box::new(array.as_fixed_size_binary().iter()),
        DataType::Binary => Box::new(array.as_binary::<i32>().iter()),
        DataType::BinaryView => Box::new(array.as_binary_view().iter()),
        other => return Err(DataFusionError::Internal(format!("bytes are expected, not {other}"))),
    })
}
