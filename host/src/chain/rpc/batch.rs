//! How many requests to put into one JSON-RPC batch.

/// Learned from refusals and failures.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchSize {
    size: usize,
    /// Never more than this: smaller than any batch that was refused as a batch.
    cap: usize,
}

impl BatchSize {
    pub fn new(first: usize) -> Self {
        let size = first.max(1);
        BatchSize { size, cap: size }
    }

    /// Requests in the next batch; 1 means none but single requests.
    pub fn get(self) -> usize {
        self.size
    }

    /// The endpoint does not take batches of this size.
    pub fn refused(&mut self, size: usize) {
        self.cap = self.cap.min(size.saturating_sub(1)).max(1);
        self.size = self.size.min(size / 2).max(1);
    }

    /// A batch failed for whatever reason, and not for the first time.
    pub fn failed(&mut self, size: usize) {
        self.size = self.size.min(size / 2).max(1);
    }

    /// A batch of this size was answered.
    pub fn accepted(&mut self, size: usize) {
        if size >= self.size {
            self.size = (self.size + self.size / 4 + 1).min(self.cap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BatchSize;

    #[test]
    fn a_refused_size_is_never_tried_again_and_a_failed_one_comes_back() {
        let mut batch = BatchSize::new(100);
        batch.failed(100);
        assert_eq!(batch.get(), 50);
        (0..20).for_each(|_| batch.accepted(batch.get()));
        assert_eq!(batch.get(), 100);
        batch.refused(100);
        (0..50).for_each(|_| batch.accepted(batch.get()));
        assert_eq!(batch.get(), 99);
        (0..10).for_each(|_| batch.refused(batch.get()));
        (0..50).for_each(|_| batch.accepted(batch.get()));
        assert_eq!(batch.get(), 1);
    }
}
