//! `nuthatch dev`: index nests and answer SQL, in one process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::args::data_folder;
use super::nests::{self, NestOrigin};
use super::source::Contact;
use super::{RpcArg, RpcSources, Usage, process, source};
use crate::chain::RpcLimits;
use crate::cursor::{Settings, Until};
use crate::model::ChainId;
use crate::plugin::{PluginHost, PluginLimits};
use crate::query::QueryEngine;
use crate::segments::SEGMENT_ROWS;
use crate::store::sqlite::chains_in;
use crate::worker::{ChainPlan, Embedded, EmbeddedPlan, Folder, Sealing};

/// Index one or many nests, follow their chains, answer SQL over HTTP
///
/// Reads the nest folder, builds it into a bundle, decodes its contracts' logs from the start block to the head, and
/// goes on with every new block. Started again, it goes on where it stopped. Ctrl-C drains and leaves.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Where the node's URL comes from, the first that is there: --rpc, NUTHATCH_RPC, NUTHATCH_RPC_<chain id>, the same names
in an untracked .env in the nest folder. Several endpoints of one chain are used as one pool.

Where a bucket of --segments is comes from the usual variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION,
and AWS_ENDPOINT_URL for a store that is not Amazon's. AWS_TIMEOUT is the longest time of one request [default: 30s].

Examples:
  nuthatch dev --rpc https://node.example
      The nest in this folder.
  nuthatch dev --dir usdc --dir weth --data ./data --rpc https://a.example --rpc https://b.example
      Two nests of one chain over two endpoints, in one data folder.
  nuthatch dev --dir eth --dir gno --data ./data --rpc mainnet=https://a.example --rpc gnosis=https://b.example
  nuthatch dev --nest usdc-1.0.0.nest.wasm --data ./data --rpc https://node.example
      A built bundle instead of a folder.
  nuthatch dev --backfill 5000 --rpc https://node.example
      Only the last 5,000 blocks and what follows.")]
pub struct DevArgs {
    /// Nest folder; may be given again [default without --nest: this folder]
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub dir: Vec<PathBuf>,
    /// Bundle file, run as it is; may be given again, needs --data
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub nest: Vec<PathBuf>,
    /// Endpoint of a node, or file:///….jsonl of a recorded chain; may be given again
    #[arg(long, value_name = "[CHAIN=]URL", num_args = 1..)]
    pub rpc: Vec<RpcArg>,
    /// Longest wait for one answer of an endpoint before it is asked again
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub rpc_timeout: u64,
    /// Data folder; needed with more than one --dir or with --nest [default: DIR/.nuthatch]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Where sealed history goes: a folder, or s3://bucket/prefix [default: `segments` in the data folder]
    #[arg(long, value_name = "PLACE")]
    pub segments: Option<String>,
    /// Rows that fill a segment, for tests: other numbers make other files than everybody else's
    #[arg(long, value_name = "N", default_value_t = SEGMENT_ROWS, hide = true)]
    pub segment_rows: u64,
    /// Where HTTP is answered
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8288")]
    pub listen: SocketAddr,
    /// Begin N blocks before the head instead of at the start block; fixed at the first start
    #[arg(long, value_name = "N")]
    pub backfill: Option<u64>,
}

/// How long the nodes of a chain that has rows already are waited for before these are served.
const NODE_PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn run(args: DevArgs) -> anyhow::Result<()> {
    let folders = match args.dir.as_slice() {
        [] if args.nest.is_empty() => vec![PathBuf::from(".")],
        given => given.to_vec(),
    };
    let (data, folder) = match (&args.data, folders.as_slice(), args.nest.as_slice()) {
        (Some(data), ..) => (data.clone(), Folder::Shared),
        (None, [dir], []) => (data_folder(dir), Folder::OfOneNest),
        (None, ..) => {
            return Err(Usage::error(
                "with more than one --dir, or with --nest, the data needs a folder of its own: give --data FOLDER",
            ));
        }
    };
    let origins = folders.iter().cloned().map(NestOrigin::Folder);
    let origins = origins.chain(args.nest.into_iter().map(NestOrigin::Bundle)).collect();
    let listener = process::listen(args.listen).await?;
    let metrics = process::Metrics::install()?;
    let host = Arc::new(PluginHost::new(PluginLimits::default())?);
    let nests = nests::load(host, origins, args.backfill).await?;
    let in_use: Vec<ChainId> = nests.keys().copied().collect();
    let urls = RpcSources::new(args.rpc, folders.iter().map(PathBuf::as_path))?;
    let limits = RpcLimits { call_timeout: Duration::from_secs(args.rpc_timeout), ..RpcLimits::default() };
    let stop = process::stop_on_signals()?;
    let stored = chains_in(&data)?;
    let mut chains = Vec::new();
    for (chain, nests) in nests {
        let endpoints = urls.urls(chain, &in_use)?;
        // What was indexed before is served even while no node answers.
        let patience = if stored.contains(&chain) { NODE_PATIENCE } else { Duration::MAX };
        let source = tokio::select! {
            source = source::open(chain, &endpoints, limits.clone(), Contact::AtOnce) => source?,
            () = tokio::time::sleep(patience) => {
                tracing::warn!(chain = chain.0, "no node answers yet; serving what is here, and trying on");
                source::open(chain, &endpoints, limits.clone(), Contact::WhenNeeded).await?
            }
            () = stop.cancelled() => return Ok(()),
        };
        chains.push(ChainPlan { source, nests });
    }
    let sealing = Sealing { place: args.segments, rows: args.segment_rows };
    let plan = EmbeddedPlan { data, chains, sealing, settings: Settings::default(), folder, until: Until::Stopped };
    let embedded = Embedded::start(plan, stop.clone()).await?;
    let engine = process::engine(&embedded)?;
    warn_of_broken_views(&engine).await;
    process::serve_until_stopped(embedded, engine, listener, metrics, stop).await
}

/// A view that cannot be planned keeps nothing from being indexed; whoever wrote it hears of it now rather than at the
/// first query.
async fn warn_of_broken_views(engine: &QueryEngine) {
    for info in engine.endpoints().await.unwrap_or_default() {
        let nest = info.endpoint.name;
        let Ok(description) = engine.describe(&nest).await else { continue };
        for view in description.tables {
            if let Some(reason) = view.broken {
                tracing::warn!("view '{}' of nest '{nest}' cannot be queried: {reason}", view.name);
            }
        }
    }
}
