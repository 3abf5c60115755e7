//! `nuthatch cursor rebuild`: go on after a reorg below the final block.

use clap::Args;

use super::{ChainArg, DataArgs, RpcArg, RpcSources, admin, source};
use crate::chain::RpcLimits;
use crate::cursor;
use crate::worker::socket::{Answer, Request};

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
    /// Endpoint of a node, needed while `dev` does not run; may be given again
    #[arg(long, value_name = "[CHAIN=]URL", num_args = 1..)]
    pub rpc: Vec<RpcArg>,
}

pub(super) async fn run(args: RebuildArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    let chain = args.chain.id();
    if let Some(answer) = admin::ask(&data, Request::Rebuild { chain }).await? {
        return admin::print(answer, false);
    }
    let urls = RpcSources::new(args.rpc, [args.data.dir.as_path()])?.urls(chain, &[chain])?;
    let source = source::open(chain, &urls, RpcLimits::default(), source::Contact::AtOnce).await?;
    for (found, store) in admin::open_all(&data).await? {
        if found == chain {
            let text = cursor::rebuild(&*source, &store).await?;
            return admin::print(Answer::Done { text }, false);
        }
    }
    anyhow::bail!("{} holds nothing of chain {chain}", data.display())
}
