//! Putting exact integers into a session.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use super::aggregate::{Aggregate, exact};
use super::functions::operation::Operation;
use super::functions::{arithmetic, conversion, unary};
use super::typing::planner::IntegerPlanner;

/// Adds exact integers to a session: functions, aggregates, planner hook and analyzer rules.
///
/// To be called last, after the default features and any other functions, since it stands before functions that it finds.
pub fn install(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.expr_planners().get_or_insert_default().insert(0, IntegerPlanner::new());
    builder.scalar_functions().get_or_insert_default().extend(scalar_functions());
    let aggregates = builder.aggregate_functions().get_or_insert_default();
    let exact = exact_aggregates(aggregates);
    aggregates.extend(exact);
    builder
}

fn scalar_functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    Operation::ALL.into_iter().map(arithmetic::function).chain(conversion::functions()).chain(unary::functions())
}

fn exact_aggregates(known: &[Arc<AggregateUDF>]) -> Vec<Arc<AggregateUDF>> {
    [(Aggregate::Sum, "sum"), (Aggregate::Average, "avg")]
        .into_iter()
        .filter_map(|(aggregate, name)| {
            let builtin = known.iter().rev().find(|function| function.name() == name)?;
            Some(Arc::new(exact(aggregate, Arc::clone(builtin))))
        })
        .collect()
}
