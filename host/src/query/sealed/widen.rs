//! From columns as they lie in segments to columns as queries see them.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{FieldRef, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{CardinalityEffect, ReplaceChildrenOptions};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use crate::query::bigint::{Signedness, from_storage};

/// Gives each column of its input the type that queries know it by.
#[derive(Debug)]
pub struct Widen {
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    wide: Arc<[Option<Signedness>]>,
    properties: Arc<PlanProperties>,
}

impl Widen {
    /// `schema`: the columns as queries see them; `wide`: which of them are wide integers.
    pub fn new(
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
        wide: Arc<[Option<Signedness>]>,
        equivalence: EquivalenceProperties,
    ) -> Self {
        let properties = Arc::new(input.properties().as_ref().clone().with_eq_properties(equivalence));
        Widen { input, schema, wide, properties }
    }
}

impl Widen {
    fn over(&self, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Arc<dyn ExecutionPlan> {
        let input = children.pop().unwrap_or_else(|| Arc::clone(&self.input));
        let equivalence = self.properties.equivalence_properties().clone();
        Arc::new(Widen::new(input, Arc::clone(&self.schema), Arc::clone(&self.wide), equivalence))
    }
}

impl DisplayAs for Widen {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Widen")
    }
}

impl ExecutionPlan for Widen {
    fn name(&self) -> &str {
        "Widen"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    // It does, and says which order that is; a sort that were pushed below it would make another one.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    // What is divided further loses the order that is promised.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.over(children))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.over(children))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (schema, wide) = (Arc::clone(&self.schema), Arc::clone(&self.wide));
        let rows = self.input.execute(partition, context)?;
        let rows = rows.map(move |batch| widen(&batch?, &schema, &wide));
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        // Counts hold; least and greatest values are of the other type.
        let mut statistics = Statistics::new_unknown(&self.schema);
        if let Some(input) = inputs.first() {
            statistics.num_rows = input.num_rows;
        }
        Ok(Arc::new(statistics))
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}

fn widen(batch: &RecordBatch, schema: &SchemaRef, wide: &[Option<Signedness>]) -> Result<RecordBatch> {
    let widen = |((column, wide), field): ((&ArrayRef, &Option<Signedness>), &FieldRef)| {
        Ok(match (wide, column.as_fixed_size_binary_opt()) {
            (Some(signedness), Some(stored)) => Arc::new(from_storage(stored, *signedness)) as ArrayRef,
            // Times, whose seconds are milliseconds in the file.
            _ if column.data_type() != field.data_type() => cast(column, field.data_type())?,
            _ => Arc::clone(column),
        })
    };
    let columns = batch.columns().iter().zip(wide).zip(schema.fields()).map(widen).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}
