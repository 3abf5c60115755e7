//! What the store's errors mean to a user. Their own texts may hold URLs and a server's whole answer; of those only the
//! last cause is told, cut and escaped.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::time::Duration;

use object_store::client::{HttpError, HttpErrorKind};

use super::RegistryError;

/// Longest reason that is told.
const MAX_TOLD: usize = 300;

/// What was being done when it failed.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub doing: &'static str,
    pub what: &'a (dyn fmt::Display + Sync),
    pub registry: &'a str,
}

impl Task<'_> {
    pub fn failed(self, reason: String) -> RegistryError {
        let (doing, what, registry) = self.parts();
        RegistryError::Failed { doing, what, registry, reason }
    }

    pub fn silent(self) -> RegistryError {
        let (doing, what, registry) = self.parts();
        RegistryError::Silent { doing, what, registry }
    }

    pub fn io(self, error: &io::Error) -> RegistryError {
        let (doing, what, registry) = self.parts();
        let reason = told(&error.to_string());
        match error.kind() {
            io::ErrorKind::PermissionDenied => RegistryError::Denied { doing, what, registry, reason },
            _ => RegistryError::Failed { doing, what, registry, reason },
        }
    }

    pub fn store(self, error: &object_store::Error) -> RegistryError {
        let (doing, what, registry) = self.parts();
        let cause = last_cause(error);
        match error {
            object_store::Error::NotFound { .. } if !cause.contains("NoSuchBucket") => {
                RegistryError::NotThere { what, registry }
            }
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                RegistryError::Denied { doing, what, registry, reason: cause }
            }
            other => match io_kind(other) {
                Some(io::ErrorKind::PermissionDenied) => RegistryError::Denied { doing, what, registry, reason: cause },
                // Where nothing else is set, credentials are asked of the machine's own address in a cloud.
                _ if error.to_string().contains("169.254.169.254") => RegistryError::Denied {
                    doing,
                    what,
                    registry,
                    reason: "no credentials are set and the machine has none of its own".to_owned(),
                },
                _ if is_timeout(other) => RegistryError::Silent { doing, what, registry },
                _ => RegistryError::Failed { doing, what, registry, reason: cause },
            },
        }
    }

    /// Ends the work when its time is over.
    pub async fn within<T>(
        self,
        time: Duration,
        work: impl Future<Output = Result<T, RegistryError>>,
    ) -> Result<T, RegistryError> {
        tokio::time::timeout(time, work).await.unwrap_or_else(|_| Err(self.silent()))
    }

    fn parts(self) -> (&'static str, String, String) {
        (self.doing, self.what.to_string(), self.registry.to_owned())
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
}

fn is_timeout(error: &object_store::Error) -> bool {
    causes(error).any(|cause| {
        cause.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Timeout)
            || cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    })
}

fn io_kind(error: &object_store::Error) -> Option<io::ErrorKind> {
    causes(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind)
}

fn last_cause(error: &object_store::Error) -> String {
    let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
    told(last.strip_prefix("Server returned non-2xx status code: ").unwrap_or(&last))
}

fn told(text: &str) -> String {
    text.trim_end_matches([':', ' ']).escape_debug().take(MAX_TOLD).collect()
}
