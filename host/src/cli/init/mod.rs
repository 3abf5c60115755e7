//! `nuthatch init`: a new nest folder for contracts that exist.

mod abi;
mod contracts;
mod folder;
mod names;
mod sourcify;
mod start_block;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use nuthatch_registry::{Chain, ContractAddress, NestName};

use super::{ChainArg, Output, RpcArg, Usage, source};
use crate::chain::{RpcLimits, Source};
use crate::model::ChainId;
use crate::plugin::nest_folder::{self, DecoderChoice};
use crate::plugin::{PluginHost, PluginLimits};
use folder::NewNest;

/// Make a nest folder for one or more contracts
///
/// Writes nest.toml, the ABIs, an example view, .gitignore and a README. The ABI comes from --abi, else from Sourcify;
/// behind a proxy the implementation's events come along. The start block is the contract's deployment, where that can
/// be found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Several addresses: with one --abi for all they become one contract entry, with one --abi for each they become several.
Several --abi for one address are merged (proxy and implementation).

NUTHATCH_SOURCIFY_URL names another Sourcify server; the default is https://sourcify.dev/server.

Examples:
  nuthatch init 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 --chain mainnet --dir usdc
  nuthatch init 0x5FbDB2315678afecb367f032d93F642f64180aa3 --abi out/Counter.json --rpc http://127.0.0.1:8545 --dir counter
      Chain and start block are asked from the node.")]
pub struct InitArgs {
    /// Contract; may be given again
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<ContractAddress>,
    /// Chain: a name such as mainnet, base or polygon, or eip155:<id> [default: asked from --rpc]
    #[arg(long)]
    chain: Option<ChainArg>,
    /// ABI file: plain, or an artifact of Foundry, Hardhat or Truffle; may be given again
    #[arg(long, value_name = "FILE", num_args = 1..)]
    abi: Vec<PathBuf>,
    /// Prefix of the contract's tables, one for each contract entry [default: the ABI's or contract's name]
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = parse_alias)]
    alias: Vec<String>,
    /// Node to ask for the chain and the start block
    #[arg(long, value_name = "URL")]
    rpc: Option<RpcArg>,
    /// First block to index [default: the deployment's, else 0]
    #[arg(long, value_name = "BLOCK")]
    start_block: Option<u64>,
    /// Folder to write, made if absent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Name of the nest [default: the folder's name]
    #[arg(long)]
    name: Option<NestName>,
}

fn parse_alias(text: &str) -> Result<String, String> {
    if nuthatch_registry::is_alias(text) {
        Ok(text.to_owned())
    } else {
        Err("a lower-case letter, then letters, digits and single underscores".to_owned())
    }
}

pub(super) async fn run(args: InitArgs) -> anyhow::Result<()> {
    folder::require_no_nest(&args.dir)?;
    let mut addresses = args.addresses.clone();
    addresses.sort();
    if let Some(twice) = addresses.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Usage::error(format!("{} is given twice", twice[0])));
    }
    let node = match &args.rpc {
        Some(rpc) => Some(node(rpc).await?),
        None => None,
    };
    let source = node.as_deref();
    let chain = chain(&args, source)?;
    let found = contracts::gather(&args, chain, source).await?;
    let nest = NewNest { name: name(&args, &found.contracts)?, chain, contracts: found.contracts };

    // Built before anything is written: what the decoder refuses is told now, and the tables are known.
    let draft = folder::draft(&nest);
    let built = tokio::task::spawn_blocking(move || -> anyhow::Result<_> {
        let host = PluginHost::new(PluginLimits::default())?;
        Ok(nest_folder::build_files(&host, &draft, DecoderChoice::Locked)?)
    })
    .await??;
    let tables = &built.bundle.manifest().tables;
    folder::write(&args.dir, &nest, tables)?;
    nest_folder::write_lock(&args.dir, &built)
        .with_context(|| format!("{} cannot be written", args.dir.join("nest.lock").display()))?;

    let mut output = Output::new();
    output.line(format!("Nest '{}' for {} in {}", nest.name, nest.chain, args.dir.display()))?;
    for line in &found.notes {
        output.line(format!("  {line}"))?;
    }
    output.line("Tables:")?;
    for table in tables {
        output.line(format!("  {}", table.name))?;
    }
    let dir = if args.dir.as_os_str() == "." { String::new() } else { format!(" --dir {}", args.dir.display()) };
    output.line(format!("Next:\n  nuthatch dev{dir} --rpc URL\n  nuthatch sql 'SELECT * FROM events_by_day'"))?;
    output.finish()
}

/// The node at --rpc. Somebody waits at the terminal, so it is not tried for long.
async fn node(rpc: &RpcArg) -> anyhow::Result<Arc<dyn Source>> {
    let mut limits = RpcLimits { call_timeout: Duration::from_secs(15), ..RpcLimits::default() };
    limits.retry.attempts = 3;
    let chain =
        source::probe(&rpc.url, &limits).await.context("the node at --rpc does not tell which chain it serves")?;
    Ok(source::open(chain, std::slice::from_ref(&rpc.url), limits, source::Contact::AtOnce).await?)
}

fn chain(args: &InitArgs, source: Option<&dyn Source>) -> anyhow::Result<Chain> {
    let named = args.chain.as_ref().or(args.rpc.as_ref().and_then(|rpc| rpc.chain.as_ref()));
    match (named, source.map(|source| source.chain_id())) {
        (Some(named), Some(ChainId(id))) if named.0.0 != id => Err(anyhow::anyhow!(
            "the node at --rpc serves chain {}, not {}; give the node of that chain, or leave out --chain",
            Chain(id),
            named.0
        )),
        (Some(named), _) => Ok(named.0),
        (None, Some(ChainId(id))) => Ok(Chain(id)),
        (None, None) => Err(Usage::error(
            "the chain is not known; name it with --chain (such as --chain mainnet), or give --rpc URL to ask a node",
        )),
    }
}

fn name(args: &InitArgs, contracts: &[folder::NewContract]) -> anyhow::Result<NestName> {
    if let Some(name) = &args.name {
        return Ok(name.clone());
    }
    let folder = std::path::absolute(&args.dir).unwrap_or_else(|_| args.dir.clone());
    let from_folder = folder.file_name().and_then(|name| names::nest_name_of(&name.to_string_lossy()));
    from_folder
        .or_else(|| names::nest_name_of(&contracts.first()?.alias))
        .ok_or_else(|| Usage::error("no nest name can be made from the folder's name; give one with --name"))
}
