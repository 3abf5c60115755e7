//! Where the nests of a store stand while no process runs on it.

use super::status::DatasetProgress;
use crate::model::Endpoint;
use crate::store::{CursorState, DatasetState, DatasetStatus};

impl DatasetProgress {
    /// A dataset's progress, without the nests that it serves.
    pub(super) fn of(dataset: &DatasetState) -> Self {
        DatasetProgress {
            dataset: dataset.id,
            nests: Vec::new(),
            first_block: dataset.key.first_block,
            done_to: dataset.done_to.map(|done| done.number),
            fault: match &dataset.status {
                DatasetStatus::Active => None,
                DatasetStatus::Quarantined(fault) => Some(fault.clone()),
            },
        }
    }
}

/// Each nest with the dataset that it rode when a process last ran: the one that answers it, or the one being built
/// to take that one's place.
pub fn at_rest(state: &CursorState, endpoints: &[Endpoint]) -> Vec<DatasetProgress> {
    let nests = endpoints.iter().filter_map(|endpoint| {
        let serving = state.datasets.iter().find(|dataset| dataset.id == endpoint.dataset)?;
        let behind =
            |dataset: &DatasetState| dataset.done_to.map(|done| done.number) < serving.done_to.map(|done| done.number);
        let later = |dataset: &&DatasetState| dataset.nest == endpoint.nest && dataset.id > serving.id;
        let building = state.datasets.iter().filter(later).filter(|dataset| behind(dataset)).max_by_key(|next| next.id);
        Some(DatasetProgress { nests: vec![endpoint.name.clone()], ..DatasetProgress::of(building.unwrap_or(serving)) })
    });
    nests.collect()
}
