use super::bitmap::Validity;
use crate::{Column, FixedWidth, Values};

/// A column of one width: `address`, `bytesN`, integers wider than 64 bits, `decimal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    width: usize,
    rows: usize,
    values: Vec<u8>,
    validity: Validity,
}

impl Fixed {
    /// An empty column of values of `width` bytes (at least 1), with room for so many rows.
    pub fn with_capacity(width: u8, rows: usize) -> Self {
        let width = usize::from(width.max(1));
        Fixed { width, rows: 0, values: Vec::with_capacity(width * rows), validity: Validity::default() }
    }

    /// A column of these values, none of them null. Quicker than a push for each, and takes no copy.
    pub fn from_arrays<const N: usize>(values: Vec<[u8; N]>) -> Self {
        const { assert!(N > 0 && N <= u8::MAX as usize) }
        Fixed { width: N, rows: values.len(), values: values.into_flattened(), validity: Validity::default() }
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Appends a value.
    ///
    /// # Panics
    /// If the value is not as wide as the column.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        assert_eq!(value.len(), self.width, "a value of {} bytes in a column of {}", value.len(), self.width);
        self.validity.value(self.rows);
        self.values.extend_from_slice(value);
        self.rows += 1;
    }

    /// Appends an unsigned integer, given as 32 bytes big-endian, to a column of width 32.
    #[inline]
    pub fn push_unsigned(&mut self, value: &[u8; 32]) {
        self.push(value);
    }

    /// Appends a signed integer, given as 32 bytes of two's complement big-endian, to a column of width 32: with the
    /// top bit flipped, so that byte order is numeric order.
    #[inline]
    pub fn push_signed(&mut self, value: &[u8; 32]) {
        let mut flipped = *value;
        flipped[0] ^= 0x80;
        self.push(&flipped);
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.validity.null(self.rows);
        self.values.resize(self.values.len() + self.width, 0);
        self.rows += 1;
    }

    /// Keeps the rows whose place in `keep`, as long as the column, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        debug_assert_eq!(keep.len(), self.rows);
        let mut end = 0;
        self.rows = 0;
        for (row, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            self.values.copy_within(row * self.width..(row + 1) * self.width, end);
            end += self.width;
            self.rows += 1;
        }
        self.values.truncate(end);
        self.validity.retain(keep);
    }

    /// The column.
    pub fn finish(self) -> Column {
        let width = self.width as u32;
        Column { values: Values::Fixed(FixedWidth { width, values: self.values }), validity: self.validity.finish() }
    }
}
