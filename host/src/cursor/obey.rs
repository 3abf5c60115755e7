//! Carrying out what a running cursor is asked for.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::adopt;
use super::command::{Command, Reply, no_such_nest};
use super::rebuild::rebuild;
use super::{Cursor, CursorError, Nest};
use crate::model::{DatasetId, NestName};
use crate::store::{CursorState, DatasetStatus};

impl Cursor {
    /// Does what is asked, then says so; whoever looks at the status afterwards sees what was done.
    pub(super) async fn answer(&mut self, command: Command, answer: oneshot::Sender<Reply>) {
        let reply = self.obey(command).await.unwrap_or_else(|error| Reply::Refused(error.to_string()));
        if let Err(error) = self.work().state(&self.adopted).await {
            tracing::warn!("the state cannot be read: {error}");
        }
        // The asker may have gone; nothing is owed to it then.
        let _ = answer.send(reply);
    }

    async fn obey(&mut self, command: Command) -> Result<Reply, CursorError> {
        let state = self.store.read().await?.state().await?;
        match command {
            Command::Datasets => Ok(Reply::Datasets(state.datasets)),
            Command::Retry(name) => self.retry(&state, &name).await,
            Command::Drop(dataset) => self.drop_dataset(dataset).await,
            Command::Rebuild => self.rebuild().await,
        }
    }

    async fn retry(&self, state: &CursorState, name: &NestName) -> Result<Reply, CursorError> {
        let Some(nest) = self.adopted.iter().find(|nest| nest.nest.name == *name) else {
            return Ok(Reply::Refused(no_such_nest(name, self.adopted.iter().map(|nest| &nest.nest.name))));
        };
        let dataset = state.datasets.iter().find(|dataset| dataset.id == nest.dataset);
        if dataset.is_some_and(|dataset| dataset.status == DatasetStatus::Active) {
            return Ok(Reply::Done(format!("nest '{name}' is not quarantined; nothing to do")));
        }
        self.store.retry(nest.dataset).await?;
        Ok(Reply::Done(format!("nest '{name}' tries again")))
    }

    async fn drop_dataset(&mut self, dataset: DatasetId) -> Result<Reply, CursorError> {
        if self.adopted.iter().any(|nest| nest.dataset == dataset) {
            return Ok(Reply::Refused(format!(
                "dataset {dataset} belongs to a nest that runs here; start nuthatch without that nest first, or stop it and \
                 use `nuthatch reset` to delete everything"
            )));
        }
        self.sealing.clear();
        self.store.drop_dataset(dataset).await?;
        Ok(Reply::Done(format!("dataset {dataset} is gone")))
    }

    async fn rebuild(&mut self) -> Result<Reply, CursorError> {
        // Asked first: once the store has new datasets, nothing may keep the nests from moving to them.
        self.source.head().await?;
        let done = rebuild(&*self.source, &*self.store).await?;
        // Fetched under the chain that was left.
        self.backfill.clear();
        self.sealing.clear();
        let state = self.store.read().await?.state().await?;
        let nests: Vec<Arc<Nest>> = self.adopted.iter().map(|nest| nest.nest.clone()).collect();
        self.adopted = adopt::adopt(&*self.store, &state, &nests, &*self.source).await?;
        self.runners = adopt::runners(&self.adopted)?;
        Ok(Reply::Done(done))
    }
}
