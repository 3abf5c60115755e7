//! `nuthatch nest retry`: let a quarantined nest try again.

use clap::Args;

use super::{DataArgs, admin};
use crate::cursor;
use crate::store::{HotReader, HotStore};
use crate::worker::socket::{Answer, Request};

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

pub(super) async fn run(args: RetryArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    if let Some(answer) = admin::ask(&data, Request::Retry { nest: args.name.clone() }).await? {
        return admin::print(answer, false);
    }
    for (_, store) in admin::open_all(&data).await? {
        let mut read = store.read().await?;
        let nests = cursor::at_rest(&read.state().await?, &read.endpoints().await?);
        drop(read);
        let Some(nest) = nests.into_iter().find(|nest| nest.nests.contains(&args.name)) else { continue };
        let name = args.name;
        let text = if nest.fault.is_some() {
            store.retry(nest.dataset).await?;
            format!("nest '{name}' tries again when `nuthatch dev` runs")
        } else {
            format!("nest '{name}' is not quarantined; nothing to do")
        };
        return admin::print(Answer::Done { text }, false);
    }
    anyhow::bail!("{} holds no nest '{}'; `nuthatch nest status` shows what is there", data.display(), args.name)
}
