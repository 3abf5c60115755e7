//! Where the files of segments lie: a folder, or a bucket of an S3-compatible store.

mod bucket;
mod folder;
mod told;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};

/// A place for segments. A key is written once and never again.
#[derive(Clone)]
pub struct Place {
    name: String,
    objects: Arc<dyn ObjectStore>,
    /// Where the place is a folder: written past `objects`, which does not sync.
    folder: Option<PathBuf>,
}

/// What went wrong with which object.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The place is no folder and no URL that is understood.
    #[error("segments cannot be kept at '{place}': {reason}; give --segments a folder, or s3://bucket/prefix")]
    NoPlace {
        /// The place, as given.
        place: String,
        /// Why.
        reason: String,
    },
    /// An object could not be written.
    #[error("segment {key} cannot be written to {place}: {reason}")]
    Write {
        /// Its key.
        key: String,
        /// The place.
        place: String,
        /// What was said.
        reason: String,
    },
    /// An object could not be read.
    #[error("segment {key} cannot be read from {place}: {reason}")]
    Read {
        /// Its key.
        key: String,
        /// The place.
        place: String,
        /// What was said.
        reason: String,
    },
    /// There is no such object.
    #[error("segment {key} is not at {place}; put it back from a copy, or index the dataset again")]
    Missing {
        /// Its key.
        key: String,
        /// The place.
        place: String,
    },
    /// The objects could not be listed.
    #[error("the segments at {place} cannot be listed: {reason}")]
    List {
        /// The place.
        place: String,
        /// What was said.
        reason: String,
    },
}

/// Where segments go unless a user says otherwise.
pub fn default_place(data: &Path) -> PathBuf {
    data.join("segments")
}

/// An object that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// When it was written, by the place's clock: Unix milliseconds.
    pub written_at: i64,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({})", self.name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Place {
    /// The place that a user names: `s3://bucket/prefix`, or a folder. Credentials, region and endpoint of a bucket
    /// come from the usual `AWS_…` variables.
    pub fn open(text: &str) -> Result<Place, PlaceError> {
        match text.strip_prefix("s3://") {
            Some(rest) => Place::bucket(text, rest),
            None => Place::folder(Path::new(text.strip_prefix("file://").unwrap_or(text))),
        }
    }

    /// As [`Place::open`], to read from: a folder is not made.
    pub fn open_existing(text: &str) -> Result<Place, PlaceError> {
        match text.strip_prefix("s3://") {
            Some(rest) => Place::bucket(text, rest),
            None => Place::existing_folder(Path::new(text.strip_prefix("file://").unwrap_or(text))),
        }
    }

    /// A folder, which is made if it is not there.
    pub fn folder(path: &Path) -> Result<Place, PlaceError> {
        let no_place = |reason: String| PlaceError::NoPlace { place: path.display().to_string(), reason };
        folder::make(path).map_err(|error| no_place(error.to_string()))?;
        Place::existing_folder(path)
    }

    /// A folder that is there, to read from.
    pub fn existing_folder(path: &Path) -> Result<Place, PlaceError> {
        let no_place = |reason: String| PlaceError::NoPlace { place: path.display().to_string(), reason };
        let path = path.canonicalize().map_err(|error| no_place(error.to_string()))?;
        let objects = object_store::local::LocalFileSystem::new_with_prefix(&path);
        let objects = Arc::new(objects.map_err(|error| no_place(error.to_string()))?);
        Ok(Place { name: path.display().to_string(), objects, folder: Some(path) })
    }

    fn bucket(text: &str, rest: &str) -> Result<Place, PlaceError> {
        let opened = bucket::open(rest);
        let objects = opened.map_err(|reason| PlaceError::NoPlace { place: text.to_owned(), reason })?;
        Ok(Place { name: text.to_owned(), objects: Arc::new(objects), folder: None })
    }

    /// Writes an object and returns when it will outlive a crash. A key that is there already is an error.
    pub async fn put(&self, key: &str, bytes: Bytes) -> Result<(), PlaceError> {
        let failed = |reason: String| PlaceError::Write { key: key.to_owned(), place: self.name.clone(), reason };
        if let Some(folder) = &self.folder {
            let path = folder.join(key);
            let written = tokio::task::spawn_blocking(move || folder::write(&path, &bytes)).await;
            let written = written.map_err(|error| failed(error.to_string()))?;
            return written.map_err(|error| failed(folder::reason(&error)));
        }
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match self.objects.put_opts(&ObjectPath::from(key), bytes.clone().into(), options).await {
            Ok(_) => Ok(()),
            // Of a try whose answer was lost, if the bytes are these.
            Err(object_store::Error::AlreadyExists { .. }) if self.get(key).await.is_ok_and(|there| there == bytes) => {
                Ok(())
            }
            Err(error) => Err(failed(told::said(&error))),
        }
    }

    /// All bytes of an object.
    pub async fn get(&self, key: &str) -> Result<Bytes, PlaceError> {
        let read = async { self.objects.get(&ObjectPath::from(key)).await?.bytes().await };
        read.await.map_err(|error| self.unread(key, &error))
    }

    /// The objects whose keys begin with this folder.
    pub async fn list(&self, folder: &str) -> Result<Vec<Listed>, PlaceError> {
        let found = self.objects.list(Some(&ObjectPath::from(folder)));
        let found = found.map_ok(|meta| Listed {
            key: meta.location.to_string(),
            size: meta.size,
            written_at: meta.last_modified.timestamp_millis(),
        });
        let listed: Result<Vec<Listed>, _> = found.try_collect().await;
        listed.map_err(|error| PlaceError::List { place: self.name.clone(), reason: told::said(&error) })
    }

    /// Deletes an object. One that is gone already is fine.
    pub async fn delete(&self, key: &str) -> Result<(), PlaceError> {
        match self.objects.delete(&ObjectPath::from(key)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(PlaceError::Write {
                key: key.to_owned(),
                place: self.name.clone(),
                reason: format!("it cannot be deleted: {}", told::said(&error)),
            }),
        }
    }

    /// The objects, to read ranges of them.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.objects)
    }

    /// What a failed read of an object means.
    pub fn unread(&self, key: &str, error: &object_store::Error) -> PlaceError {
        let (key, place) = (key.to_owned(), self.name.clone());
        match error {
            object_store::Error::NotFound { .. } => PlaceError::Missing { key, place },
            other => PlaceError::Read { key, place, reason: told::said(other) },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_keeps_objects_and_writes_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::open(&folder.path().join("a/b").display().to_string()).unwrap();
        place.put("s/t/one.parquet", Bytes::from_static(b"1")).await.unwrap();
        place.put("s/t/two.parquet", Bytes::from_static(b"22")).await.unwrap();
        assert_eq!(place.get("s/t/two.parquet").await.unwrap(), "22");
        let again = place.put("s/t/one.parquet", Bytes::from_static(b"x")).await.unwrap_err();
        assert!(matches!(&again, PlaceError::Write { key, .. } if key == "s/t/one.parquet"), "{again}");
        assert_eq!(place.get("s/t/one.parquet").await.unwrap(), "1");
        let mut keys: Vec<_> = place.list("s").await.unwrap().into_iter().map(|it| (it.key, it.size)).collect();
        keys.sort();
        assert_eq!(keys, [("s/t/one.parquet".to_owned(), 1), ("s/t/two.parquet".to_owned(), 2)]);
        assert_eq!(place.list("nothing").await.unwrap(), []);
        for _ in 0..2 {
            place.delete("s/t/one.parquet").await.unwrap();
        }
        let gone = place.get("s/t/one.parquet").await.unwrap_err();
        assert!(matches!(gone, PlaceError::Missing { .. }), "{gone}");
    }

    #[test]
    fn what_is_no_place_says_what_would_be_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let refused = Place::folder(&folder.path().join("file")).unwrap_err().to_string();
        assert!(refused.contains("--segments a folder, or s3://bucket/prefix"), "{refused}");
    }
}
