//! `nuthatch nest retry`: let a quarantined nest try again.

use clap::Args;

use super::DataArgs;

/// Let a quarantined nest try again
///
/// A nest whose code faults is quarantined: it keeps serving what it has, and stands still at the log that made it
/// fault. Use this when the cause is gone; a rebuilt nest with other code starts anew by itself.
#[derive(Debug, Args)]
pub struct RetryArgs {
    /// Nest
    pub name: nuthatch_registry::NestName,
    #[command(flatten)]
    pub data: DataArgs,
}

pub(super) async fn run(_args: RetryArgs) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `nest retry` yet")
}
