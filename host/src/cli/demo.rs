//! `nuthatch demo`: a recorded chain, indexed and queried.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use clap::Args;

use super::RpcArg;

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

pub(super) async fn run(_args: DemoArgs) -> anyhow::Result<()> {
    anyhow::bail!("this build has no `demo` yet")
}
