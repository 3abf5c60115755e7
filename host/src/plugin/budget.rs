//! Fuel: what a call may compute before it is stopped, the same on every machine.

/// Fuel for decoding one log: `base + per_log + per_byte × bytes of its topics and data`.
///
/// A call with many logs gets the least budget among them, not the sum: so whatever passes in company passes alone,
/// and whether a log stops its nest does not depend on how the host cuts batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Fuel of every call.
    pub base: u64,
    /// Fuel for the log itself.
    pub per_log: u64,
    /// Fuel for each byte of the log's topics and data.
    pub per_byte: u64,
}

impl Budget {
    /// What a nest gets that asks for nothing: a hundred times what a full batch of ordinary logs uses.
    pub const DEFAULT: Budget = Budget { base: 200_000_000, per_log: 2_000_000, per_byte: 1_000 };

    /// The most that a nest may ask for.
    pub const CAP: Budget = Budget { base: 2_000_000_000, per_log: 200_000_000, per_byte: 20_000 };

    /// This budget, each part at most as large as the cap's.
    #[must_use]
    pub fn within(self, cap: Budget) -> Budget {
        Budget {
            base: self.base.min(cap.base),
            per_log: self.per_log.min(cap.per_log),
            per_byte: self.per_byte.min(cap.per_byte),
        }
    }

    /// Fuel for a log of this many bytes.
    pub fn of_log(self, bytes: usize) -> u64 {
        self.base.saturating_add(self.per_log).saturating_add(self.per_byte.saturating_mul(bytes as u64))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Budget::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_paid_by_its_bytes_and_never_overflows() {
        let budget = Budget { base: 100, per_log: 10, per_byte: 3 };
        assert_eq!(budget.of_log(0), 110);
        assert_eq!(budget.of_log(20), 170);
        assert_eq!(Budget { per_byte: u64::MAX, ..budget }.of_log(2), u64::MAX);
    }

    #[test]
    fn the_host_caps_each_part() {
        let asked = Budget { base: u64::MAX, per_log: 1, per_byte: u64::MAX };
        let cap = Budget { base: 50, per_log: 20, per_byte: 9 };
        assert_eq!(asked.within(cap), Budget { base: 50, per_log: 1, per_byte: 9 });
    }
}
