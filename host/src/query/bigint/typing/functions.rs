//! What functions make of integers: which take them as they are, and what the others get instead.

use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::Expr;

use super::super::convert::OnBadValue;
use super::super::functions::conversion::from_integer;
use super::super::functions::nested::type_as_text;
use super::unify::Common;
use super::{Typed, WIDE, into_wide};

/// How a function that knows nothing of integers takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handling {
    /// All arguments get one type.
    Unify,
    /// All arguments but the first get one type.
    UnifyTail,
    /// All arguments are compared with each other.
    Compare,
    /// As decimal text.
    Text,
    /// As doubles.
    Double,
    /// One integer is the result; with more arguments as doubles.
    Whole,
    /// As 64-bit integers, checked.
    Narrow,
    /// Values pass through, whatever they are.
    Pass,
}

const UNIFY: &[&str] = &["coalesce", "greatest", "least", "nvl", "ifnull", "make_array", "make_list"];
const WHOLE: &[&str] = &["ceil", "floor", "round", "trunc"];
const TEXT: &[&str] = &[
    "array_to_string",
    "ascii",
    "find_in_set",
    "instr",
    "bit_length",
    "btrim",
    "char_length",
    "character_length",
    "concat",
    "concat_ws",
    "contains",
    "ends_with",
    "left",
    "length",
    "levenshtein",
    "lower",
    "lpad",
    "ltrim",
    "octet_length",
    "overlay",
    "position",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "regexp_match",
    "regexp_replace",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "split_part",
    "starts_with",
    "strpos",
    "substr",
    "substr_index",
    "substring",
    "translate",
    "trim",
    "upper",
];
const DOUBLE: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "cot", "degrees", "exp",
    "isnan", "ln", "log", "log10", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh",
];
const NARROW: &[&str] = &[
    "chr",
    "date_bin",
    "factorial",
    "from_unixtime",
    "gcd",
    "lcm",
    "make_date",
    "make_time",
    "to_char",
    "to_date",
    "to_timestamp",
    "to_timestamp_micros",
    "to_timestamp_millis",
    "to_timestamp_nanos",
    "to_timestamp_seconds",
    "to_hex",
];
const PASS: &[&str] = &[
    "arrow_typeof",
    "arrow_metadata",
    "cardinality",
    "empty",
    "flatten",
    "get_field",
    "make_map",
    "map",
    "named_struct",
    "row",
    "struct",
    "union_extract",
];
/// Aggregates over numbers that are no integers.
const DOUBLE_AGGREGATES: &[&str] = &[
    "approx_median",
    "approx_percentile_cont",
    "approx_percentile_cont_with_weight",
    "corr",
    "covar_pop",
    "covar_samp",
    "median",
    "percentile_cont",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "var_pop",
    "var",
];

/// How a function by this name takes integers; none where it must not get them.
pub fn handling(name: &str) -> Option<Handling> {
    let has = |names: &[&str]| names.contains(&name);
    Some(match name {
        "nullif" => Handling::Compare,
        "nvl2" => Handling::UnifyTail,
        _ if has(TEXT) => Handling::Text,
        name if name.starts_with("array_") || name.starts_with("list_") || name.starts_with("map_") => Handling::Pass,
        _ if has(UNIFY) => Handling::Unify,
        _ if has(WHOLE) => Handling::Whole,
        _ if has(DOUBLE) => Handling::Double,
        _ if has(NARROW) => Handling::Narrow,
        _ if has(PASS) => Handling::Pass,
        _ => return None,
    })
}

/// How an aggregate by this name takes integers, where not as they are.
pub fn aggregate_handling(name: &str) -> Option<Handling> {
    match name {
        "string_agg" => Some(Handling::Text),
        name if DOUBLE_AGGREGATES.contains(&name) => Some(Handling::Double),
        _ => None,
    }
}

impl Handling {
    /// The types a function is asked about in place of its arguments' own.
    pub fn stand_ins(self, types: &[DataType]) -> Result<Vec<DataType>> {
        let replace =
            |with: DataType| types.iter().map(|ty| if *ty == WIDE { with.clone() } else { ty.clone() }).collect();
        Ok(match self {
            Handling::Text => types.iter().map(type_as_text).collect(),
            Handling::Double | Handling::Whole => replace(DataType::Float64),
            Handling::Narrow => replace(DataType::Int64),
            Handling::Pass => types.to_vec(),
            Handling::Compare => vec![WIDE; types.len()],
            Handling::Unify | Handling::UnifyTail => {
                let free = usize::from(self == Handling::UnifyTail);
                match Common::of(types.iter().skip(free))? {
                    None => types.to_vec(),
                    Some(common) => {
                        let unified = vec![common.data_type(); types.len().saturating_sub(free)];
                        types.iter().take(free).cloned().chain(unified).collect()
                    }
                }
            }
        })
    }

    /// Brings arguments to what the function takes.
    pub(super) fn convert(self, args: Vec<Typed>) -> Result<Vec<Expr>> {
        match self {
            Handling::Text => Ok(args_map(args, Typed::into_text)),
            Handling::Double | Handling::Whole => Ok(cast_wide(args, DataType::Float64)),
            Handling::Narrow => Ok(cast_wide(args, DataType::Int64)),
            Handling::Pass => Ok(args_map(args, |arg| arg.expr)),
            Handling::Compare => args.into_iter().map(into_wide).collect(),
            Handling::Unify | Handling::UnifyTail => {
                let free = usize::from(self == Handling::UnifyTail);
                let Some(common) = Common::of(args.iter().skip(free).map(|arg| &arg.ty))? else {
                    return Ok(args_map(args, |arg| arg.expr));
                };
                let convert =
                    |(place, arg): (usize, Typed)| if place < free { Ok(arg.expr) } else { common.convert(arg) };
                args.into_iter().enumerate().map(convert).collect()
            }
        }
    }
}

fn cast_wide(args: Vec<Typed>, target: DataType) -> Vec<Expr> {
    args_map(
        args,
        |arg| {
            if arg.is_wide() { from_integer(arg.expr, target.clone(), OnBadValue::Fail) } else { arg.expr }
        },
    )
}

fn args_map(args: Vec<Typed>, convert: impl Fn(Typed) -> Expr) -> Vec<Expr> {
    args.into_iter().map(convert).collect()
}

/// Refuses a function that would see an integer's encoding.
pub(super) fn refuse<T>(name: &str) -> Result<T> {
    plan_err!("{name} does not take a 256-bit integer: cast it to bigint, double or varchar first")
}
