//! Functions, rules and settings that all queries share.

use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{GreedyMemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder, SessionStateDefaults};
use datafusion::prelude::SessionConfig;

use super::limits::QueryLimits;
use super::yielding::YieldWhileGrowing;
use super::{bigint, hex};

/// Functions that make a long value of a few bytes: their memory is not counted, so one call could take it all.
const WITHHELD: [&str; 10] = [
    "repeat",
    "lpad",
    "rpad",
    "array_repeat",
    "list_repeat",
    "array_resize",
    "list_resize",
    "range",
    "generate_series",
    "gen_series",
];

/// Rows of a batch inside a plan.
const BATCH_ROWS: usize = 8_192;

/// The state that each query starts from. It knows no table, no file format and no table function.
pub fn template(limits: &QueryLimits, threads: usize) -> Result<SessionState> {
    let config = SessionConfig::new()
        .with_target_partitions(threads)
        .with_batch_size(BATCH_ROWS)
        .with_information_schema(false)
        .with_create_default_catalog_and_schema(false)
        .with_default_catalog_and_schema("nuthatch", super::planner::SCHEMA)
        .set_bool("datafusion.sql_parser.collect_spans", true)
        // Scans are divided where they are planned, in the order that they promise.
        .set_bool("datafusion.optimizer.repartition_file_scans", false)
        .set_bool("datafusion.sql_parser.map_string_types_to_utf8view", false)
        .set_str("datafusion.execution.time_zone", "+00:00");
    let pool = TrackConsumersPool::new(GreedyMemoryPool::new(limits.memory), NonZeroUsize::MIN);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        // Nothing of a query goes to disk: what does not fit the pool is refused.
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled))
        .build_arc()?;
    let scalars = SessionStateDefaults::default_scalar_functions()
        .into_iter()
        .filter(|function| !WITHHELD.contains(&function.name()))
        .collect();
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_expr_planners(SessionStateDefaults::default_expr_planners())
        .with_scalar_functions(scalars)
        .with_aggregate_functions(SessionStateDefaults::default_aggregate_functions())
        .with_window_functions(SessionStateDefaults::default_window_functions())
        .with_physical_optimizer_rule(Arc::new(YieldWhileGrowing));
    Ok(hex::install(bigint::install(builder)).build())
}
