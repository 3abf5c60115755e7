//! `nuthatch dataset`: list and drop the rows that lie in a data folder.

use clap::{Args, Subcommand};

use super::{ChainArg, DataArgs};

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    List(ListArgs),
    Drop(DropArgs),
}

/// List the datasets of a data folder
///
/// A dataset is the decoded rows of one data identity from one first block on. A nest that was taken out of the list,
/// or rebuilt with other code, leaves its dataset behind.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Delete a dataset with all its rows
///
/// Refused while a nest is served from it.
#[derive(Debug, Args)]
pub struct DropArgs {
    /// Number, as `dataset list` shows it
    pub id: i64,
    /// Chain, where the data folder holds several
    #[arg(long)]
    pub chain: Option<ChainArg>,
    #[command(flatten)]
    pub data: DataArgs,
}

pub(super) async fn run(_command: DatasetCommand) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `dataset` yet")
}
