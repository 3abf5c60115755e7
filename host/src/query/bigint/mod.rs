//! Exact integers of any width in SQL.

pub mod aggregate;
pub mod codec;
pub mod convert;
pub mod error;
pub mod functions;
mod install;
pub mod storage;
pub mod syntax;
pub mod text;
pub mod typing;
pub mod value;

pub use error::IntegerError;
pub use install::install;
pub use storage::{Signedness, Stored, from_storage, to_storage, to_storage_value};
pub use syntax::{rewrite_sql, rewrite_statement};
pub use text::{to_decimal, to_decimal_array, write_decimal};
pub use value::Wide;

#[cfg(test)]
mod tests;
