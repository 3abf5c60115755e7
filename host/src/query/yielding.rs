//! Plans that let go of their thread, so that a stopped query ends.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::CardinalityEffect;

/// Makes every operator that can turn few rows into many, joins above all, count its batches as the leaves do. A join
/// of small tables reads its leaves once and would then go on for hours without a pause.
#[derive(Debug)]
pub struct YieldWhileGrowing;

impl PhysicalOptimizerRule for YieldWhileGrowing {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let grows = matches!(plan.cardinality_effect(), CardinalityEffect::Unknown);
            Ok(match grows && !plan.children().is_empty() {
                true => Transformed::yes(Arc::new(CooperativeExec::new(plan)) as Arc<dyn ExecutionPlan>),
                false => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "yield_while_growing"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
