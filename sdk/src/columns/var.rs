use super::bitmap::Validity;
use crate::{Column, Values, VarWidth};

/// Where each value of a column of any lengths ends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Offsets(Vec<u32>);

impl Offsets {
    fn with_capacity(rows: usize) -> Self {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Offsets(offsets)
    }

    fn rows(&self) -> usize {
        self.0.len() - 1
    }

    #[inline]
    fn push(&mut self, end: usize) {
        match u32::try_from(end) {
            Ok(end) => self.0.push(end),
            Err(_) => panic!("a column of one batch holds 4 GiB or more"),
        }
    }

    /// Keeps some rows; `moved` is told which bytes go where, front to back. Returns the new end.
    fn retain(&mut self, keep: &[bool], mut moved: impl FnMut(std::ops::Range<usize>, usize)) -> usize {
        debug_assert_eq!(keep.len(), self.rows());
        let old = std::mem::take(&mut self.0);
        self.0.reserve_exact(old.len());
        self.0.push(0);
        let mut end = 0;
        for (row, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            let bytes = old[row] as usize..old[row + 1] as usize;
            let len = bytes.len();
            moved(bytes, end);
            end += len;
            self.push(end);
        }
        end
    }
}

/// A column of `bytes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    offsets: Offsets,
    values: Vec<u8>,
    validity: Validity,
}

impl Bytes {
    /// An empty column with room for so many rows; values find their room as they come.
    pub fn with_capacity(rows: usize) -> Self {
        Bytes { offsets: Offsets::with_capacity(rows), values: Vec::new(), validity: Validity::default() }
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.offsets.rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: &[u8]) {
        self.validity.value(self.offsets.rows());
        self.values.extend_from_slice(value);
        self.offsets.push(self.values.len());
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.validity.null(self.offsets.rows());
        self.offsets.push(self.values.len());
    }

    /// Keeps the rows whose place in `keep`, as long as the column, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        let values = &mut self.values;
        let end = self.offsets.retain(keep, |bytes, to| values.copy_within(bytes, to));
        self.values.truncate(end);
        self.validity.retain(keep);
    }

    /// The column.
    pub fn finish(self) -> Column {
        let values = VarWidth { offsets: self.offsets.0, values: self.values };
        Column { values: Values::Bytes(values), validity: self.validity.finish() }
    }
}

/// A column of `string` or `json`. NUL bytes are the caller's to avoid: the host refuses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    offsets: Offsets,
    values: String,
    validity: Validity,
}

impl Text {
    /// An empty column with room for so many rows; values find their room as they come.
    pub fn with_capacity(rows: usize) -> Self {
        Text { offsets: Offsets::with_capacity(rows), values: String::new(), validity: Validity::default() }
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.offsets.rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: &str) {
        self.validity.value(self.offsets.rows());
        self.values.push_str(value);
        self.offsets.push(self.values.len());
    }

    /// Appends a value that `write` appends to the column's own text, sparing a copy. `write` must only append. After
    /// an error no row has been added.
    pub fn push_with<T, E>(&mut self, write: impl FnOnce(&mut String) -> Result<T, E>) -> Result<T, E> {
        let before = self.values.len();
        match write(&mut self.values) {
            Ok(result) => {
                self.validity.value(self.offsets.rows());
                self.offsets.push(self.values.len());
                Ok(result)
            }
            Err(error) => {
                self.values.truncate(before);
                Err(error)
            }
        }
    }

    /// Appends a null.
    pub fn push_null(&mut self) {
        self.validity.null(self.offsets.rows());
        self.offsets.push(self.values.len());
    }

    /// Keeps the rows whose place in `keep`, as long as the column, is true.
    pub fn retain(&mut self, keep: &[bool]) {
        let old = std::mem::take(&mut self.values);
        let mut kept = String::with_capacity(old.len());
        self.offsets.retain(keep, |bytes, _| kept.push_str(&old[bytes]));
        self.values = kept;
        self.validity.retain(keep);
    }

    /// The column.
    pub fn finish(self) -> Column {
        let values = VarWidth { offsets: self.offsets.0, values: self.values.into_bytes() };
        Column { values: Values::Text(values), validity: self.validity.finish() }
    }
}
