//! The analyzer rules.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, Union};
use datafusion::optimizer::AnalyzerRule;

use super::casts::replace_cast;
use super::expressions::Expressions;
use super::subquery::project;
use super::unify::Common;
use super::{Typed, into_wide};

/// Types what the planner left untyped. Runs before DataFusion's type coercion.
#[derive(Debug)]
pub struct IntegerTyping;

/// Replaces the casts that type coercion puts around integers: DataFusion's would copy bytes.
#[derive(Debug)]
pub struct IntegerCasts;

/// The columns that a node's expressions can name.
fn input_schema(plan: &LogicalPlan) -> Result<DFSchema> {
    let mut schema = merge_schema(&plan.inputs());
    if let LogicalPlan::TableScan(scan) = plan {
        schema.merge(&DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?);
    }
    Ok(schema)
}

/// Rewrites each expression of a node, keeping its name.
fn rewrite_expressions(
    plan: LogicalPlan,
    mut rewrite: impl FnMut(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let name = names.save(&expr);
        Ok(rewrite(expr)?.update_data(|expr| name.restore(expr)))
    })
}

impl AnalyzerRule for IntegerTyping {
    fn name(&self) -> &str {
        "integer_typing"
    }

    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let typed = plan.transform_up_with_subqueries(|plan| {
            let schema = input_schema(&plan)?;
            rewrite_expressions(plan, |expr| expr.rewrite(&mut Expressions { schema: &schema }))?
                .map_data(|plan| match plan {
                    LogicalPlan::Join(join) => type_join(join),
                    LogicalPlan::Union(union) => type_union(union),
                    other => Ok(other),
                })?
                .map_data(LogicalPlan::recompute_schema)
        })?;
        Ok(typed.data)
    }
}

/// Join keys that are compared by value.
fn type_join(mut join: Join) -> Result<LogicalPlan> {
    let on = std::mem::take(&mut join.on);
    join.on = on
        .into_iter()
        .map(|(left, right)| {
            let (Some(l), Some(r)) = (Typed::new(&left, join.left.schema()), Typed::new(&right, join.right.schema()))
            else {
                return Ok((left, right));
            };
            if l.is_wide() != r.is_wide() { Ok((into_wide(l)?, into_wide(r)?)) } else { Ok((left, right)) }
        })
        .collect::<Result<_>>()?;
    Ok(LogicalPlan::Join(join))
}

/// Arms of a union, each column of one type.
fn type_union(union: Union) -> Result<LogicalPlan> {
    let columns = union.schema.fields().len();
    let commons: Vec<Option<Common>> = (0..columns)
        .map(|place| {
            let types: Vec<DataType> =
                union.inputs.iter().map(|input| input.schema().field(place).data_type().clone()).collect();
            Common::of(&types)
        })
        .collect::<Result<_>>()?;
    if commons.iter().all(Option::is_none) {
        return Ok(LogicalPlan::Union(Union::try_new_with_loose_types(union.inputs)?));
    }
    let inputs: Vec<Arc<LogicalPlan>> = union
        .inputs
        .into_iter()
        .map(|input| {
            let converted = project(Arc::unwrap_or_clone(input), |place, column| {
                commons[place].as_ref().map(|common| common.convert(column)).transpose()
            })?;
            Ok(Arc::new(converted))
        })
        .collect::<Result<_>>()?;
    Ok(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?))
}

impl AnalyzerRule for IntegerCasts {
    fn name(&self) -> &str {
        "integer_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let guarded = plan.transform_up_with_subqueries(|plan| {
            let schema = input_schema(&plan)?;
            rewrite_expressions(plan, |expr| expr.transform_up(|expr| replace_cast(expr, &schema)))?
                .map_data(LogicalPlan::recompute_schema)
        })?;
        Ok(guarded.data)
    }
}
