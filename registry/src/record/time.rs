//! Moments in records: UTC, whole seconds, one spelling.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::names::shown;

/// The last second of the year 9999, the last that the spelling holds.
const LAST: u64 = 253_402_300_799;

/// A moment in whole seconds since 1970, written `2026-01-02T03:04:05Z`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

/// Text that is not a timestamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a moment such as 2026-01-02T03:04:05Z")]
pub struct BadTimestamp(pub String);

impl Timestamp {
    /// This many seconds after 1970 began, at most the end of the year 9999.
    pub fn from_unix(seconds: u64) -> Self {
        Timestamp(seconds.min(LAST))
    }

    /// Seconds since 1970 began.
    pub fn unix(self) -> u64 {
        self.0
    }

    /// The moment of this call, by this machine's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix(since.as_secs())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(self.0)))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl FromStr for Timestamp {
    type Err = BadTimestamp;

    fn from_str(text: &str) -> Result<Self, BadTimestamp> {
        let moment = humantime::parse_rfc3339(text).ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        moment
            .map(|since| Timestamp::from_unix(since.as_secs()))
            // Fractions and other spellings end here.
            .filter(|timestamp| timestamp.to_string() == text)
            .ok_or_else(|| BadTimestamp(shown(text)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
