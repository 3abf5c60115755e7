//! Writing to a bucket.

use bytes::Bytes;
use object_store::path::Path as ObjectPath;
use object_store::{PutMode, PutOptions};
use tokio::sync::OnceCell;

use super::failure::Task;
use super::{Created, Key, ObjectRegistry, RegistryError};

impl ObjectRegistry {
    pub(super) async fn create_in_bucket(
        &self,
        task: Task<'_>,
        honest: &OnceCell<()>,
        key: &Key,
        bytes: Bytes,
    ) -> Result<Created, RegistryError> {
        let created = self.put(task, key, bytes.clone()).await?;
        if matches!(key, Key::Bundle(_)) {
            let proof = || async {
                // Asked with bytes that are their address, so nothing is lost where the answer is bad.
                match created {
                    Created::Taken => Ok(()),
                    Created::New => match self.put(task, key, bytes).await? {
                        Created::Taken => Ok(()),
                        Created::New => Err(RegistryError::Overwrites { registry: self.name.clone() }),
                    },
                }
            };
            honest.get_or_try_init(proof).await?;
        }
        Ok(created)
    }

    async fn put(&self, task: Task<'_>, key: &Key, bytes: Bytes) -> Result<Created, RegistryError> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let path = ObjectPath::from(key.to_string());
        let put = async { Ok(self.objects.put_opts(&path, bytes.into(), options).await) };
        match task.within(self.patience.whole, put).await? {
            Ok(_) => Ok(Created::New),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(Created::Taken)
            }
            Err(error) => Err(task.store(&error)),
        }
    }
}
