//! Nest folders for the mock chain's tokens, and what a user reads of them.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::Value;

use crate::mock_rpc::MockChain;
use crate::process::Dev;

/// The ABI of a mock token.
pub const ABI: &str = r#"[
  {"type":"event","name":"Transfer","anonymous":false,"inputs":[
    {"name":"from","type":"address","indexed":true},{"name":"to","type":"address","indexed":true},
    {"name":"value","type":"uint256","indexed":false}]},
  {"type":"event","name":"Approval","anonymous":false,"inputs":[
    {"name":"owner","type":"address","indexed":true},{"name":"spender","type":"address","indexed":true},
    {"name":"value","type":"uint256","indexed":false}]}]"#;

/// The tables of such a nest that hold its events.
pub const TABLES: [&str; 2] = ["token__transfer", "token__approval"];

/// A nest over some tokens of a mock chain, all under the alias `token`.
#[derive(Clone, Debug)]
pub struct MockNest {
    /// Its name, and the name of its folder.
    pub name: &'static str,
    /// First block.
    pub start_block: u64,
    /// Places of its tokens in [`MockChain::contracts`].
    pub tokens: std::ops::Range<usize>,
}

impl MockNest {
    /// Writes the nest's folder into `parent`.
    pub fn write(&self, parent: &Path, chain: &MockChain) -> Result<PathBuf> {
        let folder = parent.join(self.name);
        std::fs::create_dir_all(folder.join("abis"))?;
        std::fs::write(folder.join("abis/token.json"), ABI)?;
        let contracts = chain.contracts();
        let addresses: Vec<String> =
            contracts[self.tokens.clone()].iter().map(|token| format!("\"{token:#x}\"")).collect();
        let toml = format!(
            "[nest]\nname = \"{}\"\nversion = \"1.0.0\"\nchain = \"eip155:{}\"\n\n[[contracts]]\nalias = \"token\"\n\
             address = [{}]\nstart_block = {}\nabi = \"abis/token.json\"\n",
            self.name,
            chain.chain_id(),
            addresses.join(", "),
            self.start_block,
        );
        std::fs::write(folder.join("nest.toml"), toml)?;
        Ok(folder)
    }
}

/// Every row of the nest, table by table, in the order of the chain.
pub async fn all_rows(dev: &Dev, nest: &str) -> Result<Vec<Value>> {
    let mut rows = Vec::new();
    for table in TABLES.into_iter().chain(["_rejected"]) {
        rows.extend(dev.sql(nest, &format!("SELECT * FROM {table} ORDER BY block_number, log_index")).await?);
    }
    Ok(rows)
}

/// The rows that a fresh index of the chain as it is now gives, over an endpoint without faults.
pub async fn clean_rows(exe: &str, scratch: &Path, chain: &MockChain, nest: &MockNest) -> Result<Vec<Value>> {
    let scratch = tempfile::tempdir_in(scratch)?;
    let folder = nest.write(scratch.path(), chain)?;
    let rpc = crate::mock_rpc::MockRpc::start(chain).await;
    let dev = Dev::start(exe, &folder, &["--rpc", &rpc.url()]).await?;
    dev.wait_at(nest.name, chain.head()).await?;
    let rows = all_rows(&dev, nest.name).await?;
    dev.kill().await?;
    Ok(rows)
}
