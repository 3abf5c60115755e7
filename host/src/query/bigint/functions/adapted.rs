//! DataFusion's functions, made to accept wide integers while a statement is planned.
//!
//! The typing rule then brings the arguments to what the function takes, so that it never sees an encoded integer.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature,
};

use super::super::typing::functions::{Handling, handling};
use super::nested::holds_integers;

/// A function that takes integers in its own way.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Adapted {
    inner: Arc<ScalarUDF>,
    handling: Handling,
    signature: Signature,
}

/// The adapted form of a function, if it needs one.
pub fn adapt(inner: &Arc<ScalarUDF>) -> Option<Arc<ScalarUDF>> {
    let handling = handling(inner.name()).filter(|handling| *handling != Handling::Pass)?;
    let mut signature = inner.signature().clone();
    signature.type_signature = TypeSignature::UserDefined;
    Some(Arc::new(ScalarUDF::new_from_impl(Adapted { inner: Arc::clone(inner), handling, signature })))
}

impl Adapted {
    /// Whether the typing rule has arguments of these types to convert.
    fn converts<'a>(&self, mut types: impl Iterator<Item = &'a DataType>) -> bool {
        match self.handling {
            Handling::Text => types.any(holds_integers),
            _ => types.any(|ty| *ty == DataType::LargeBinary),
        }
    }

    /// What the function would coerce these types to.
    fn inner_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let fields: Vec<FieldRef> = types.iter().map(|ty| Arc::new(Field::new("argument", ty.clone(), true))).collect();
        let coerced = fields_with_udf(&fields, self.inner.as_ref())?;
        Ok(coerced.iter().map(|field| field.data_type().clone()).collect())
    }
}

impl ScalarUDFImpl for Adapted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        // Left as they are: the typing rule converts them before anything is cast.
        if !self.converts(types.iter()) {
            return self.inner_types(types);
        }
        // Asked all the same, so that a wrong number or kind of arguments is refused.
        let mut asked = self.handling.stand_ins(types)?;
        if self.handling == Handling::UnifyTail
            && let Some(tail) = asked.last().cloned()
        {
            asked.fill(tail);
        }
        self.inner_types(&asked)?;
        Ok(types.to_vec())
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(types)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let updated = Arc::new(self.inner.inner().with_updated_config(config)?);
        adapt(&updated).map(Arc::unwrap_or_clone)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        if !self.converts(args.arg_fields.iter().map(|field| field.data_type())) {
            return self.inner.return_field_from_args(args);
        }
        if let ([only], Handling::Whole) = (args.arg_fields, self.handling) {
            return Ok(Arc::clone(only));
        }
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let types = self.handling.stand_ins(&types)?;
        let types = if types.contains(&DataType::LargeBinary) { types } else { self.inner_types(&types)? };
        let fields: Vec<FieldRef> = args
            .arg_fields
            .iter()
            .zip(types)
            .map(|(field, ty)| Arc::new(field.as_ref().clone().with_data_type(ty)))
            .collect();
        let args = ReturnFieldArgs { arg_fields: &fields, scalar_arguments: args.scalar_arguments };
        self.inner.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.inner.invoke_with_args(args)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.simplify(args, info)
    }

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(args)
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.inner.evaluate_bounds(input)
    }

    fn propagate_constraints(&self, interval: &Interval, inputs: &[&Interval]) -> Result<Option<Vec<Interval>>> {
        self.inner.propagate_constraints(interval, inputs)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.preserves_lex_ordering(inputs)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
