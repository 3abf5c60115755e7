//! `VALUES` types each column over all rows; a column with one wide integer is made wide in all of them.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, SetExpr, UnaryOperator, Value, ValueWithSpan, Values};

use super::super::functions::conversion::converts;
use super::call::{call, called};
use super::{conversion, long_literal, take};

/// Makes the columns of every `VALUES` in a query's body agree.
pub(super) fn unify(body: &mut SetExpr) {
    match body {
        SetExpr::Values(values) => unify_values(values),
        SetExpr::SetOperation { left, right, .. } => {
            unify(left);
            unify(right);
        }
        _ => {}
    }
}

fn is_wide(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_wide(inner),
        Expr::BinaryOp { op: BinaryOperator::BitwiseXor | BinaryOperator::PGExp, .. } => true,
        Expr::BinaryOp { left, op, right } => {
            super::caret::precedence(op).is_some() && (is_wide(left) || is_wide(right))
        }
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } if is_wide(inner) => true,
        Expr::Cast { kind, data_type, .. } => conversion(data_type, kind).is_some(),
        other => {
            let wide = |name: String| converts(&name) || matches!(name.to_lowercase().as_str(), "power" | "pow");
            long_literal(other).is_some() || called(other).is_some_and(wide)
        }
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Null, .. }))
}

fn unify_values(values: &mut Values) {
    let columns = values.rows.iter().map(|row| row.content.len()).max().unwrap_or(0);
    for column in 0..columns {
        let cells = || values.rows.iter().filter_map(|row| row.content.get(column));
        if !cells().any(is_wide) || cells().all(is_wide) {
            continue;
        }
        for row in &mut values.rows {
            if let Some(cell) = row.content.get_mut(column).filter(|cell| !is_wide(cell) && !is_null(cell)) {
                *cell = call("to_integer", take(cell));
            }
        }
    }
}
