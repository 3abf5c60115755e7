//! `nuthatch store`: what a data folder is among others.

use clap::{Args, Subcommand};

use super::{DataArgs, Output, admin};
use crate::store::{HotReader, HotStore};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    Fork(ForkArgs),
}

/// Give a copied data folder a name of its own
///
/// Segments lie under the name of the store that sealed them, and `segments gc` deletes under its own name alone. A
/// copy has the name of its original, and each of the two would take the other's later files for garbage: run this on
/// the copy before anything else runs on it. What is sealed so far stays readable where it is; the original alone may
/// delete it, and does so a day after it drops the dataset itself.
#[derive(Debug, Args)]
pub struct ForkArgs {
    #[command(flatten)]
    pub data: DataArgs,
}

pub(super) async fn run(command: StoreCommand) -> anyhow::Result<()> {
    match command {
        StoreCommand::Fork(args) => fork(args).await,
    }
}

async fn fork(args: ForkArgs) -> anyhow::Result<()> {
    let mut out = Output::new();
    for (chain, store) in admin::open_all(&args.data.folder()).await? {
        let old = store.read().await?.store_id().await?;
        let new = store.fork().await?;
        store.close().await;
        out.line(format!("chain {chain}: store {old} is now {new}"))?;
    }
    out.finish()
}
