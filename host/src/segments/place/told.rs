//! A store whose errors can be shown to anybody, whoever meets them: reads of a query do not come through here again.

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

use super::bucket::reason;

/// The same objects, with [`reason`] in the place of what the client says.
#[derive(Debug)]
pub(super) struct Told<S>(pub S);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Said(String);

/// Keeps the kind of an error, and tells its reason in one line.
fn told(error: Error) -> Error {
    let source = Box::new(Said(reason(&error)));
    match error {
        Error::NotFound { path, .. } => Error::NotFound { path, source },
        Error::AlreadyExists { path, .. } => Error::AlreadyExists { path, source },
        Error::Precondition { path, .. } => Error::Precondition { path, source },
        Error::NotModified { path, .. } => Error::NotModified { path, source },
        Error::PermissionDenied { path, .. } => Error::PermissionDenied { path, source },
        Error::Unauthenticated { path, .. } => Error::Unauthenticated { path, source },
        Error::Generic { store, .. } => Error::Generic { store, source },
        _ => Error::Generic { store: "object store", source },
    }
}

/// The reason alone, where an error came through here.
pub(super) fn said(error: &Error) -> String {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<Said>());
    source.map_or_else(|| error.to_string(), |Said(reason)| reason.clone())
}

impl<S: fmt::Display> fmt::Display for Told<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: ObjectStore> ObjectStore for Told<S> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.0.put_opts(location, payload, options).await.map_err(told)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(location, options).await.map_err(told)
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let mut found = self.0.get_opts(location, options).await.map_err(told)?;
        if let GetResultPayload::Stream(bytes) = found.payload {
            found.payload = GetResultPayload::Stream(bytes.map_err(told).boxed());
        }
        Ok(found)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.get_ranges(location, ranges).await.map_err(told)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.0.delete_stream(locations).map_err(told).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list(prefix).map_err(told).boxed()
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.0.list_with_offset(prefix, offset).map_err(told).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.list_with_delimiter(prefix).await.map_err(told)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.copy_opts(from, to, options).await.map_err(told)
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.0.rename_opts(from, to, options).await.map_err(told)
    }
}
