//! Work that failed for a reason that passes, and rests before it is tried again.

use std::time::Duration;

use tokio::time::Instant;

/// Why, and until when, nothing is tried.
#[derive(Debug)]
pub(super) struct Trouble {
    text: String,
    failures: u32,
    rests_until: Instant,
}

impl Trouble {
    /// Rests longer each time in a row, `longest` at most.
    pub fn after(before: Option<&Trouble>, text: String, longest: Duration) -> Trouble {
        let failures = before.map_or(0, |trouble| trouble.failures).saturating_add(1);
        let pause = Duration::from_millis(200) * 2u32.saturating_pow(failures.min(10));
        Trouble { text, failures, rests_until: Instant::now() + pause.min(longest) }
    }

    /// What happened.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When to try again.
    pub fn rests_until(&self) -> Instant {
        self.rests_until
    }

    /// Whether it is too early to try again.
    pub fn rests(&self) -> bool {
        Instant::now() < self.rests_until
    }
}
