//! `nuthatch dataset`: list and drop the rows that lie in a data folder.

use clap::{Args, Subcommand};

use super::{ChainArg, DataArgs, Usage, admin};
use crate::model::DatasetId;
use crate::store::sqlite;
use crate::store::{HotReader, HotStore};
use crate::worker::socket::{Answer, Request, dataset_row};

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

pub(super) async fn run(command: DatasetCommand) -> anyhow::Result<()> {
    match command {
        DatasetCommand::List(args) => list(args).await,
        DatasetCommand::Drop(args) => drop_one(args).await,
    }
}

async fn list(args: ListArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    if let Some(answer) = admin::ask(&data, Request::Datasets).await? {
        return admin::print(answer, args.json);
    }
    let mut rows = Vec::new();
    for (chain, store) in admin::open_all(&data).await? {
        let state = store.read().await?.state().await?;
        rows.extend(state.datasets.iter().map(|dataset| dataset_row(chain, dataset)));
    }
    admin::print(Answer::Rows { rows }, args.json)
}

async fn drop_one(args: DropArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    let dataset = DatasetId(args.id);
    let chains = sqlite::chains_in(&data)?;
    let chain = match (args.chain, chains.as_slice()) {
        (Some(chain), _) => chain.id(),
        (None, [only]) => *only,
        (None, []) => anyhow::bail!("{} holds no data", data.display()),
        (None, _) => return Err(Usage::error("the folder holds several chains; say which with --chain")),
    };
    if let Some(answer) = admin::ask(&data, Request::Drop { chain, dataset }).await? {
        return admin::print(answer, false);
    }
    for (found, store) in admin::open_all(&data).await? {
        if found == chain {
            store.drop_dataset(dataset).await?;
            return admin::print(Answer::Done { text: format!("dataset {dataset} is gone") }, false);
        }
    }
    anyhow::bail!("{} holds nothing of chain {chain}", data.display())
}
