//! Bytes in SQL: `address = '0xA0b8…'` in any letter case, for address, bytesN and bytes columns.
//!
//! A literal beside such a column becomes bytes once, while planning, so the comparison stays one of bytes; a literal
//! that does not fit is an error. Text that is only known row by row (a join with a text column, LIKE) is compared with
//! the bytes' lower-case hex instead. DataFusion's planner refuses operators on types that it cannot bring together, so
//! those are settled there ([`planner`]); what it accepts untyped (IN, BETWEEN, CASE, casts) is settled by a rule
//! before its type coercion, and casts that the latter adds by one after it ([`rules`]).

mod compare;
mod functions;
mod literal;
mod planner;
mod rules;

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::optimizer::Analyzer;

/// Adds hex to a session: functions `hex` and `unhex`, the planner's hook and the rules.
pub fn install(mut builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.expr_planners().get_or_insert_default().insert(0, Arc::new(planner::HexPlanner));
    builder.scalar_functions().get_or_insert_default().extend(functions::all());
    let rules = &mut builder.analyzer().get_or_insert_with(Analyzer::new).rules;
    let coercion = rules.iter().position(|rule| rule.name() == "type_coercion").unwrap_or(rules.len());
    rules.insert(coercion, Arc::new(rules::BeforeCoercion));
    rules.push(Arc::new(rules::AfterCoercion));
    builder
}
