//! `sum` and `avg` over integers, exact and without overflow; over other types DataFusion's own.

mod accumulator;
mod adapted;
mod groups;
mod outcome;
mod total;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    Signature, StatisticsArgs, Volatility,
};
use datafusion::scalar::ScalarValue;

pub use accumulator::{DistinctAccumulator, ExactAccumulator};
pub use adapted::adapt;
pub use groups::ExactGroups;
pub use outcome::Outcome;

use accumulator::DISTINCT_ITEM;

/// Which aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// `sum`
    Sum,
    /// `avg`
    Average,
}

/// An exact aggregate over integers, and the built-in one for everything else.
#[derive(Debug)]
pub struct Exact {
    aggregate: Aggregate,
    builtin: Arc<AggregateUDF>,
    signature: Signature,
}

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.aggregate == other.aggregate
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.aggregate.hash(state);
    }
}

/// The exact aggregate that stands before a built-in one.
pub fn exact(aggregate: Aggregate, builtin: Arc<AggregateUDF>) -> AggregateUDF {
    let signature = Signature::user_defined(Volatility::Immutable);
    AggregateUDF::new_from_impl(Exact { aggregate, builtin, signature })
}

impl Exact {
    /// The outcome over a type; none where the built-in aggregate does it.
    fn outcome(&self, input: &DataType) -> Option<Outcome> {
        let integer = input.is_integer() || *input == DataType::LargeBinary;
        match (self.aggregate, integer) {
            (_, false) => None,
            (Aggregate::Sum, true) => Some(Outcome::Sum),
            (Aggregate::Average, true) if *input == DataType::LargeBinary => Some(Outcome::Quotient),
            (Aggregate::Average, true) => Some(Outcome::Ratio),
        }
    }

    fn outcome_of(&self, fields: &[FieldRef]) -> Option<Outcome> {
        fields.first().and_then(|field| self.outcome(field.data_type()))
    }
}

impl AggregateUDFImpl for Exact {
    fn name(&self) -> &str {
        self.builtin.name()
    }

    fn aliases(&self) -> &[String] {
        self.builtin.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [input] = types else {
            return Err(DataFusionError::Plan(format!("{} takes one argument, {} given", self.name(), types.len())));
        };
        match input {
            DataType::LargeBinary | DataType::UInt64 => Ok(types.to_vec()),
            ty if ty.is_integer() => Ok(vec![DataType::Int64]),
            ty => {
                let field = Arc::new(Field::new("value", ty.clone(), true));
                let fields = fields_with_udf(&[field], self.builtin.as_ref())?;
                Ok(fields.iter().map(|field| field.data_type().clone()).collect())
            }
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first().and_then(|input| self.outcome(input)) {
            Some(outcome) => Ok(outcome.data_type()),
            None => self.builtin.return_type(types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match self.outcome_of(args.expr_fields) {
            Some(outcome) if args.is_distinct => Ok(Box::new(DistinctAccumulator::new(outcome))),
            Some(outcome) => Ok(Box::new(ExactAccumulator::new(outcome))),
            None => self.builtin.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        if self.outcome_of(args.input_fields).is_none() {
            return self.builtin.state_fields(args);
        }
        if args.is_distinct {
            let item = Field::new_list_field(DISTINCT_ITEM, true);
            return Ok(vec![Field::new_list(format_state_name(args.name, "distinct"), item, false).into()]);
        }
        Ok(vec![
            Field::new(format_state_name(args.name, "total"), DataType::LargeBinary, true).into(),
            Field::new(format_state_name(args.name, "count"), DataType::UInt64, true).into(),
        ])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        match self.outcome_of(args.expr_fields) {
            Some(_) => !args.is_distinct,
            None => self.builtin.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match self.outcome_of(args.expr_fields) {
            Some(outcome) => Ok(Box::new(ExactGroups::new(outcome))),
            None => self.builtin.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match self.outcome_of(args.expr_fields) {
            Some(_) => self.accumulator(args),
            None => self.builtin.create_sliding_accumulator(args),
        }
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        // Statistics hold sums in the column's own type, where they may have wrapped.
        if *args.return_type == DataType::LargeBinary { None } else { self.builtin.value_from_stats(args) }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.builtin.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.builtin.documentation()
    }
}
