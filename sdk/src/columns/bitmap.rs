use crate::{Column, Values};

/// One bit a row, least significant first, unused bits 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bitmap {
    bytes: Vec<u8>,
    len: usize,
}

impl Bitmap {
    fn with_capacity(rows: usize) -> Self {
        Bitmap { bytes: Vec::with_capacity(rows.div_ceil(8)), len: 0 }
    }

    #[inline]
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (self.len % 8);
        }
        self.len += 1;
    }

    fn extend(&mut self, bit: bool, to: usize) {
        while self.len < to && !self.len.is_multiple_of(8) {
            self.push(bit);
        }
        while self.len + 8 <= to {
            self.bytes.push(if bit { 0xff } else { 0 });
            self.len += 8;
        }
        while self.len < to {
            self.push(bit);
        }
    }

    fn get(&self, row: usize) -> bool {
        self.bytes[row / 8] >> (row % 8) & 1 == 1
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut kept = Bitmap::with_capacity(self.len);
        for (row, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            kept.push(self.get(row));
        }
        *self = kept;
    }
}

/// Which rows hold a value. Costs nothing until the first null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Validity {
    bitmap: Option<Bitmap>,
}

impl Validity {
    /// The row at `row`, the next one, holds a value.
    #[inline(always)]
    pub(super) fn value(&mut self, row: usize) {
        if let Some(bitmap) = &mut self.bitmap {
            debug_assert_eq!(bitmap.len, row);
            bitmap.push(true);
        }
    }

    /// The row at `row`, the next one, is null.
    pub(super) fn null(&mut self, row: usize) {
        let bitmap = self.bitmap.get_or_insert_default();
        bitmap.extend(true, row);
        bitmap.push(false);
    }

    pub(super) fn retain(&mut self, keep: &[bool]) {
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.retain(keep);
        }
    }

    pub(super) fn finish(self) -> Option<Vec<u8>> {
        self.bitmap.map(|bitmap| bitmap.bytes)
    }
}

/// A column of `bool`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    values: Bitmap,
    validity: Validity,
}

impl Bits {
    /// An empty column with room for so many rows.
    pub fn with_capacity(rows: usize) -> Self {
        Bits { values: Bitmap::with_capacity(rows), validity: Validity::default() }
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.values.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: bool) {
        self.validity.value(self.values.len);
        self.values.push(value);
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.validity.null(self.values.len);
        self.values.push(false);
    }

    /// Keeps the rows whose place in `keep`, as long as the column, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        debug_assert_eq!(keep.len(), self.len());
        self.values.retain(keep);
        self.validity.retain(keep);
    }

    /// The column.
    pub fn finish(self) -> Column {
        Column { values: Values::Bits(self.values.bytes), validity: self.validity.finish() }
    }
}
