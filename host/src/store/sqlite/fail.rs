//! From what SQLite says to what a store says.

use std::path::Path;

use crate::store::StoreError;
use crate::store::chunk::BadChunk;

/// How long a statement waits for another process that holds the database's lock.
pub(super) const BUSY_SECONDS: u64 = 10;

/// Less than this free, and an I/O error is taken for a full disk.
const FULL_BELOW: u64 = 1 << 20;

/// A failed step inside the backend, before the path is known.
#[derive(Debug)]
pub(super) enum Fail {
    Sql(sqlx::Error),
    Store(StoreError),
    /// What is stored does not add up.
    Damaged(String),
}

pub(super) type Step<T> = Result<T, Fail>;

impl From<sqlx::Error> for Fail {
    fn from(error: sqlx::Error) -> Self {
        Fail::Sql(error)
    }
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Self {
        Fail::Store(error)
    }
}

impl From<BadChunk> for Fail {
    fn from(bad: BadChunk) -> Self {
        Fail::Damaged(bad.to_string())
    }
}

impl Fail {
    pub(super) fn at(self, path: &Path) -> StoreError {
        match self {
            Fail::Store(error) => error,
            Fail::Damaged(reason) => StoreError::Corrupt { path: path.display().to_string(), reason },
            Fail::Sql(error) => sql(error, path),
        }
    }
}

fn sql(error: sqlx::Error, at: &Path) -> StoreError {
    let path = at.display().to_string();
    let sqlx::Error::Database(database) = &error else {
        return match error {
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::RowNotFound => {
                StoreError::Corrupt { path, reason: error.to_string() }
            }
            sqlx::Error::PoolTimedOut => StoreError::Busy { path, seconds: BUSY_SECONDS },
            sqlx::Error::PoolClosed => StoreError::Database { path, reason: "the store was closed".to_owned() },
            _ => StoreError::Database { path, reason: error.to_string() },
        };
    };
    let reason = database.message().to_owned();
    let code = database.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(0);
    // The low byte is the class, the rest says more; https://sqlite.org/rescode.html
    match code & 0xff {
        3 | 8 | 14 | 23 => StoreError::NotWritable { path, reason },
        5 | 6 => StoreError::Busy { path, seconds: BUSY_SECONDS },
        11 | 26 => StoreError::Corrupt { path, reason },
        13 => StoreError::DiskFull { path },
        10 if full(at) => StoreError::DiskFull { path },
        _ => StoreError::Database { path, reason: format!("{reason} (SQLite code {code})") },
    }
}

/// Whether the file system that holds the database has no room. SQLite reports that as a plain I/O error when it
/// strikes anything but the database or its log, such as the index of the log or a flush.
fn full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|stat| stat.f_bavail.saturating_mul(stat.f_frsize) < FULL_BELOW)
}
