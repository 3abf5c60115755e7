//! A nest for one ERC-20 that Anvil's emitter plays.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::process::{Dev, run};

/// Where the emitter stands.
pub const TOKEN: &str = "0x00000000000000000000000000000000000e20e2";

/// The ABI of its one event.
pub const ABI: &str = r#"[{"type":"event","name":"Transfer","anonymous":false,"inputs":[
  {"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},
  {"name":"value","type":"uint256","indexed":false}]}]"#;

/// Every row in order, with what a reorg would change.
pub const ROWS: &str = "SELECT block_number, block_hash, block_timestamp, tx_hash, log_index, from_, to_, value \
                        FROM token__transfer ORDER BY block_number, log_index";

/// Makes the nest `token` in a folder of its own with `nuthatch init`.
pub async fn make_nest(exe: &str, parent: &Path, rpc: &str) -> Result<PathBuf> {
    let abi = parent.join("token.json");
    std::fs::write(&abi, ABI)?;
    let folder = parent.join("token");
    let arguments = [
        "init",
        TOKEN,
        "--abi",
        &abi.display().to_string(),
        "--alias",
        "token",
        "--rpc",
        rpc,
        "--start-block",
        "0",
        "--dir",
        &folder.display().to_string(),
        "--name",
        "token",
    ];
    let done = run(exe, parent, &arguments).await?;
    ensure!(done.code == 0, "init: {}{}", done.stdout, done.stderr);
    Ok(folder)
}

/// The rows that a fresh index of the chain as it is now gives.
pub async fn clean_index(exe: &str, nest: &Path, scratch: &Path, rpc: &str, height: u64) -> Result<Vec<Value>> {
    let data = scratch.join(format!("clean-{}", rand::random::<u64>()));
    let data = data.display().to_string();
    let dev = Dev::start(exe, nest, &["--data", &data, "--rpc", rpc]).await?;
    dev.wait_done_to("token", height).await?;
    let rows = dev.sql("token", ROWS).await?;
    dev.kill().await?;
    Ok(rows)
}
