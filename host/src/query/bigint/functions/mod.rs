//! Scalar functions on integers.

pub mod arithmetic;
pub mod conversion;
pub mod operation;
pub mod unary;
pub mod unscaled;
