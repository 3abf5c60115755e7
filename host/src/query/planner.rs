//! Names to tables: what a statement can reach.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::view::ViewTable;
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DataFusionError, Result, TableReference};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner};
use datafusion::logical_expr::{AggregateUDF, HigherOrderUDF, LogicalPlan, ScalarUDF, TableSource, WindowUDF};
use datafusion::sql::planner::{NullOrdering, ParserOptions, SqlToRel, object_name_to_table_reference};
use datafusion::sql::sqlparser::ast::{ObjectName, Statement};

use super::bigint;
use super::error::{BadQuery, Flaw};
use super::guard;
use super::information;
use super::limits::QueryLimits;
use super::names::nearest;
use super::provider::{ChunkTable, Sealed};
use super::source::ChunkSource;
use super::status;
use super::tables::{Catalog, STATUS, View};
use crate::model::TableId;
use crate::store::{ChunkMeta, SegmentMeta, Snapshot};

/// Plans statements over one snapshot. Nothing but this snapshot's tables and views has a name in it.
pub struct Planner<'a> {
    state: &'a SessionState,
    pub(super) catalog: &'a Catalog,
    pub(super) snapshot: &'a Snapshot,
    source: &'a Arc<ChunkSource>,
    limits: &'a QueryLimits,
    weights: OnceCell<HashMap<String, u64>>,
}

impl<'a> Planner<'a> {
    /// A planner with these functions and rules, over this snapshot. Views are held to the limits as well.
    pub fn new(
        state: &'a SessionState,
        catalog: &'a Catalog,
        snapshot: &'a Snapshot,
        source: &'a Arc<ChunkSource>,
        limits: &'a QueryLimits,
    ) -> Self {
        Planner { state, catalog, snapshot, source, limits, weights: OnceCell::new() }
    }

    /// The plan of a checked statement.
    pub fn plan(&self, statement: Statement) -> Result<LogicalPlan> {
        Scope { planner: self, views: &self.catalog.views }.plan(statement)
    }

    /// Refuses a statement that comes to too many table reads once its views and CTEs are written out.
    pub fn weigh(&self, statement: &Statement) -> std::result::Result<(), BadQuery> {
        let weight = guard::weight(statement, self.view_weights());
        if weight <= self.limits.reads {
            return Ok(());
        }
        let most = self.limits.reads;
        Err(BadQuery::new(
            Flaw::NotAllowed,
            format!("the statement comes to more than {most} table reads once its views and CTEs are written out"),
        ))
    }

    fn view_weights(&self) -> &HashMap<String, u64> {
        self.weights.get_or_init(|| {
            let mut weights = HashMap::new();
            for view in &self.catalog.views {
                let weight = self.parse_view(view).map_or(1, |statement| guard::weight(&statement, &weights));
                weights.insert(view.name.clone(), weight);
            }
            weights
        })
    }

    /// The plan of a view, for its schema.
    pub fn plan_view(&self, place: usize) -> Result<LogicalPlan> {
        let (before, rest) = self.catalog.views.split_at(place);
        let Some(view) = rest.first() else {
            return Err(DataFusionError::Internal(format!("there is no view number {place}")));
        };
        let broken = |error: DataFusionError| {
            let reason = super::classify::bare_message(&error);
            let message = format!("view '{}' of nest '{}' is broken: {reason}", view.name, self.snapshot.endpoint.nest);
            let bad = BadQuery::new(Flaw::Meaning, message);
            DataFusionError::External(Box::new(
                bad.hint("that is for the nest's author to mend; tables and other views work"),
            ))
        };
        let refused = |bad| broken(DataFusionError::External(Box::new(bad)));
        let statement = self.parse_view(view).map_err(refused)?;
        self.weigh(&statement).map_err(refused)?;
        Scope { planner: self, views: before }.plan(statement).map_err(broken)
    }

    /// Schema and name of the table or view that is meant.
    pub fn resolve(&self, written: &ObjectName) -> Result<(String, String)> {
        let reference = object_name_to_table_reference(written.clone(), true)?;
        let scope = Scope { planner: self, views: &self.catalog.views };
        scope.get_table_source(reference.clone())?;
        Ok((reference.schema().unwrap_or(SCHEMA).to_owned(), reference.table().to_owned()))
    }

    /// Columns of a table or view.
    pub fn schema(&self, table: &str) -> Result<SchemaRef> {
        let scope = Scope { planner: self, views: &self.catalog.views };
        Ok(scope.get_table_source(TableReference::bare(table))?.schema())
    }

    fn parse_view(&self, view: &View) -> std::result::Result<Statement, BadQuery> {
        match guard::check(&guard::tokens(&view.sql, self.limits)?, self.limits)? {
            guard::Request::Run(mut statement @ Statement::Query(_)) => {
                bigint::rewrite_sql(&mut statement);
                Ok(statement)
            }
            _ => Err(BadQuery::new(Flaw::NotAllowed, "a view is one SELECT")),
        }
    }

    fn chunks(&self, id: TableId) -> Vec<ChunkMeta> {
        self.snapshot.chunks.iter().copied().filter(|chunk| chunk.table == id).collect()
    }

    fn segments(&self, id: TableId) -> Vec<SegmentMeta> {
        self.snapshot.segments.iter().filter(|segment| segment.table == id).cloned().collect()
    }

    fn unknown(&self, name: &str) -> BadQuery {
        let bad = BadQuery::new(
            Flaw::NoTable,
            format!("there is no table '{name}' in nest '{}'", self.snapshot.endpoint.name),
        );
        // `SELECT from FROM t` is a statement without columns over a table named `from`.
        if let Some(column) = self.catalog.reserved_column(name) {
            return bad.hint(format!("'{name}' is a reserved word; the column is called {column}"));
        }
        match nearest(name, self.catalog.names()) {
            Some(near) => bad.hint(format!("did you mean {near}?")),
            None => bad.hint("SHOW TABLES lists what there is"),
        }
    }
}

/// The names that one statement or view can use.
struct Scope<'a> {
    planner: &'a Planner<'a>,
    /// Views that it may use: those before it.
    views: &'a [View],
}

impl Scope<'_> {
    fn plan(&self, statement: Statement) -> Result<LogicalPlan> {
        SqlToRel::new_with_options(self, options()).sql_statement_to_plan(statement)
    }

    fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let planner = self.planner;
        if let Some(table) = planner.catalog.table(name) {
            let chunks = planner.chunks(table.id);
            let sealed = Sealed { segments: planner.segments(table.id), files: planner.source.files() };
            let (table, source) = (Arc::clone(table), Arc::clone(planner.source));
            let parts = planner.limits.rows_a_thread;
            return Ok(Some(Arc::new(ChunkTable::new(table, source, chunks, sealed, parts))));
        }
        if name == STATUS {
            return status::table(planner.snapshot).map(Some);
        }
        match self.views.iter().position(|view| view.name == name) {
            Some(place) => Ok(Some(Arc::new(ViewTable::new(planner.plan_view(place)?, None)))),
            None => Ok(None),
        }
    }
}

fn options() -> ParserOptions {
    ParserOptions {
        parse_float_as_decimal: false,
        enable_ident_normalization: true,
        support_varchar_with_length: true,
        enable_options_value_normalization: false,
        collect_spans: true,
        map_string_types_to_utf8view: false,
        default_null_ordering: NullOrdering::NullsMax,
    }
}

/// The schema under which tables and views also go by a two-part name.
pub const SCHEMA: &str = "public";

impl ContextProvider for Scope<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        let own = self.planner.snapshot.endpoint.name.as_str();
        let provider = match (name.catalog(), name.schema()) {
            (Some(catalog), _) if catalog != own => None,
            (_, None | Some(SCHEMA)) => self.table(name.table())?,
            (_, Some(information::SCHEMA)) => information::table(self.planner, name.table())?,
            _ => None,
        };
        match provider {
            Some(provider) => Ok(provider_as_source(provider)),
            None => Err(DataFusionError::External(Box::new(self.planner.unknown(&name.to_string())))),
        }
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.planner.state.expr_planners()
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        self.planner.state.scalar_functions().get(name).cloned()
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.planner.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.planner.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.planner.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.planner.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.planner.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.planner.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.planner.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.planner.state.window_functions().keys().cloned().collect()
    }
}
