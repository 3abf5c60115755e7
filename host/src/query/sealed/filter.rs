//! Filters as the file's columns understand them. They only leave out what cannot match; rows that stay are filtered
//! again.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, lit};

use crate::query::bigint::{Signedness, Stored, to_storage_value};
use crate::query::tables::Table;

/// A filter over columns as they lie in the file; none where it has no form there.
pub fn to_file(filter: &Expr, table: &Table) -> Option<Expr> {
    let alike = filter.column_refs().iter().all(|column| matches!(form(table, column), Some(Form::Alike)));
    if alike {
        return Some(filter.clone());
    }
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left_file, right_file) = (to_file(left, table), to_file(right, table));
            match (op, left_file, right_file) {
                (op, Some(left), Some(right)) => {
                    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), *op, Box::new(right))))
                }
                // What one side of an AND leaves out the whole does.
                (Operator::And, one, other) => one.or(other),
                _ => None,
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (left.as_ref(), right.as_ref()) {
            (Expr::Column(column), Expr::Literal(value, _)) => compare(table, column, *op, value),
            (Expr::Literal(value, _), Expr::Column(column)) => compare(table, column, op.swap()?, value),
            _ => None,
        },
        Expr::Between(Between { expr, negated: false, low, high }) => {
            match (expr.as_ref(), low.as_ref(), high.as_ref()) {
                (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) => {
                    let low = compare(table, column, Operator::GtEq, low)?;
                    Some(low.and(compare(table, column, Operator::LtEq, high)?))
                }
                _ => None,
            }
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let Expr::Column(column) = expr.as_ref() else { return None };
            let each = list.iter().map(|item| match item {
                Expr::Literal(value, _) => compare(table, column, Operator::Eq, value),
                _ => None,
            });
            each.collect::<Option<Vec<_>>>()?.into_iter().reduce(Expr::or)
        }
        Expr::IsNull(inner) | Expr::IsNotNull(inner) if matches!(inner.as_ref(), Expr::Column(_)) => {
            Some(filter.clone())
        }
        _ => None,
    }
}

/// How a column of a query lies in the file.
enum Form {
    Alike,
    Wide(Signedness),
    /// Seconds there are milliseconds here.
    Time(Option<std::sync::Arc<str>>),
}

fn form(table: &Table, column: &Column) -> Option<Form> {
    let place = table.stored.index_of(&column.name).ok()?;
    if let Some(signedness) = Signedness::of(table.columns[place].0) {
        return Some(Form::Wide(signedness));
    }
    Some(match table.stored.field(place).data_type() {
        DataType::Timestamp(TimeUnit::Second, zone) => Form::Time(zone.clone()),
        _ => Form::Alike,
    })
}

fn compare(table: &Table, column: &Column, op: Operator, value: &ScalarValue) -> Option<Expr> {
    use Operator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    if !matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq) {
        return None;
    }
    let value = match (form(table, column)?, value) {
        (Form::Alike, value) => value.clone(),
        (Form::Time(zone), ScalarValue::TimestampSecond(Some(seconds), _)) => {
            ScalarValue::TimestampMillisecond(Some(seconds.checked_mul(1_000)?), zone)
        }
        (Form::Wide(signedness), ScalarValue::LargeBinary(Some(bytes))) => {
            match to_storage_value(bytes, signedness).ok()? {
                Stored::At(bytes) => ScalarValue::FixedSizeBinary(32, Some(bytes.to_vec())),
                // No stored value is there, so the answer is the same for all rows that have one.
                Stored::Below => return Some(lit(matches!(op, NotEq | Gt | GtEq))),
                Stored::Above => return Some(lit(matches!(op, NotEq | Lt | LtEq))),
            }
        }
        _ => return None,
    };
    let column = Box::new(Expr::Column(column.clone()));
    Some(Expr::BinaryExpr(BinaryExpr::new(column, op, Box::new(Expr::Literal(value, None)))))
}
