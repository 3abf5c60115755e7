//! Reading an object up to a limit.

use std::time::Instant;

use futures::StreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path as ObjectPath;

use super::failure::Task;
use super::{Key, ObjectRegistry, RegistryError, Writing};

impl ObjectRegistry {
    /// Reads an object from its beginning, and again where the connection broke off.
    pub(super) async fn read_capped(&self, task: Task<'_>, key: &Key, max: usize) -> Result<Vec<u8>, RegistryError> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            match self.read_once(task, key, max).await {
                Err(RegistryError::BrokenOff { .. })
                    if tries < self.patience.retries && begun.elapsed() < self.patience.retry_for =>
                {
                    tries += 1;
                }
                ended => return ended,
            }
        }
    }

    async fn read_once(&self, task: Task<'_>, key: &Key, max: usize) -> Result<Vec<u8>, RegistryError> {
        let (what, registry) = (key.to_string(), self.name.clone());
        let too_large = || RegistryError::TooLarge { what: what.clone(), registry: registry.clone(), max };
        if let Writing::Folder(folder) = &self.writing {
            // Opening a pipe would wait for its other end, past every deadline.
            match tokio::fs::metadata(folder.join(&what)).await {
                Ok(about) if !about.is_file() => return Err(task.failed("it is not a file".to_owned())),
                _ => {}
            }
        }
        let answer = self.objects.get(&ObjectPath::from(what.as_str())).await.map_err(|error| task.store(&error))?;
        let expected = answer.meta.size;
        if expected > max as u64 {
            return Err(too_large());
        }
        // What is announced need not come.
        let mut bytes = Vec::with_capacity(expected.min(1 << 20) as usize);
        let mut pieces = answer.into_stream();
        loop {
            let piece = tokio::time::timeout(self.patience.answer, pieces.next()).await.map_err(|_| task.silent())?;
            let got = bytes.len() as u64;
            let broken_off =
                || RegistryError::BrokenOff { what: what.clone(), registry: registry.clone(), got, expected };
            match piece {
                Some(Ok(piece)) if bytes.len() + piece.len() > max => return Err(too_large()),
                Some(Ok(piece)) => bytes.extend_from_slice(&piece),
                Some(Err(error)) => {
                    return Err(match task.store(&error) {
                        RegistryError::Failed { .. } => broken_off(),
                        other => other,
                    });
                }
                None if got < expected => return Err(broken_off()),
                None => return Ok(bytes),
            }
        }
    }
}
