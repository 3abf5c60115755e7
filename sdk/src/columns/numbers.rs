use super::bitmap::Validity;
use crate::{Column, Values};

macro_rules! numbers {
    ($(#[$doc:meta])* $name:ident, $number:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            values: Vec<$number>,
            validity: Validity,
        }

        /// A column of these values, none of them null. Quicker than a push for each, and takes no copy.
        impl From<Vec<$number>> for $name {
            fn from(values: Vec<$number>) -> Self {
                $name { values, validity: Validity::default() }
            }
        }

        impl $name {
            /// An empty column with room for so many rows.
            pub fn with_capacity(rows: usize) -> Self {
                $name { values: Vec::with_capacity(rows), validity: Validity::default() }
            }

            /// Rows so far.
            pub fn len(&self) -> usize {
                self.values.len()
            }

            /// Whether there is no row.
            pub fn is_empty(&self) -> bool {
                self.values.is_empty()
            }

            /// Appends a value.
            #[inline]
            pub fn push(&mut self, value: $number) {
                self.validity.value(self.values.len());
                self.values.push(value);
            }

            /// Appends a null.
            pub fn push_null(&mut self) {
                self.validity.null(self.values.len());
                self.values.push(0);
            }

            /// Keeps the rows whose place in `keep`, as long as the column, is true.
            pub fn retain(&mut self, keep: &[bool]) {
                debug_assert_eq!(keep.len(), self.len());
                let mut places = keep.iter();
                self.values.retain(|_| places.next().is_some_and(|keep| *keep));
                self.validity.retain(keep);
            }

            /// The column.
            pub fn finish(self) -> Column {
                Column { values: Values::$name(self.values), validity: self.validity.finish() }
            }
        }
    };
}

numbers! {
    /// A column of `uint8` to `uint64`. Values must fit the declared width.
    U64s, u64
}

numbers! {
    /// A column of `int8` to `int64`, or `timestamp` in seconds. Values must fit the declared width.
    S64s, i64
}
