//! Expressions that the planner left untyped.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNodeRewriter};
use datafusion::common::{DFSchema, Result, plan_err};
use datafusion::logical_expr::expr::{
    AggregateFunction, Between, Case, InList, InSubquery, Like, ScalarFunction, SetComparison, WindowFunction,
    WindowFunctionDefinition,
};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Operator, WindowFrame, WindowFrameBound, WindowFrameUnits,
};
use datafusion::scalar::ScalarValue;

use super::super::functions::conversion::{is_conversion, literal};
use super::super::functions::operation::Operation;
use super::super::functions::{arithmetic, is_own, unary};
use super::binary::{Combined, combine, plain};
use super::casts::replace_cast;
use super::functions::{Handling, aggregate_handling, handling, refuse};
use super::subquery::widen;
use super::unify::Common;
use super::{Typed, WIDE, into_wide};

/// Functions that cast to types by their Arrow names, which would show how integers are encoded.
const CASTS: &[&str] = &["arrow_cast", "arrow_try_cast", "cast_to_type", "try_cast_to_type"];

/// Types the expressions of one plan node, from the leaves up.
pub(super) struct Expressions<'a> {
    pub schema: &'a DFSchema,
}

impl TreeNodeRewriter for Expressions<'_> {
    type Node = Expr;

    fn f_up(&mut self, expr: Expr) -> Result<Transformed<Expr>> {
        Ok(match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match combine(*left, op, *right, self.schema)? {
                Combined::New(expr) => Transformed::yes(expr),
                Combined::Native(left, right) => Transformed::no(plain(left, op, right)),
            },
            Expr::ScalarFunction(call) => self.scalar(call)?,
            Expr::Negative(inner) if self.is_wide(&inner) => Transformed::yes(unary::negate(*inner)),
            Expr::Between(between) => self.between(between)?,
            Expr::InList(list) => self.in_list(list)?,
            Expr::InSubquery(inner) => self.in_subquery(inner)?,
            Expr::SetComparison(inner) => self.set_comparison(inner)?,
            Expr::Case(case) => self.case(case)?,
            Expr::Cast(_) | Expr::TryCast(_) => replace_cast(expr, self.schema)?,
            Expr::Like(like) => Transformed::yes(Expr::Like(self.like(like)?)),
            Expr::SimilarTo(like) => Transformed::yes(Expr::SimilarTo(self.like(like)?)),
            Expr::AggregateFunction(call) => Transformed::yes(self.aggregate(call)?),
            Expr::WindowFunction(call) => Transformed::yes(self.window(*call)?),
            other => Transformed::no(other),
        })
    }
}

impl Expressions<'_> {
    fn is_wide(&self, expr: &Expr) -> bool {
        matches!(expr.get_type(self.schema), Ok(DataType::LargeBinary))
    }

    fn typed(&self, expr: Expr) -> Result<Typed> {
        let ty = expr.get_type(self.schema)?;
        Ok(Typed { expr, ty })
    }

    fn typed_all(&self, exprs: Vec<Expr>) -> Result<Vec<Typed>> {
        exprs.into_iter().map(|expr| self.typed(expr)).collect()
    }

    fn scalar(&self, call: ScalarFunction) -> Result<Transformed<Expr>> {
        let ScalarFunction { func, args } = call;
        let rebuild = |args| Expr::ScalarFunction(ScalarFunction::new_udf(func.clone(), args));
        if let Some(operation) = arithmetic::operation_of(&func) {
            return self.arithmetic(operation, args, rebuild);
        }
        if unary::is_negate(&func) {
            let [arg] = <[Expr; 1]>::try_from(args).or_else(|_| plan_err!("- takes one operand"))?;
            let ty = arg.get_type(self.schema)?;
            return Ok(if ty.is_integer() || matches!(ty, DataType::LargeBinary | DataType::Null) {
                Transformed::no(rebuild(vec![arg]))
            } else {
                Transformed::yes(Expr::Negative(Box::new(arg)))
            });
        }
        if is_conversion(&func) {
            let expr = rebuild(args);
            // Long literals become literals, so that comparisons with them stay plain.
            return Ok(match literal(&expr) {
                Some(value) => Transformed::yes(Expr::Literal(value, None)),
                None => Transformed::no(expr),
            });
        }
        if is_own(&func) {
            return Ok(Transformed::no(rebuild(args)));
        }
        let args = self.typed_all(args)?;
        let name = func.name();
        if CASTS.contains(&name) {
            let wide = args.iter().any(Typed::holds_wide);
            let expr = self.typed(rebuild(args.into_iter().map(|arg| arg.expr).collect()))?;
            return if wide || expr.holds_wide() { refuse(name) } else { Ok(Transformed::no(expr.expr)) };
        }
        if !args.iter().any(Typed::holds_wide) {
            return Ok(Transformed::no(rebuild(args.into_iter().map(|arg| arg.expr).collect())));
        }
        match handling(name) {
            Some(Handling::Whole) if args.len() == 1 => {
                Ok(Transformed::yes(args.into_iter().next().map_or_else(|| rebuild(Vec::new()), |arg| arg.expr)))
            }
            Some(handling) => Ok(Transformed::yes(rebuild(handling.convert(args)?))),
            None => refuse(name),
        }
    }

    fn arithmetic(
        &self,
        operation: Operation,
        args: Vec<Expr>,
        rebuild: impl Fn(Vec<Expr>) -> Expr,
    ) -> Result<Transformed<Expr>> {
        let args = self.typed_all(args)?;
        let [left, right] = <[Typed; 2]>::try_from(args)
            .or_else(|args| plan_err!("{} takes two arguments, {} given", operation.function(), args.len()))?;
        if left.is_wide() || right.is_wide() {
            return Ok(Transformed::yes(super::binary::arithmetic(operation, left, right)?));
        }
        let integral = |ty: &DataType| ty.is_integer() || ty.is_null();
        match operation.operator() {
            // Planned over integers, but a side turned out to be none.
            Some(operator) if !integral(&left.ty) || !integral(&right.ty) => {
                Ok(Transformed::yes(plain(left.expr, operator, right.expr)))
            }
            _ => Ok(Transformed::no(rebuild(vec![left.expr, right.expr]))),
        }
    }

    fn between(&self, between: Between) -> Result<Transformed<Expr>> {
        let Between { expr, negated, low, high } = between;
        if ![&expr, &low, &high].into_iter().any(|side| self.is_wide(side)) {
            return Ok(Transformed::no(Expr::Between(Between { expr, negated, low, high })));
        }
        let compare = |left: Expr, op: Operator, right: Expr| -> Result<Expr> {
            Ok(match combine(left, op, right, self.schema)? {
                Combined::New(expr) => expr,
                Combined::Native(left, right) => plain(left, op, right),
            })
        };
        let (above, below, join) = match negated {
            false => (Operator::GtEq, Operator::LtEq, Operator::And),
            true => (Operator::Lt, Operator::Gt, Operator::Or),
        };
        let low = compare(expr.as_ref().clone(), above, *low)?;
        let high = compare(*expr, below, *high)?;
        Ok(Transformed::yes(plain(low, join, high)))
    }

    fn in_list(&self, list: InList) -> Result<Transformed<Expr>> {
        let InList { expr, list, negated } = list;
        if !self.is_wide(&expr) && !list.iter().any(|item| self.is_wide(item)) {
            return Ok(Transformed::no(Expr::InList(InList { expr, list, negated })));
        }
        let expr = Box::new(into_wide(self.typed(*expr)?)?);
        let list: Result<Vec<Expr>> = list.into_iter().map(|item| into_wide(self.typed(item)?)).collect();
        Ok(Transformed::yes(Expr::InList(InList { expr, list: list?, negated })))
    }

    fn in_subquery(&self, inner: InSubquery) -> Result<Transformed<Expr>> {
        let InSubquery { expr, subquery, negated } = inner;
        let wide = subquery.subquery.schema().field(0).data_type() == &WIDE;
        if !wide && !self.is_wide(&expr) {
            return Ok(Transformed::no(Expr::InSubquery(InSubquery { expr, subquery, negated })));
        }
        let expr = Box::new(into_wide(self.typed(*expr)?)?);
        Ok(Transformed::yes(Expr::InSubquery(InSubquery { expr, subquery: widen(subquery)?, negated })))
    }

    fn set_comparison(&self, inner: SetComparison) -> Result<Transformed<Expr>> {
        let wide = inner.subquery.subquery.schema().field(0).data_type() == &WIDE;
        if !wide && !self.is_wide(&inner.expr) {
            return Ok(Transformed::no(Expr::SetComparison(inner)));
        }
        let expr = Box::new(into_wide(self.typed(*inner.expr)?)?);
        let subquery = widen(inner.subquery)?;
        Ok(Transformed::yes(Expr::SetComparison(SetComparison { expr, subquery, ..inner })))
    }

    fn case(&self, case: Case) -> Result<Transformed<Expr>> {
        let Case { mut expr, when_then_expr, mut else_expr } = case;
        let (mut whens, mut thens): (Vec<Expr>, Vec<Expr>) =
            when_then_expr.into_iter().map(|(when, then)| (*when, *then)).unzip();
        if let Some(subject) = expr.take() {
            if self.is_wide(&subject) || whens.iter().any(|when| self.is_wide(when)) {
                let wide: Result<Vec<Expr>> = whens.into_iter().map(|when| into_wide(self.typed(when)?)).collect();
                whens = wide?;
                expr = Some(Box::new(into_wide(self.typed(*subject)?)?));
            } else {
                expr = Some(subject);
            }
        }
        let mut results = self.typed_all(thens.drain(..).chain(else_expr.take().map(|last| *last)).collect())?;
        let common = Common::of(results.iter().map(|result| &result.ty))?;
        let has_else = results.len() > whens.len();
        let last = if has_else { results.pop() } else { None };
        let convert = |result: Typed| match &common {
            Some(common) => common.convert(result),
            None => Ok(result.expr),
        };
        let when_then: Result<Vec<_>> =
            whens.into_iter().zip(results).map(|(when, then)| Ok((Box::new(when), Box::new(convert(then)?)))).collect();
        let last = last.map(convert).transpose()?.map(Box::new);
        Ok(Transformed::yes(Expr::Case(Case::new(expr, when_then?, last))))
    }

    fn like(&self, like: Like) -> Result<Like> {
        let text = |side: Box<Expr>| -> Result<Box<Expr>> { Ok(Box::new(self.typed(*side)?.into_text())) };
        Ok(Like { expr: text(like.expr)?, pattern: text(like.pattern)?, ..like })
    }

    fn aggregate(&self, mut call: AggregateFunction) -> Result<Expr> {
        if let Some(handling) = aggregate_handling(call.func.name()) {
            call.params.args = handling.convert(self.typed_all(call.params.args)?)?;
            if handling == Handling::Double {
                // WITHIN GROUP repeats the argument here; doubles are in the order of their integers.
                for sort in &mut call.params.order_by {
                    sort.expr = self.typed(sort.expr.clone())?.into_double();
                }
            }
        }
        Ok(Expr::AggregateFunction(call))
    }

    fn window(&self, mut call: WindowFunction) -> Result<Expr> {
        match &call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => {
                if let Some(handling) = aggregate_handling(function.name()) {
                    call.params.args = handling.convert(self.typed_all(call.params.args)?)?;
                }
            }
            WindowFunctionDefinition::WindowUDF(function) => {
                if matches!(function.name(), "lag" | "lead") {
                    call.params.args = self.shift_arguments(call.params.args)?;
                }
            }
        }
        if let Some(first) = call.params.order_by.first()
            && self.is_wide(&first.expr)
        {
            call.params.window_frame = peers(call.params.window_frame)?;
        }
        Ok(Expr::WindowFunction(Box::new(call)))
    }

    /// The default of `lag` and `lead` in the type of the value.
    fn shift_arguments(&self, args: Vec<Expr>) -> Result<Vec<Expr>> {
        let mut args = self.typed_all(args)?;
        let default = if args.len() == 3 { args.pop() } else { None };
        let wide = args.first().is_some_and(Typed::is_wide);
        let mut exprs: Vec<Expr> = args.into_iter().map(|arg| arg.expr).collect();
        if let Some(default) = default {
            if !wide && default.is_wide() {
                return plan_err!(
                    "the default of lag and lead must have the type of the value: widen it with int256(x)"
                );
            }
            exprs.push(if wide { into_wide(default)? } else { default.expr });
        }
        Ok(exprs)
    }
}

/// A frame by value, over a wide key, as a frame by groups of peers: the same rows, without arithmetic on keys.
fn peers(frame: WindowFrame) -> Result<WindowFrame> {
    if frame.units != WindowFrameUnits::Range {
        return Ok(frame);
    }
    let bound = |bound: WindowFrameBound| match bound {
        WindowFrameBound::CurrentRow => Ok(WindowFrameBound::CurrentRow),
        WindowFrameBound::Preceding(offset) if offset.is_null() => {
            Ok(WindowFrameBound::Preceding(ScalarValue::UInt64(None)))
        }
        WindowFrameBound::Following(offset) if offset.is_null() => {
            Ok(WindowFrameBound::Following(ScalarValue::UInt64(None)))
        }
        _ => plan_err!("RANGE with an offset does not take a 256-bit integer in ORDER BY: use ROWS or GROUPS"),
    };
    Ok(WindowFrame::new_bounds(WindowFrameUnits::Groups, bound(frame.start_bound)?, bound(frame.end_bound)?))
}
