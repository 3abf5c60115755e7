//! Binary operations on integers: what types they take and give, and how a column of them is computed.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Datum, Int64Array, LargeBinaryArray, LargeBinaryBuilder, PrimitiveArray, Scalar,
    UInt64Array,
};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Float64Type, Int64Type, UInt64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{ColumnarValue, Operator};

use super::super::codec;
use super::super::error::{IntegerError, type_name};
use super::super::value::Wide;

/// An operation with two integer sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, truncated toward zero.
    Divide,
    /// `%`, with the sign of the left side.
    Remainder,
    /// `&`
    And,
    /// `|`
    Or,
    /// `#`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`, rounded down.
    ShiftRight,
    /// `^` and `power`
    Power,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 11] = [
        Operation::Add,
        Operation::Subtract,
        Operation::Multiply,
        Operation::Divide,
        Operation::Remainder,
        Operation::And,
        Operation::Or,
        Operation::Xor,
        Operation::ShiftLeft,
        Operation::ShiftRight,
        Operation::Power,
    ];

    /// The operation of an operator, if it has one.
    pub fn of(operator: Operator) -> Option<Self> {
        Some(match operator {
            Operator::Plus => Operation::Add,
            Operator::Minus => Operation::Subtract,
            Operator::Multiply => Operation::Multiply,
            Operator::Divide => Operation::Divide,
            Operator::Modulo => Operation::Remainder,
            Operator::BitwiseAnd => Operation::And,
            Operator::BitwiseOr => Operation::Or,
            Operator::BitwiseXor => Operation::Xor,
            Operator::BitwiseShiftLeft => Operation::ShiftLeft,
            Operator::BitwiseShiftRight => Operation::ShiftRight,
            _ => return None,
        })
    }

    /// The operator DataFusion has for it, if it has one.
    pub fn operator(self) -> Option<Operator> {
        Some(match self {
            Operation::Add => Operator::Plus,
            Operation::Subtract => Operator::Minus,
            Operation::Multiply => Operator::Multiply,
            Operation::Divide => Operator::Divide,
            Operation::Remainder => Operator::Modulo,
            Operation::And => Operator::BitwiseAnd,
            Operation::Or => Operator::BitwiseOr,
            Operation::Xor => Operator::BitwiseXor,
            Operation::ShiftLeft => Operator::BitwiseShiftLeft,
            Operation::ShiftRight => Operator::BitwiseShiftRight,
            Operation::Power => return None,
        })
    }

    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Operation::Add => "+",
            Operation::Subtract => "-",
            Operation::Multiply => "*",
            Operation::Divide => "/",
            Operation::Remainder => "%",
            Operation::And => "&",
            Operation::Or => "|",
            Operation::Xor => "#",
            Operation::ShiftLeft => "<<",
            Operation::ShiftRight => ">>",
            Operation::Power => "^",
        }
    }

    /// The name of its function.
    pub fn function(self) -> &'static str {
        match self {
            Operation::Add => "integer_add",
            Operation::Subtract => "integer_subtract",
            Operation::Multiply => "integer_multiply",
            Operation::Divide => "integer_divide",
            Operation::Remainder => "integer_remainder",
            Operation::And => "integer_and",
            Operation::Or => "integer_or",
            Operation::Xor => "integer_xor",
            Operation::ShiftLeft => "integer_shift_left",
            Operation::ShiftRight => "integer_shift_right",
            Operation::Power => "power",
        }
    }

    /// Whether 64-bit columns are computed here too, because DataFusion's own operator would wrap.
    pub fn checks_narrow(self) -> bool {
        use Operation::{Add, Divide, Multiply, Power, Remainder, Subtract};
        matches!(self, Add | Subtract | Multiply | Divide | Remainder | Power)
    }

    fn apply(self, left: &Wide, right: &Wide) -> Result<Wide, IntegerError> {
        match self {
            Operation::Add => Ok(left.add(right)),
            Operation::Subtract => Ok(left.sub(right)),
            Operation::Multiply => Ok(left.mul(right)),
            Operation::Divide => left.div(right),
            Operation::Remainder => left.rem(right),
            Operation::And => Ok(left.and(right)),
            Operation::Or => Ok(left.or(right)),
            Operation::Xor => Ok(left.xor(right)),
            Operation::ShiftLeft => left.shl(right),
            Operation::ShiftRight => left.shr(right),
            Operation::Power => left.pow(right),
        }
    }
}

/// The types an operation computes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// What the left side is brought to.
    pub left: DataType,
    /// What the right side is brought to.
    pub right: DataType,
    /// What comes out.
    pub result: DataType,
}

fn is_unsigned(ty: &DataType) -> bool {
    matches!(ty, DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64)
}

/// The types of an operation on integers; none where a side is no integer.
///
/// A wide side makes the result wide. Else unsigned 64-bit stays unsigned as long as both sides are, except that a
/// difference is signed; everything else is computed as signed 64-bit.
pub fn integer_typing(operation: Operation, left: &DataType, right: &DataType) -> Option<Typing> {
    let integral = |ty: &DataType| ty.is_integer() || matches!(ty, DataType::LargeBinary | DataType::Null);
    if !integral(left) || !integral(right) {
        return None;
    }
    let lane = |ty: &DataType, other: &DataType| match ty {
        DataType::LargeBinary | DataType::UInt64 => ty.clone(),
        DataType::Null if *other == DataType::LargeBinary => DataType::LargeBinary,
        ty if *other == DataType::UInt64 && (is_unsigned(ty) || ty.is_null()) => DataType::UInt64,
        _ => DataType::Int64,
    };
    let (left, right) = (lane(left, right), lane(right, left));
    let wide = operation == Operation::Power || left == DataType::LargeBinary || right == DataType::LargeBinary;
    let result = match (&left, &right) {
        _ if wide => DataType::LargeBinary,
        (DataType::UInt64, DataType::UInt64) if operation != Operation::Subtract => DataType::UInt64,
        _ => DataType::Int64,
    };
    Some(Typing { left, right, result })
}

/// One side of an operation.
enum Side<'a> {
    Constant(Option<Wide>),
    Signed(&'a Int64Array),
    Unsigned(&'a UInt64Array),
    Wide(&'a LargeBinaryArray),
}

impl<'a> Side<'a> {
    fn new(array: &'a ArrayRef, constant: bool) -> Result<Self> {
        let side = match array.data_type() {
            DataType::Int64 => Side::Signed(array.as_primitive()),
            DataType::UInt64 => Side::Unsigned(array.as_primitive()),
            DataType::LargeBinary => Side::Wide(array.as_binary()),
            other => return Err(IntegerError::NoConversion { found: type_name(other) }.into()),
        };
        Ok(if constant { Side::Constant(side.value(0)?) } else { side })
    }

    fn value(&self, row: usize) -> Result<Option<Wide>, IntegerError> {
        Ok(match self {
            Side::Constant(value) => value.clone(),
            Side::Signed(array) => array.is_valid(row).then(|| Wide::from(array.value(row))),
            Side::Unsigned(array) => array.is_valid(row).then(|| Wide::from(array.value(row))),
            Side::Wide(array) if array.is_valid(row) => Some(codec::decode(array.value(row))?),
            Side::Wide(_) => None,
        })
    }
}

fn rows(
    operation: Operation,
    left: &Side,
    right: &Side,
    count: usize,
) -> impl Iterator<Item = Result<Option<Row>, IntegerError>> {
    (0..count).map(move |row| {
        let (Some(left), Some(right)) = (left.value(row)?, right.value(row)?) else {
            return Ok(None);
        };
        let result = operation.apply(&left, &right)?;
        Ok(Some(Row { left, right, result }))
    })
}

struct Row {
    left: Wide,
    right: Wide,
    result: Wide,
}

fn collect_wide(operation: Operation, left: &Side, right: &Side, count: usize) -> Result<ArrayRef, IntegerError> {
    let mut builder = LargeBinaryBuilder::with_capacity(count, count * 12);
    let mut scratch = Vec::with_capacity(34);
    for row in rows(operation, left, right, count) {
        match row? {
            Some(row) => {
                scratch.clear();
                codec::encode(&row.result, &mut scratch)?;
                builder.append_value(&scratch);
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

fn collect_narrow<T: ArrowPrimitiveType>(
    operation: Operation,
    left: &Side,
    right: &Side,
    count: usize,
) -> Result<ArrayRef, IntegerError>
where
    T::Native: TryFrom<i128>,
{
    let narrow = |row: Row| {
        row.result.to_i128().and_then(|value| T::Native::try_from(value).ok()).ok_or_else(|| IntegerError::Overflow {
            left: row.left.to_string(),
            operator: operation.symbol(),
            right: row.right.to_string(),
            target: type_name(&T::DATA_TYPE),
        })
    };
    let values: Result<PrimitiveArray<T>, IntegerError> =
        rows(operation, left, right, count).map(|row| row?.map(narrow).transpose()).collect();
    Ok(Arc::new(values?))
}

/// Arrow's checked kernels, where both sides have the result's type.
fn vectorised(operation: Operation, left: &dyn Datum, right: &dyn Datum) -> Option<ArrayRef> {
    let outcome = match operation {
        Operation::Add => numeric::add(left, right),
        Operation::Subtract => numeric::sub(left, right),
        Operation::Multiply => numeric::mul(left, right),
        Operation::Divide => numeric::div(left, right),
        Operation::Remainder => numeric::rem(left, right),
        _ => return None,
    };
    outcome.ok()
}

fn sides(left: &ColumnarValue, right: &ColumnarValue) -> Result<((ArrayRef, bool), (ArrayRef, bool))> {
    let side = |value: &ColumnarValue| -> Result<(ArrayRef, bool)> {
        Ok(match value {
            ColumnarValue::Array(array) => (Arc::clone(array), false),
            ColumnarValue::Scalar(scalar) => (scalar.to_array()?, true),
        })
    };
    Ok((side(left)?, side(right)?))
}

fn datum(array: &ArrayRef, constant: bool) -> Box<dyn Datum> {
    if constant { Box::new(Scalar::new(Arc::clone(array))) } else { Box::new(Arc::clone(array)) }
}

/// Computes an operation on integers whose sides already have the types of [`integer_typing`].
pub fn evaluate(
    operation: Operation,
    result: &DataType,
    left: &ColumnarValue,
    right: &ColumnarValue,
    row_count: usize,
) -> Result<ColumnarValue> {
    let ((left, left_constant), (right, right_constant)) = sides(left, right)?;
    let both_constant = left_constant && right_constant;
    let count = if both_constant { 1 } else { row_count };
    let same_lane = left.data_type() == result && right.data_type() == result && *result != DataType::LargeBinary;
    let fast = if same_lane {
        vectorised(operation, &*datum(&left, left_constant), &*datum(&right, right_constant))
    } else {
        None
    };
    let array = match fast {
        Some(array) => array,
        // Also where a kernel failed: computed again to name the values.
        None => {
            let (left, right) = (Side::new(&left, left_constant)?, Side::new(&right, right_constant)?);
            match result {
                DataType::LargeBinary => collect_wide(operation, &left, &right, count)?,
                DataType::Int64 => collect_narrow::<Int64Type>(operation, &left, &right, count)?,
                DataType::UInt64 => collect_narrow::<UInt64Type>(operation, &left, &right, count)?,
                other => return Err(IntegerError::NoConversion { found: type_name(other) }.into()),
            }
        }
    };
    finish(array, both_constant)
}

/// Computes an operation that has no integer side, as DataFusion would.
pub fn evaluate_native(operation: Operation, left: &ColumnarValue, right: &ColumnarValue) -> Result<ColumnarValue> {
    let ((left, left_constant), (right, right_constant)) = sides(left, right)?;
    let (left, right) = (datum(&left, left_constant), datum(&right, right_constant));
    let array = match operation {
        Operation::Add => numeric::add_wrapping(&*left, &*right)?,
        Operation::Subtract => numeric::sub_wrapping(&*left, &*right)?,
        Operation::Multiply => numeric::mul_wrapping(&*left, &*right)?,
        Operation::Divide => numeric::div(&*left, &*right)?,
        Operation::Remainder => numeric::rem(&*left, &*right)?,
        other => return Err(DataFusionError::Plan(format!("{} needs integers on both sides", other.symbol()))),
    };
    finish(array, left_constant && right_constant)
}

fn finish(array: ArrayRef, constant: bool) -> Result<ColumnarValue> {
    Ok(if constant {
        ColumnarValue::Scalar(datafusion::scalar::ScalarValue::try_from_array(&array, 0)?)
    } else {
        ColumnarValue::Array(array)
    })
}

/// Computes a power of doubles.
pub fn evaluate_power(left: &ColumnarValue, right: &ColumnarValue, row_count: usize) -> Result<ColumnarValue> {
    let both_constant = matches!((left, right), (ColumnarValue::Scalar(_), ColumnarValue::Scalar(_)));
    let count = if both_constant { 1 } else { row_count };
    let (left, right) = (left.to_array(count)?, right.to_array(count)?);
    let (left, right) = (left.as_primitive::<Float64Type>(), right.as_primitive::<Float64Type>());
    let powers = arrow::compute::binary::<_, _, _, Float64Type>(left, right, f64::powf)?;
    finish(Arc::new(powers), both_constant)
}
