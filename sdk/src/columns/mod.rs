//! Builders for the columns of a table. Each takes values and nulls row by row and ends as a [`Column`](crate::Column)
//! in the layout that the host checks: bitmaps least significant bit first, offsets from 0, nulls that keep their place.

mod bitmap;
mod fixed;
mod numbers;
mod var;

pub use bitmap::Bits;
pub use fixed::Fixed;
pub use numbers::{S64s, U64s};
pub use var::{Bytes, Text};

#[cfg(test)]
mod tests;
