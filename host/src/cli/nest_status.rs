//! `nuthatch nest status`: where each nest stands.

use clap::Args;

use super::DataArgs;

/// Show where each nest stands: block, rows, quarantine
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(_args: StatusArgs) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `nest status` yet")
}
