//! Exact integers of any width in SQL.
//!
//! A nest's integers of more than 64 bits (`uint72` to `uint256`, `int72` to `int256`) never lose a digit in a query. What
//! follows is what users can rely on.
//!
//! # Types
//!
//! One type, called *wide* below, holds every integer of more than 64 bits: table columns, long literals, and results. It
//! has no fixed width; a result may take up to 1,008 bits (304 decimal digits) either side of zero, so the product of three
//! `uint256` still fits. A result beyond that is an error, never a wrong number. In JSON and CSV a wide integer is a decimal
//! string.
//!
//! | expression | result |
//! |---|---|
//! | a literal above 64 bits, such as `115792…639935` or `-57896…819968` | wide |
//! | wide `+ - * / %` wide or any integer | wide |
//! | wide `+ - * /` double | double |
//! | wide `+ - * / %` decimal with a scale | decimal |
//! | `+ * / %` of two unsigned 64-bit integers | 64-bit unsigned, checked |
//! | `+ - * / %` of other integers | 64-bit signed, checked |
//! | `x ^ y`, `power(x, y)` of integers | wide |
//! | `sum` of any integer column | wide: it never overflows |
//! | `avg` of a wide column | wide: the exact quotient, truncated toward zero |
//! | `avg` of integers of up to 64 bits | double: the one nearest to the exact quotient |
//! | `min`, `max`, `lag`, `first_value`, `array_agg` and so on | the column's type |
//! | `median`, `stddev`, `corr` and so on of wide columns, `sqrt(x)`, `ln(x)` | double |
//!
//! "Checked" means that a result which does not fit is an error that names both values; `int256(x) + y` computes it wide.
//! A whole-number literal takes the type of the other side: `block_number + 1` stays unsigned. `a - b` of unsigned columns
//! is signed.
//!
//! # Arithmetic
//!
//! `/` truncates toward zero and `%` has the sign of the left side, as for all SQL integers; by zero both are errors, and
//! `x / nullif(y, 0)` is null there. So `value / 10^18` is the whole number of tokens; for the fraction use
//! `format_units(value, 18)`, which is exact text, or `value / 1e18`, which is a double. `^` is power and binds tighter than
//! `*` (but looser than a sign: `-2^2` is 4, as in Postgres). `& | XOR << >>` see an endless two's complement: `>>`
//! rounds down.
//!
//! # Comparing
//!
//! By value, whatever the other side is: any integer, a decimal, a text, a double. A text is read as a number (`'123'`,
//! `'-5'`, `'0xff'`), and one that is no number is an error, not "unequal". A number with a fraction or an exponent in the
//! query counts as written: `x >= 1e23` means 10^23. A double *column* is compared as double. `0xff` is a number too beside
//! a wide integer. Bytes and booleans do not mix with integers; `uint256(bytes)` reads up to 32 bytes as big-endian, and
//! `int256(bytes)` reads 32 of them as two's complement.
//!
//! Where values stand in for each other (`CASE`, `COALESCE`, `GREATEST`, `UNION`), text wins over double, double over
//! decimal, decimal over integer, as everywhere in DataFusion.
//!
//! # Conversions
//!
//! | | |
//! |---|---|
//! | `uint256(x)`, `int256(x)`, `uint128(x)`, `int128(x)` | from integer, text, double, decimal, boolean, bytes; range-checked |
//! | `to_integer(x)` | the same without a range |
//! | `try_uint256(x)` and so on | null instead of an error |
//! | `CAST(x AS UINT256)`, `x::int256`, `TRY_CAST(…)` | these functions |
//! | `CAST(wide AS BIGINT)`, `DECIMAL(p, s)`, `DOUBLE`, `VARCHAR`, `TIMESTAMP` | error where the value does not fit |
//! | `format_units(x, decimals)`, `parse_units('1.5', decimals)` | between integers and exact decimal text |
//! | `to_hex(x)` | lower-case, without `0x` |
//! | `abs(x)`, `sign(x)` | exact; `round`, `floor`, `ceil` and `trunc` leave an integer as it is |
//!
//! Fractions are cut off on the way to an integer. Text functions (`concat`, `length`, `LIKE`, `||` …) see decimal text.
//! Names of narrow column types work in casts (`x::uint64`); `int8` keeps its SQL meaning of eight bytes.
//!
//! # Not supported
//!
//! `RANGE` frames with an offset over a wide `ORDER BY` key; correlated scalar subqueries whose condition compares a wide
//! with a narrow column (join instead, or cast one side); `encode`, `arrow_cast` and other functions that would show how
//! an integer is stored.
//!
//! # How it works
//!
//! A wide integer is Arrow `LargeBinary` in the encoding of [`codec`], whose byte order is numeric order and which has one
//! form a value; nothing else in a query is `LargeBinary`. So grouping, ordering, joins, `DISTINCT`, `min`, `max` and
//! windows are DataFusion's own, and a filter on a column is one vectorised comparison with a literal. [`rewrite_sql`]
//! prepares a parsed statement, [`install`] adds functions, a planner hook and two analyzer rules to a session, and
//! [`from_storage`] makes query columns of stored ones.

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
pub use functions::nested::array_as_text;
pub use install::install;
pub use storage::{Signedness, Stored, from_storage, to_storage, to_storage_value};
pub use syntax::{rewrite_sql, rewrite_statement};
pub use text::{to_decimal, to_decimal_array, write_decimal};
pub use value::Wide;

#[cfg(test)]
mod tests;
