//! The hook into DataFusion's SQL planner.

use std::sync::Arc;

use datafusion::common::{DFSchema, Result};
use datafusion::functions_nested::expr_fn::make_array;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, Operator};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::super::functions::operation::Operation;
use super::binary::{Combined, combine};
use super::{Typed, into_wide};

/// Plans operators on integers.
#[derive(Debug)]
pub struct IntegerPlanner;

impl IntegerPlanner {
    /// To be asked before DataFusion's own planners.
    pub fn shared() -> Arc<dyn ExprPlanner> {
        Arc::new(IntegerPlanner)
    }
}

fn operator(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::Spaceship => Operator::IsNotDistinctFrom,
        BinaryOperator::BitwiseAnd => Operator::BitwiseAnd,
        BinaryOperator::BitwiseOr => Operator::BitwiseOr,
        BinaryOperator::PGBitwiseXor | BinaryOperator::Xor => Operator::BitwiseXor,
        BinaryOperator::PGBitwiseShiftLeft => Operator::BitwiseShiftLeft,
        BinaryOperator::PGBitwiseShiftRight => Operator::BitwiseShiftRight,
        BinaryOperator::StringConcat => Operator::StringConcat,
        BinaryOperator::PGRegexMatch => Operator::RegexMatch,
        BinaryOperator::PGRegexIMatch => Operator::RegexIMatch,
        BinaryOperator::PGRegexNotMatch => Operator::RegexNotMatch,
        BinaryOperator::PGRegexNotIMatch => Operator::RegexNotIMatch,
        BinaryOperator::PGLikeMatch => Operator::LikeMatch,
        BinaryOperator::PGILikeMatch => Operator::ILikeMatch,
        BinaryOperator::PGNotLikeMatch => Operator::NotLikeMatch,
        BinaryOperator::PGNotILikeMatch => Operator::NotILikeMatch,
        _ => return None,
    })
}

impl ExprPlanner for IntegerPlanner {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let RawBinaryExpr { op, left, right } = raw;
        if matches!(op, BinaryOperator::BitwiseXor | BinaryOperator::PGExp) {
            let power = match (Typed::new(&left, schema), Typed::new(&right, schema)) {
                (Some(left), Some(right)) => super::binary::arithmetic(Operation::Power, left, right)?,
                _ => super::binary::compute(Operation::Power, left, right),
            };
            return Ok(PlannerResult::Planned(power));
        }
        let Some(operator) = operator(&op) else {
            return Ok(PlannerResult::Original(RawBinaryExpr { op, left, right }));
        };
        Ok(match combine(left, operator, right, schema)? {
            Combined::New(expr) => PlannerResult::Planned(expr),
            Combined::Native(left, right) => PlannerResult::Original(RawBinaryExpr { op, left, right }),
        })
    }

    fn plan_array_literal(&self, items: Vec<Expr>, schema: &DFSchema) -> Result<PlannerResult<Vec<Expr>>> {
        let typed: Option<Vec<Typed>> = items.iter().map(|item| Typed::new(item, schema)).collect();
        match typed {
            Some(typed) if typed.iter().any(Typed::is_wide) => {
                let wide: Result<Vec<Expr>> = typed.into_iter().map(into_wide).collect();
                Ok(PlannerResult::Planned(make_array(wide?)))
            }
            _ => Ok(PlannerResult::Original(items)),
        }
    }
}
