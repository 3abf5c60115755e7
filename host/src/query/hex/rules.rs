//! Bytes and text in whole plans: before DataFusion's type coercion, and after it.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{Case, InList, InSubquery, Like};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, TryCast,
};
use datafusion::optimizer::AnalyzerRule;

use super::compare::{align, as_lower, as_text, bytes_type, is_text_expr, literal_as, replace};
use super::functions::unhex;
use super::literal::{is_bytes, is_text, literal};

/// Settles IN, BETWEEN, CASE, LIKE, joins, subqueries and casts that the author wrote.
#[derive(Debug)]
pub struct BeforeCoercion;

/// Makes the text of bytes what it is everywhere else: casts to text that coercion added become hex.
#[derive(Debug)]
pub struct AfterCoercion;

impl AnalyzerRule for BeforeCoercion {
    fn name(&self) -> &str {
        "hex_before_coercion"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(|plan| each(plan, settle))?.data)
    }
}

impl AnalyzerRule for AfterCoercion {
    fn name(&self) -> &str {
        "hex_after_coercion"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(|plan| each(plan, cast_as_hex))?.data)
    }
}

fn each(
    plan: LogicalPlan,
    rewrite: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = &plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let rewritten = expr.transform_up(|expr| rewrite(expr, &schema))?;
        Ok(if rewritten.transformed { rewritten.update_data(|expr| name.restore(expr)) } else { rewritten })
    })?;
    let plan = plan.transform_data(|plan| align_join(plan, &schema))?;
    if plan.transformed { plan.map_data(LogicalPlan::recompute_schema) } else { Ok(plan) }
}

/// Sides of `JOIN … USING`, which are no expression of their own.
fn align_join(plan: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(mut join) = plan else { return Ok(Transformed::no(plan)) };
    let mut changed = false;
    for (left, right) in &mut join.on {
        changed |= align(left, right, schema)?;
    }
    Ok(Transformed::new_transformed(LogicalPlan::Join(join), changed))
}

fn settle(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { mut left, op, mut right }) if compares(op) => {
            let changed = align(&mut left, &mut right, schema)?;
            Ok(Transformed::new_transformed(Expr::BinaryExpr(BinaryExpr { left, op, right }), changed))
        }
        Expr::Between(mut between) => {
            let mut changed = false;
            if let Some(ty) = bytes_type(&between.expr, schema) {
                for side in [&mut between.low, &mut between.high] {
                    if let Some(typed) = literal_as(side, &ty)? {
                        **side = typed;
                        changed = true;
                    }
                }
                if is_text_expr(&between.low, schema) || is_text_expr(&between.high, schema) {
                    for side in [&mut between.expr, &mut between.low, &mut between.high] {
                        as_comparable_text(side, schema);
                    }
                    changed = true;
                }
            }
            Ok(Transformed::new_transformed(Expr::Between(between), changed))
        }
        Expr::InList(list) => in_list(list, schema),
        Expr::InSubquery(query) => in_subquery(query, schema),
        Expr::Case(case) => cases(case, schema),
        Expr::Like(like) => likes(like, schema, Expr::Like),
        Expr::SimilarTo(like) => likes(like, schema, Expr::SimilarTo),
        Expr::Cast(Cast { expr, field }) => match written_cast(*expr, field.data_type(), schema)? {
            Ok(made) => Ok(Transformed::yes(made)),
            Err(expr) => Ok(Transformed::no(Expr::Cast(Cast { expr: Box::new(expr), field }))),
        },
        other => Ok(Transformed::no(other)),
    }
}

fn compares(op: Operator) -> bool {
    matches!(
        op,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
    )
}

/// Bytes become their hex, text its lower case.
fn as_comparable_text(expr: &mut Expr, schema: &DFSchema) {
    if bytes_type(expr, schema).is_some() {
        replace(expr, as_text);
    } else if is_text_expr(expr, schema) {
        replace(expr, as_lower);
    }
}

fn in_list(mut list: InList, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut changed = false;
    if let Some(ty) = bytes_type(&list.expr, schema) {
        for item in &mut list.list {
            if let Some(typed) = literal_as(item, &ty)? {
                *item = typed;
                changed = true;
            }
        }
    } else if let Some(ty) = list.list.iter().find_map(|item| bytes_type(item, schema))
        && let Some(typed) = literal_as(&list.expr, &ty)?
    {
        *list.expr = typed;
        changed = true;
    }
    let sides = || std::iter::once(list.expr.as_ref()).chain(&list.list);
    if sides().any(|side| bytes_type(side, schema).is_some()) && sides().any(|side| is_text_expr(side, schema)) {
        as_comparable_text(&mut list.expr, schema);
        list.list.iter_mut().for_each(|item| as_comparable_text(item, schema));
        changed = true;
    }
    Ok(Transformed::new_transformed(Expr::InList(list), changed))
}

fn in_subquery(mut query: InSubquery, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let found = query.subquery.subquery.schema().fields().first().map(|field| field.data_type().clone());
    let Some(found) = found else { return Ok(Transformed::no(Expr::InSubquery(query))) };
    let is = bytes_type(&query.expr, schema);
    if is_bytes(&found)
        && let Some(typed) = literal_as(&query.expr, &found)?
    {
        *query.expr = typed;
        return Ok(Transformed::yes(Expr::InSubquery(query)));
    }
    let make: fn(Expr) -> Expr = match is {
        Some(_) if is_text(&found) => as_lower,
        None if is_bytes(&found) && is_text_expr(&query.expr, schema) => as_text,
        _ => return Ok(Transformed::no(Expr::InSubquery(query))),
    };
    as_comparable_text(&mut query.expr, schema);
    query.subquery = project(query.subquery, make)?;
    Ok(Transformed::yes(Expr::InSubquery(query)))
}

fn project(of: Subquery, make: fn(Expr) -> Expr) -> Result<Subquery> {
    let column = Expr::Column(Column::from(of.subquery.schema().qualified_field(0)));
    let plan = LogicalPlanBuilder::from(Arc::clone(&of.subquery)).project([make(column)])?.build()?;
    Ok(Subquery { subquery: Arc::new(plan), ..of })
}

fn cases(mut case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut changed = false;
    if let Some(base) = &mut case.expr {
        let ty = bytes_type(base, schema);
        for (when, _) in &mut case.when_then_expr {
            if let Some(ty) = &ty
                && let Some(typed) = literal_as(when, ty)?
            {
                **when = typed;
                changed = true;
            }
        }
        let texts = case.when_then_expr.iter().any(|(when, _)| is_text_expr(when, schema));
        if ty.is_some() && texts {
            as_comparable_text(base, schema);
            case.when_then_expr.iter_mut().for_each(|(when, _)| as_comparable_text(when, schema));
            changed = true;
        }
    }
    let results = |case: &Case| -> Vec<Expr> {
        case.when_then_expr.iter().map(|(_, then)| then).chain(&case.else_expr).map(|then| (**then).clone()).collect()
    };
    let Some(ty) = results(&case).iter().find_map(|result| bytes_type(result, schema)) else {
        return Ok(Transformed::new_transformed(Expr::Case(case), changed));
    };
    // Text that is no hex literal makes the whole CASE text; letters keep their case, since nothing is compared.
    let all_hex = results(&case).iter().all(|result| match literal(result) {
        Some(text) => text.starts_with("0x") || text.starts_with("0X"),
        None => !is_text_expr(result, schema),
    });
    let then = case.when_then_expr.iter_mut().map(|(_, then)| then).chain(&mut case.else_expr);
    for result in then {
        if all_hex {
            if let Some(typed) = literal_as(result, &ty)? {
                **result = typed;
                changed = true;
            }
        } else if bytes_type(result, schema).is_some() {
            replace(result, as_text);
            changed = true;
        }
    }
    Ok(Transformed::new_transformed(Expr::Case(case), changed))
}

fn likes(mut like: Like, schema: &DFSchema, wrap: fn(Like) -> Expr) -> Result<Transformed<Expr>> {
    if bytes_type(&like.expr, schema).is_none() {
        return Ok(Transformed::no(wrap(like)));
    }
    replace(&mut like.expr, as_text);
    replace(&mut like.pattern, as_lower);
    Ok(Transformed::yes(wrap(like)))
}

/// A cast that stands in the statement: bytes to text and back are hex.
fn written_cast(expr: Expr, to: &DataType, schema: &DFSchema) -> Result<std::result::Result<Expr, Expr>> {
    if is_text(to) && bytes_type(&expr, schema).is_some() {
        return Ok(Ok(as_text(expr)));
    }
    if matches!(to, DataType::Binary | DataType::BinaryView) {
        if let Some(typed) = literal_as(&expr, &DataType::Binary)? {
            return Ok(Ok(typed));
        }
        if is_text_expr(&expr, schema) {
            return Ok(Ok(unhex().call(vec![expr])));
        }
    }
    Ok(Err(expr))
}

fn cast_as_hex(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let target = match &expr {
        Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field })
            if is_text(field.data_type()) && bytes_type(inner, schema).is_some() =>
        {
            field.data_type().clone()
        }
        _ => return Ok(Transformed::no(expr)),
    };
    match expr {
        Expr::Cast(Cast { expr: inner, .. }) | Expr::TryCast(TryCast { expr: inner, .. }) => {
            as_text(*inner).cast_to(&target, schema).map(Transformed::yes)
        }
        other => Ok(Transformed::no(other)),
    }
}
