//! Plans whose columns are brought to the wide type.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Subquery};

use super::{Typed, WIDE, into_wide};

/// A plan over the same rows, its columns converted: `convert` gets each column, and gives none to leave it.
pub(super) fn project(
    plan: LogicalPlan,
    mut convert: impl FnMut(usize, Typed) -> Result<Option<Expr>>,
) -> Result<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let exprs: Result<Vec<Expr>> = schema
        .iter()
        .enumerate()
        .map(|(place, (qualifier, field))| {
            let column = Expr::from((qualifier, field));
            let typed = Typed { expr: column.clone(), ty: field.data_type().clone() };
            Ok(match convert(place, typed)? {
                Some(converted) if converted != column => converted.alias_qualified(qualifier.cloned(), field.name()),
                _ => column,
            })
        })
        .collect();
    Ok(LogicalPlan::Projection(Projection::try_new(exprs?, Arc::new(plan))?))
}

/// A subquery with a wide column.
pub(super) fn widen(subquery: Subquery) -> Result<Subquery> {
    if subquery.subquery.schema().field(0).data_type() == &WIDE {
        return Ok(subquery);
    }
    let Subquery { subquery, outer_ref_columns, spans } = subquery;
    let plan = project(Arc::unwrap_or_clone(subquery), |_, column| into_wide(column).map(Some))?;
    Ok(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans })
}
