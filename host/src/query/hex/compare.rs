//! Two sides of a comparison of bytes with text.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue};
use datafusion::functions::string::expr_fn::lower;
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::functions::hex;
use super::literal::{is_bytes, is_text, literal, parse};

/// The type of an expression, if it has one already.
pub fn type_of(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    expr.get_type(schema).ok()
}

/// The bytes type of an expression.
pub fn bytes_type(expr: &Expr, schema: &DFSchema) -> Option<DataType> {
    type_of(expr, schema).filter(is_bytes)
}

/// Whether an expression is text.
pub fn is_text_expr(expr: &Expr, schema: &DFSchema) -> bool {
    type_of(expr, schema).is_some_and(|ty| is_text(&ty))
}

/// Bytes as lower-case hex.
pub fn as_text(bytes: Expr) -> Expr {
    hex().call(vec![bytes])
}

/// Text as bytes' hex is written.
pub fn as_lower(text: Expr) -> Expr {
    match literal(&text) {
        Some(known) => Expr::Literal(ScalarValue::Utf8(Some(known.to_lowercase())), None),
        None => lower(text),
    }
}

/// A literal as bytes of this type; none where it is not a literal of text or bytes.
pub fn literal_as(expr: &Expr, ty: &DataType) -> Result<Option<Expr>> {
    if let Some(text) = literal(expr) {
        let value = parse(text, ty).map_err(|bad| DataFusionError::External(Box::new(bad)))?;
        return Ok(Some(Expr::Literal(value, None)));
    }
    match (expr, ty) {
        // X'…' of the right length is compared as it is, not by making every row a longer type.
        (Expr::Literal(ScalarValue::Binary(Some(bytes)), _), DataType::FixedSizeBinary(width))
            if bytes.len() == *width as usize =>
        {
            Ok(Some(Expr::Literal(ScalarValue::FixedSizeBinary(*width, Some(bytes.clone())), None)))
        }
        _ => Ok(None),
    }
}

/// Makes two sides comparable, if one is bytes and the other text or a literal of bytes.
pub fn align(left: &mut Expr, right: &mut Expr, schema: &DFSchema) -> Result<bool> {
    let (left_type, right_type) = (bytes_type(left, schema), bytes_type(right, schema));
    match (left_type, right_type) {
        (Some(ty), _) if replace_literal(right, &ty)? => Ok(true),
        (_, Some(ty)) if replace_literal(left, &ty)? => Ok(true),
        (Some(_), None) if is_text_expr(right, schema) => {
            replace(left, as_text);
            replace(right, as_lower);
            Ok(true)
        }
        (None, Some(_)) if is_text_expr(left, schema) => {
            replace(right, as_text);
            replace(left, as_lower);
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn replace_literal(expr: &mut Expr, ty: &DataType) -> Result<bool> {
    match literal_as(expr, ty)? {
        Some(typed) => {
            *expr = typed;
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Puts an expression through a function.
pub fn replace(expr: &mut Expr, make: impl FnOnce(Expr) -> Expr) {
    let taken = std::mem::replace(expr, Expr::Literal(ScalarValue::Null, None));
    *expr = make(taken);
}
