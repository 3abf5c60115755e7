//! Putting exact integers into a session.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use super::aggregate::{self, Aggregate, exact};
use super::functions::adapted::adapt;
use super::functions::operation::Operation;
use super::functions::{arithmetic, conversion, unary, units};
use super::typing::planner::IntegerPlanner;
use super::typing::plans::{IntegerCasts, IntegerTyping};

/// Adds exact integers to a session: functions, aggregates, planner hook and analyzer rules.
///
/// To be called last, after the default features and any other functions, since it stands before functions that it finds.
pub fn install(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.expr_planners().get_or_insert_default().insert(0, IntegerPlanner::shared());
    let scalars = builder.scalar_functions().get_or_insert_default();
    for function in scalars.iter_mut() {
        if let Some(adapted) = adapt(function) {
            *function = adapted;
        }
    }
    scalars.extend(scalar_functions());
    let aggregates = builder.aggregate_functions().get_or_insert_default();
    for function in aggregates.iter_mut() {
        if let Some(adapted) = aggregate::adapt(function) {
            *function = adapted;
        }
    }
    let exact = exact_aggregates(aggregates);
    aggregates.extend(exact);
    let analyzer = builder.analyzer().get_or_insert_default();
    let coercion = analyzer.rules.iter().position(|rule| rule.name() == "type_coercion");
    let before = coercion.unwrap_or(analyzer.rules.len());
    analyzer.rules.insert(before, Arc::new(IntegerTyping));
    let after = coercion.map_or(analyzer.rules.len(), |place| place + 2);
    analyzer.rules.insert(after, Arc::new(IntegerCasts));
    builder
}

fn scalar_functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    Operation::ALL
        .into_iter()
        .map(arithmetic::function)
        .chain(conversion::functions())
        .chain(unary::functions())
        .chain(units::functions())
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
