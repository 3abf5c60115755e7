//! Notices: what is said about a version after it was published.

use std::fmt;

use semver::Version;
use serde::{Deserialize, Serialize};

use super::codec::{self, BadRecord};
use super::time::Timestamp;
use crate::NestName;
use crate::pin::parse_version;

/// Most bytes of a notice's reason.
pub const MAX_REASON: usize = 1_024;

/// Something said about a version. Notices are numbered, appended and never changed; of yank and unyank the last one
/// counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notice {
    /// The nest.
    pub name: NestName,
    /// Its place in the row of the nest's notices, from 1 on.
    pub seq: u32,
    /// What it does.
    pub kind: NoticeKind,
    /// The version it is about.
    pub version: Version,
    /// Why, in a person's words. May be empty.
    pub reason: String,
    /// When, by the clock of who wrote it. The order is that of `seq`.
    pub at: Timestamp,
}

/// What a notice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeKind {
    /// The version is no longer chosen by name. It still pulls by hash.
    Yank,
    /// It is chosen again.
    Unyank,
    /// Something to know about it, which changes nothing.
    Advisory,
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoticeKind::Yank => "yank",
            NoticeKind::Unyank => "unyank",
            NoticeKind::Advisory => "advisory",
        })
    }
}

impl Notice {
    /// Reads the notice that stands under this name and number.
    pub fn parse(bytes: &[u8], name: &NestName, seq: u32) -> Result<Self, BadRecord> {
        let notice: Notice = codec::parse(bytes)?;
        codec::same("name", &notice.name, name)?;
        codec::same("seq", &notice.seq, &seq)?;
        if notice.seq == 0 {
            return Err(BadRecord::Value { field: "seq" });
        }
        if parse_version(&notice.version.to_string()).is_none() {
            return Err(BadRecord::Value { field: "version" });
        }
        if !is_reason(&notice.reason) {
            return Err(BadRecord::Value { field: "reason" });
        }
        Ok(notice)
    }

    /// The one JSON spelling.
    pub fn to_json(&self) -> String {
        codec::to_json(self)
    }
}

/// Whether a text can be a reason: one line, at most [`MAX_REASON`] bytes.
pub(crate) fn is_reason(text: &str) -> bool {
    text.len() <= MAX_REASON && !text.chars().any(char::is_control)
}
