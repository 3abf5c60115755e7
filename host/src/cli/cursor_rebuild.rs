//! `nuthatch cursor rebuild`: go on after a reorg below the final block.

use clap::Args;

use super::{ChainArg, DataArgs};

/// Go on after a reorg below the final block, by decoding again what it touched
///
/// A chain that contradicts a block held as final halts its cursor; what is there is still served. Look first whether
/// an endpoint lies: taking it out of --rpc is the other way on. This command goes back to the last block that both
/// agree on, and starts every dataset that reaches above it from nothing.
#[derive(Debug, Args)]
pub struct RebuildArgs {
    /// Chain whose cursor is halted
    pub chain: ChainArg,
    #[command(flatten)]
    pub data: DataArgs,
}

pub(super) async fn run(_args: RebuildArgs) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `cursor rebuild` yet")
}
