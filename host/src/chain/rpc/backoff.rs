//! How long to leave an endpoint alone after it failed.

use std::time::Duration;

use rand::Rng;

/// Exponential, with a ceiling and jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Wait after the first failure, before jitter.
    pub base: Duration,
    /// Longest wait, unless the endpoint itself asks for a longer one.
    pub ceiling: Duration,
}

impl Backoff {
    /// The wait after so many failures in a row: between half of the full wait and all of it.
    pub fn wait(&self, failures: u32, random: &mut impl Rng) -> Duration {
        let doublings = failures.saturating_sub(1).min(20);
        let full = self.base.saturating_mul(1 << doublings).min(self.ceiling);
        full.mul_f64(random.random_range(0.5..=1.0))
    }

    /// Sleeps for [`Backoff::wait`].
    pub(super) async fn pause(&self, failures: u32) {
        let wait = self.wait(failures, &mut rand::rng());
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn waits_double_up_to_the_ceiling_and_never_vanish() {
        let backoff = Backoff { base: Duration::from_millis(100), ceiling: Duration::from_secs(2) };
        let mut random = rand::rng();
        for failures in 0..100_u32 {
            let full = Duration::from_millis(100 << failures.saturating_sub(1).min(10)).min(Duration::from_secs(2));
            let wait = backoff.wait(failures, &mut random);
            assert!(wait >= full / 2 && wait <= full, "{failures}: {wait:?}");
        }
    }
}
