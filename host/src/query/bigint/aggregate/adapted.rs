//! Aggregates over doubles and texts, made to accept wide integers while a statement is planned.
//!
//! The typing rule then casts the arguments, so that the aggregate itself never sees an encoded integer.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, Expr, GroupsAccumulator, Operator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs, TypeSignature,
};
use datafusion::scalar::ScalarValue;

use super::super::typing::functions::{Handling, aggregate_handling};

/// An aggregate that takes integers in its own way.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct AdaptedAggregate {
    inner: Arc<AggregateUDF>,
    handling: Handling,
    signature: Signature,
}

/// The adapted form of an aggregate, if it needs one.
pub fn adapt(inner: &Arc<AggregateUDF>) -> Option<Arc<AggregateUDF>> {
    let handling = aggregate_handling(inner.name())?;
    let mut signature = inner.signature().clone();
    signature.type_signature = TypeSignature::UserDefined;
    Some(Arc::new(AggregateUDF::new_from_impl(AdaptedAggregate { inner: Arc::clone(inner), handling, signature })))
}

impl AdaptedAggregate {
    /// What the aggregate would coerce these types to.
    fn inner_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let fields: Vec<FieldRef> = types.iter().map(|ty| Arc::new(Field::new("argument", ty.clone(), true))).collect();
        let coerced = fields_with_udf(&fields, self.inner.as_ref())?;
        Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
    }
}

impl AggregateUDFImpl for AdaptedAggregate {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        // Left as they are: the typing rule converts them before anything is cast.
        if types.contains(&DataType::LargeBinary) {
            return Ok(types.to_vec());
        }
        self.inner_types(types)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        if !fields.iter().any(|field| *field.data_type() == DataType::LargeBinary) {
            return self.inner.return_field(fields);
        }
        let types: Vec<DataType> = fields.iter().map(|field| field.data_type().clone()).collect();
        let types = self.inner_types(&self.handling.stand_ins(&types)?)?;
        let fields: Vec<FieldRef> =
            fields.iter().zip(types).map(|(field, ty)| Arc::new(field.as_ref().clone().with_data_type(ty))).collect();
        self.inner.return_field(&fields)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner.create_sliding_accumulator(args)
    }

    fn with_beneficial_ordering(self: Arc<Self>, beneficial: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let ordered = Arc::clone(self.inner.inner()).with_beneficial_ordering(beneficial)?;
        Ok(ordered.and_then(|inner| {
            let adapted = adapt(&Arc::new(AggregateUDF::new_from_shared_impl(inner)))?;
            Some(Arc::clone(adapted.inner()))
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner.simplify()
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        arg: &Expr,
        op: Operator,
        lit: &Expr,
        arg_is_left: bool,
    ) -> Result<Option<Expr>> {
        self.inner.simplify_expr_op_literal(function, arg, op, lit, arg_is_left)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner.reverse_udf() {
            ReversedUDAF::Reversed(inner) => ReversedUDAF::Reversed(adapt(&inner).unwrap_or(inner)),
            other => other,
        }
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        self.inner.value_from_stats(args)
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
