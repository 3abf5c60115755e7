//! `nuthatch reset`: delete a data folder.

use clap::Args;

use super::DataArgs;

/// Delete all indexed data of a data folder
///
/// The nest folder itself stays as it is. Refused while `dev` runs on it.
#[derive(Debug, Args)]
pub struct ResetArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub(super) async fn run(_args: ResetArgs) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `reset` yet")
}
