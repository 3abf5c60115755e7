//! What stops a cursor, and what only makes it wait.

use crate::chain::ChainError;
use crate::model::{ChainId, DatasetId, NestName};
use crate::segments::SealError;
use crate::store::StoreError;

/// Errors of a cursor.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CursorError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The chain cannot be read just now.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The chain changed, or its node stumbled, while a window was put together.
    #[error("chain {chain}: {reason}; the window is fetched again")]
    Interrupted {
        /// Chain.
        chain: ChainId,
        /// What happened.
        reason: String,
    },
    /// The plugin runtime had no room; nothing is wrong with the nest.
    #[error("nest '{nest}' could not be run just now: {reason}")]
    Host {
        /// Nest.
        nest: NestName,
        /// Why.
        reason: String,
    },
    /// The rows could not be encoded.
    #[error("rows of dataset {dataset} could not be stored: {reason}")]
    Rows {
        /// Dataset.
        dataset: DatasetId,
        /// Why.
        reason: String,
    },
    /// Rows that are due could not be sealed; they stay hot.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The data folder was made by other nests.
    #[error(
        "the data folder {folder} holds nest '{found}', not '{wanted}'; \
         if the nest was renamed, run `nuthatch reset` in its folder, else give this nest another --data folder"
    )]
    OtherNest {
        /// Data folder.
        folder: String,
        /// Nest in the folder.
        found: NestName,
        /// Nest asked for.
        wanted: NestName,
    },
}

impl CursorError {
    /// Whether trying again later may help. Everything else stops the cursor.
    pub fn is_passing(&self) -> bool {
        match self {
            CursorError::Chain(error) => {
                !matches!(error, ChainError::Replay { .. } | ChainError::BadFilter { .. } | ChainError::TooMuch { .. })
            }
            CursorError::Host { .. } | CursorError::Interrupted { .. } | CursorError::Seal(SealError::Place(_)) => true,
            CursorError::Store(error) | CursorError::Seal(SealError::Store(error)) => {
                matches!(
                    error,
                    StoreError::DiskFull { .. }
                        | StoreError::WrongBranch { .. }
                        | StoreError::Moved { .. }
                        | StoreError::CutMoved { .. }
                )
            }
            CursorError::Seal(SealError::Rows { .. }) | CursorError::Rows { .. } | CursorError::OtherNest { .. } => {
                false
            }
        }
    }
}
