//! Operators between bytes and text, while a statement is planned.

use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::compare::{align, as_lower, as_text, bytes_type, is_text_expr, replace};

/// The planner's hook.
#[derive(Debug)]
pub struct HexPlanner;

impl ExprPlanner for HexPlanner {
    fn plan_binary_op(&self, mut raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        match raw.op {
            BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::Spaceship => {
                align(&mut raw.left, &mut raw.right, schema)?;
            }
            BinaryOperator::StringConcat => {
                if bytes_type(&raw.left, schema).is_some() && is_text_expr(&raw.right, schema) {
                    replace(&mut raw.left, as_text);
                } else if bytes_type(&raw.right, schema).is_some() && is_text_expr(&raw.left, schema) {
                    replace(&mut raw.right, as_text);
                }
            }
            BinaryOperator::PGRegexMatch
            | BinaryOperator::PGRegexIMatch
            | BinaryOperator::PGRegexNotMatch
            | BinaryOperator::PGRegexNotIMatch
            | BinaryOperator::PGLikeMatch
            | BinaryOperator::PGILikeMatch
            | BinaryOperator::PGNotLikeMatch
            | BinaryOperator::PGNotILikeMatch
                if bytes_type(&raw.left, schema).is_some() =>
            {
                replace(&mut raw.left, as_text);
                if !matches!(raw.op, BinaryOperator::PGRegexMatch | BinaryOperator::PGRegexNotMatch) {
                    replace(&mut raw.right, as_lower);
                }
            }
            _ => {}
        }
        Ok(PlannerResult::Original(raw))
    }
}
