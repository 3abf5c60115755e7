//! Bringing nests to a store: each gets its dataset, and its endpoint row once that dataset can answer.

use std::sync::Arc;

use super::window::Runner;
use super::{CursorError, Nest};
use crate::chain::Source;
use crate::model::{BlockNumber, DatasetId, DatasetKey, Endpoint, NestName};
use crate::store::{CursorState, DatasetState, HotStore, NewDataset};

/// A nest with the dataset that answers it.
#[derive(Clone)]
pub(super) struct Adopted {
    pub nest: Arc<Nest>,
    pub dataset: DatasetId,
    /// Whether the endpoint row already names this dataset.
    pub serving: bool,
}

/// Creates what is missing and removes endpoint rows of nests that are no longer here; their datasets stay.
pub(super) async fn adopt(
    store: &dyn HotStore,
    state: &CursorState,
    nests: &[Arc<Nest>],
    source: &dyn Source,
) -> Result<Vec<Adopted>, CursorError> {
    let endpoints = store.read().await?.endpoints().await?;
    for endpoint in &endpoints {
        if !nests.iter().any(|nest| nest.name == endpoint.name) {
            store.remove_endpoint(&endpoint.name).await?;
        }
    }
    let mut adopted = Vec::new();
    for nest in nests {
        let first_block = first_block(nest, &state.datasets, source).await?;
        let dataset = store
            .create_dataset(NewDataset {
                key: DatasetKey { identity: nest.identity, first_block },
                nest: nest.name.clone(),
                bundle: nest.bundle,
                tables: nest.tables.clone(),
                engine: nest.engine.clone(),
                backfill: nest.backfill,
            })
            .await?;
        adopted.push(Adopted { nest: nest.clone(), dataset, serving: false });
    }
    Ok(adopted)
}

/// A backfill's first block is fixed at its first start and found again by identity and N.
async fn first_block(nest: &Nest, datasets: &[DatasetState], source: &dyn Source) -> Result<BlockNumber, CursorError> {
    let Some(blocks) = nest.backfill else { return Ok(nest.start_block()) };
    let known = datasets
        .iter()
        .find(|dataset| dataset.key.identity == nest.identity && dataset.backfill == Some(blocks))
        .map(|dataset| dataset.key.first_block);
    match known {
        Some(known) => Ok(known),
        None => {
            let head = source.head().await?.number;
            Ok(BlockNumber(head.0.saturating_sub(blocks)).max(nest.start_block()))
        }
    }
}

/// Switches endpoints whose dataset is ready: there is no older one, or this one has come as far.
pub(super) async fn switch_ready(
    store: &dyn HotStore,
    state: &CursorState,
    adopted: &mut [Adopted],
) -> Result<(), CursorError> {
    if adopted.iter().all(|nest| nest.serving) {
        return Ok(());
    }
    let endpoints = store.read().await?.endpoints().await?;
    for nest in adopted.iter_mut().filter(|nest| !nest.serving) {
        let done = |id: DatasetId| {
            let dataset = state.datasets.iter().find(|dataset| dataset.id == id);
            dataset.and_then(|dataset| dataset.done_to).map(|done| done.number)
        };
        let old = endpoints.iter().find(|endpoint| endpoint.name == nest.nest.name).map(|endpoint| endpoint.dataset);
        let ready = old.is_none_or(|old| old == nest.dataset || done(nest.dataset) >= done(old));
        if ready {
            store.put_endpoint(endpoint(&nest.nest, nest.dataset)).await?;
            nest.serving = true;
        }
    }
    Ok(())
}

fn endpoint(nest: &Nest, dataset: DatasetId) -> Endpoint {
    Endpoint {
        name: nest.name.clone(),
        nest: nest.name.clone(),
        version: nest.version.clone(),
        bundle: nest.bundle,
        dataset,
        manifest: nest.manifest.clone(),
        views: nest.views.clone(),
        epoch: 0,
    }
}

/// One runner a dataset: nests that share a dataset share its rows.
pub(super) fn runners(adopted: &[Adopted]) -> Result<Vec<Runner>, CursorError> {
    let mut runners: Vec<Runner> = Vec::new();
    for nest in adopted {
        if !runners.iter().any(|runner| runner.dataset == nest.dataset) {
            runners.push(Runner {
                dataset: nest.dataset,
                nest: nest.nest.clone(),
                filters: Arc::new(nest.nest.log_filters()?),
            });
        }
    }
    Ok(runners)
}

/// The nests that a dataset answers.
pub(super) fn nests_of(adopted: &[Adopted], dataset: DatasetId) -> Vec<NestName> {
    adopted.iter().filter(|nest| nest.dataset == dataset).map(|nest| nest.nest.name.clone()).collect()
}

/// Refuses a data folder whose endpoints all belong to other nests.
pub fn check_folder(folder: &str, endpoints: &[Endpoint], nests: &[Arc<Nest>]) -> Result<(), CursorError> {
    let known = |endpoint: &&Endpoint| nests.iter().any(|nest| nest.name == endpoint.name);
    match (endpoints.first(), endpoints.iter().find(known), nests.first()) {
        (Some(found), None, Some(wanted)) => Err(CursorError::OtherNest {
            folder: folder.to_owned(),
            found: found.name.clone(),
            wanted: wanted.name.clone(),
        }),
        _ => Ok(()),
    }
}
