//! What is changed in a statement before it is planned.
//!
//! DataFusion reads a number above 64 bits as a double, and some expressions are typed by its planner without a hook. So
//! these are rewritten on the syntax tree: long literals become calls, `-x` becomes a function, `IS DISTINCT FROM` an
//! operator that has a hook, `CAST(x AS uint256)` a conversion, and `^` takes its usual place before `*`.

mod call;
mod caret;
mod values;

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Query, Statement as SqlStatement, UnaryOperator, Value, ValueWithSpan,
    VisitMut, VisitorMut,
};

use call::call;

use super::functions::unary::NEGATE;

/// Rewrites a statement for exact integers. To be called on each statement between parsing and planning, views included.
pub fn rewrite_statement(statement: &mut Statement) {
    match statement {
        Statement::Statement(statement) => rewrite_sql(statement),
        Statement::Explain(explain) => rewrite_statement(&mut explain.statement),
        Statement::CreateExternalTable(_) | Statement::CopyTo(_) | Statement::Reset(_) => {}
    }
}

/// The same for a bare syntax tree.
pub fn rewrite_sql(statement: &mut SqlStatement) {
    // The rewriter never breaks off.
    let _ = statement.visit(&mut Rewriter);
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        values::unify(&mut query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        caret::regroup(expr);
        if let Some(rewritten) = rewrite(expr) {
            *expr = rewritten;
        }
        ControlFlow::Continue(())
    }
}

/// The digits of a number that is an integer, without underscores.
fn integer_digits(expr: &Expr) -> Option<String> {
    let Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) = expr else {
        return None;
    };
    let digits: String = digits.chars().filter(|digit| *digit != '_').collect();
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The text of an integer literal that DataFusion would read as a double.
fn long_literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => {
            let digits = format!("-{}", integer_digits(expr)?);
            digits.parse::<i64>().is_err().then_some(digits)
        }
        other => {
            let digits = integer_digits(other)?;
            digits.parse::<u64>().is_err().then_some(digits)
        }
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Number(..), .. }))
}

/// The function that casts to a type, if it is one of the wide integers.
fn conversion(ty: &DataType, kind: &CastKind) -> Option<&'static str> {
    let names = match type_name(ty)?.as_str() {
        "uint256" => ("uint256", "try_uint256"),
        "int256" => ("int256", "try_int256"),
        "uint128" => ("uint128", "try_uint128"),
        "int128" => ("int128", "try_int128"),
        _ => return None,
    };
    Some(match kind {
        CastKind::Cast | CastKind::DoubleColon => names.0,
        CastKind::TryCast | CastKind::SafeCast => names.1,
    })
}

/// The lower-case name of a type that is one word.
fn type_name(ty: &DataType) -> Option<String> {
    match ty {
        DataType::Custom(name, modifiers) if modifiers.is_empty() => Some(name.to_string().to_lowercase()),
        DataType::Custom(..) => None,
        other => Some(other.to_string().to_lowercase()),
    }
}

/// The SQL type behind the name that a narrow integer column has in a nest. `int8` stays what it is in SQL: 8 bytes.
fn narrow_type(ty: &DataType) -> Option<DataType> {
    Some(match type_name(ty)?.as_str() {
        "uint8" => DataType::TinyIntUnsigned(None),
        "uint16" => DataType::SmallIntUnsigned(None),
        "uint32" => DataType::IntUnsigned(None),
        "uint64" => DataType::BigIntUnsigned(None),
        "int16" => DataType::SmallInt(None),
        "int32" => DataType::Int(None),
        "int64" => DataType::BigInt(None),
        _ => return None,
    })
}

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Value(Value::Null.with_empty_span()))
}

/// `left <=> right`: equal, or both null.
fn not_distinct(left: &mut Expr, right: &mut Expr) -> Box<Expr> {
    let (left, right) = (Box::new(take(left)), Box::new(take(right)));
    Box::new(Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Spaceship, right })))
}

/// What an expression becomes, if it changes. Its children are visited afterwards.
fn rewrite(expr: &mut Expr) -> Option<Expr> {
    if let Some(digits) = long_literal(expr) {
        return Some(call("to_integer", Expr::Value(Value::SingleQuotedString(digits).with_empty_span())));
    }
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Minus, expr }
            if !is_number(expr) && !matches!(**expr, Expr::Interval(_)) =>
        {
            Some(call(NEGATE, take(expr)))
        }
        Expr::UnaryOp { op: UnaryOperator::Plus, expr } => Some(Expr::Nested(Box::new(take(expr)))),
        Expr::Cast { kind, expr, data_type, array: false, format: None } => {
            if let Some(narrow) = narrow_type(data_type) {
                *data_type = narrow;
                return None;
            }
            Some(call(conversion(data_type, kind)?, take(expr)))
        }
        Expr::TypedString(typed) => {
            let function = conversion(&typed.data_type, &CastKind::Cast)?;
            Some(call(function, Expr::Value(typed.value.clone())))
        }
        Expr::IsNotDistinctFrom(left, right) => Some(*not_distinct(left, right)),
        Expr::IsDistinctFrom(left, right) => {
            Some(Expr::UnaryOp { op: UnaryOperator::Not, expr: not_distinct(left, right) })
        }
        _ => None,
    }
}
