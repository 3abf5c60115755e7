//! `nuthatch demo`: a recorded chain, indexed and queried.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::Args;

use super::{Output, Reporting, RpcArg, nests, process, report, source, sql};
use crate::chain::{ReplayOptions, ReplaySource, RpcLimits, Source};
use crate::cursor::{Settings, Until};
use crate::plugin::nest_folder::{self, DecoderChoice};
use crate::plugin::{PluginHost, PluginLimits};
use crate::worker::{ChainPlan, Embedded, EmbeddedPlan, Folder, Sealing};

/// Index a small recorded chain, print what came out, then serve it
///
/// A few thousand blocks of a token and two pools lie in this program: no network, no setup. The same code runs as in
/// `dev`: fetch, decode in WebAssembly, store, query; the chain has a reorg near its end.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  nuthatch demo --once
  nuthatch demo
      Serves on http://127.0.0.1:8288; ask it with `nuthatch sql`.")]
pub struct DemoArgs {
    /// Leave after the answers are printed
    #[arg(long)]
    pub once: bool,
    /// Replay this chain instead of the one inside: file:///….jsonl or the URL of a node that has it
    #[arg(long, value_name = "URL")]
    pub rpc: Option<RpcArg>,
    /// Where HTTP is answered
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8288", conflicts_with = "once")]
    pub listen: SocketAddr,
}

/// The recorded chain.
pub const CHAIN: &[u8] = include_bytes!("../../assets/demo/chain.jsonl");

/// The files of the nest `demo`: path in the nest folder, contents.
pub const NEST: &[(&str, &str)] = &[
    ("nest.toml", include_str!("../../assets/demo/nest.toml")),
    ("abis/acorn.json", include_str!("../../assets/demo/abis/acorn.json")),
    ("abis/pool.json", include_str!("../../assets/demo/abis/pool.json")),
    ("abis/pair.json", include_str!("../../assets/demo/abis/pair.json")),
    ("views/balances.sql", include_str!("../../assets/demo/views/balances.sql")),
    ("views/daily_volume.sql", include_str!("../../assets/demo/views/daily_volume.sql")),
    ("views/daily_price.sql", include_str!("../../assets/demo/views/daily_price.sql")),
];

/// The nest `demo`, ready for [`nest_folder::build_files`](crate::plugin::nest_folder::build_files).
pub fn nest_files() -> BTreeMap<String, Vec<u8>> {
    NEST.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// What the demo asks, and why.
const QUESTIONS: [(&str, &str); 4] = [
    (
        "What moved, exactly: 256-bit integers are sums of integers, not of floats.",
        "SELECT count(*) AS transfers, sum(value) AS acorns FROM acorn__transfer",
    ),
    (
        "Who approved everything: 2^256-1 is a literal like any other.",
        "SELECT block_number, owner, spender FROM acorn__approval WHERE value = \
         115792089237316195423570985008687907853269984665640564039457584007913129639935",
    ),
    (
        "A view of the nest: the richest accounts.",
        "SELECT account, balance FROM balances ORDER BY balance DESC LIMIT 3",
    ),
    ("Where it stands.", "SELECT block_number, status FROM _status"),
];

pub(super) async fn run(args: DemoArgs) -> anyhow::Result<()> {
    let listener = if args.once { None } else { Some(process::listen(args.listen).await?) };
    let metrics = process::Metrics::install()?;
    let scratch = Scratch::new()?;
    let host = Arc::new(PluginHost::new(PluginLimits::default())?);
    let building = host.clone();
    let (chain, nest) = tokio::task::spawn_blocking(move || {
        let built = nest_folder::build_files(&building, &nest_files(), DecoderChoice::Upgrade)?;
        nests::ready(&building, built.into_loaded(), None)
    })
    .await
    .context("building the nest broke down")??;
    let mut out = Output::new();
    out.line(format!("nest    {} {}, bundle {}", nest.name, nest.version, nest.bundle))?;
    out.line(format!(
        "tables  {}",
        nest.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>().join(", ")
    ))?;
    out.flush()?;

    let (source, until) = match args.rpc {
        None => {
            let recording = scratch.0.join("chain.jsonl");
            std::fs::write(&recording, CHAIN).context("the recorded chain cannot be unpacked")?;
            let options = ReplayOptions { chain: Some(chain), ..ReplayOptions::default() };
            let source: Arc<dyn Source> = Arc::new(ReplaySource::open(&recording, options)?);
            (source, Until::Exhausted)
        }
        Some(rpc) => {
            let until = if rpc.url.scheme() == "file" { Until::Exhausted } else { Until::AtHead };
            (source::open(chain, &[rpc.url], RpcLimits::default(), source::Contact::AtOnce).await?, until)
        }
    };
    let name = nest.name.clone();
    let stop = process::stop_on_signals()?;
    let plan = EmbeddedPlan {
        data: scratch.0.join("data"),
        chains: vec![ChainPlan { source, nests: vec![Arc::new(nest)] }],
        // A recorded head moves at each look.
        settings: Settings::default(),
        sealing: Sealing::default(),
        folder: Folder::Shared,
        until,
    };
    let started = Instant::now();
    let embedded = Embedded::start(plan, stop.clone()).await?;
    let engine = process::engine(&embedded)?;
    let chains = embedded.chains();
    let reported = tokio::spawn(report(embedded.progress(), Reporting::for_stderr()));
    embedded.finished_quietly().await?;
    reported.abort();
    for running in chains.iter() {
        let status = running.status.borrow().clone();
        let head = status.head.unwrap_or_default();
        out.line(format!(
            "chain   {}: up to block {head}, {} logs, {} rows, {} reorg{} followed, {:.1} s",
            status.chain_id,
            status.logs,
            status.rows,
            status.reorgs,
            if status.reorgs == 1 { "" } else { "s" },
            started.elapsed().as_secs_f64()
        ))?;
    }
    if stop.is_cancelled() && args.once {
        return out.finish();
    }
    for (why, sql) in QUESTIONS {
        let answer = engine.query(&name, sql).await.with_context(|| format!("the demo's query failed: {sql}"))?;
        out.line(format!("\n-- {why}\n{sql};"))?;
        out.text(&sql::table_of(&answer.to_json())?)?;
    }
    out.flush()?;
    match listener {
        None => out.finish(),
        Some(listener) => process::serve_only(chains, engine, listener, metrics, stop).await,
    }
}

/// A folder that goes when the demo ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let unique = format!("nuthatch-demo-{}-{:016x}", std::process::id(), rand::random::<u64>());
        let folder = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
