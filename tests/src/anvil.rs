//! A real EVM node, and a contract that logs whatever it is told.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// keccak256("Transfer(address,address,uint256)").
pub const TRANSFER: &str = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// Runtime code of the emitter: its call data is three topics, then the data of one log.
const EMITTER: &str = "0x36606090038060605f376040356020355f35835fa300";

/// The first account of Anvil's own.
const ACCOUNT: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

/// A running Anvil on a free port. Ends when dropped.
pub struct Anvil {
    _child: Child,
    url: String,
    http: reqwest::Client,
}

impl Anvil {
    /// Starts a node whose blocks and hashes repeat from run to run. The binary is named by `NUTHATCH_ANVIL`, which
    /// `tests/run` sets.
    pub async fn start() -> Result<Self> {
        let binary =
            std::env::var("NUTHATCH_ANVIL").context("NUTHATCH_ANVIL is not set; run the tests with tests/run")?;
        let http = crate::process::client(Duration::from_secs(30))?;
        for _ in 0..10 {
            let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut child = Command::new(&binary)
                .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--silent", "--timestamp", "1700000000"])
                .kill_on_drop(true)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .with_context(|| format!("{binary} does not start"))?;
            let url = format!("http://127.0.0.1:{port}");
            let started = Instant::now();
            while started.elapsed() < Duration::from_secs(20) && child.try_wait()?.is_none() {
                if rpc(&http, &url, "eth_chainId", json!([])).await.is_ok() {
                    let anvil = Anvil { _child: child, url, http };
                    anvil.call("anvil_setBlockTimestampInterval", json!([12])).await?;
                    return Ok(anvil);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        bail!("Anvil does not come up")
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// One JSON-RPC call.
    pub async fn call(&self, method: &str, params: Value) -> Result<Value> {
        rpc(&self.http, &self.url, method, params).await
    }

    /// Puts the emitter at this address.
    pub async fn place_emitter(&self, address: &str) -> Result<()> {
        self.call("anvil_setCode", json!([address, EMITTER])).await.map(|_| ())
    }

    /// Mines one block with one ERC-20 `Transfer` of `value`, emitted by `contract`.
    pub async fn emit_transfer(&self, contract: &str, value: u64) -> Result<()> {
        self.call("eth_sendTransactionSync", json!([transfer_transaction(contract, value)])).await.map(|_| ())
    }

    /// Height of the chain.
    pub async fn height(&self) -> Result<u64> {
        let text = self.call("eth_blockNumber", json!([])).await?;
        hex_number(&text)
    }

    /// Replaces the last `depth` blocks by as many new ones, the i-th of which emits `values[i]`.
    pub async fn reorg(&self, contract: &str, depth: u64, values: &[u64]) -> Result<()> {
        let pairs: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(offset, value)| json!([transfer_transaction(contract, *value), offset]))
            .collect();
        self.call("anvil_reorg", json!([depth, pairs])).await.map(|_| ())
    }
}

/// `0x1a` as a number.
pub fn hex_number(value: &Value) -> Result<u64> {
    let text = value.as_str().context("not a string")?;
    Ok(u64::from_str_radix(text.trim_start_matches("0x"), 16)?)
}

fn transfer_transaction(contract: &str, value: u64) -> Value {
    let from = format!("{:064x}", 0xa1);
    let to = format!("{:064x}", 0xb2);
    let data = format!("0x{TRANSFER}{from}{to}{value:064x}");
    json!({"from": ACCOUNT, "to": contract, "data": data, "gas": "0x30d40"})
}

async fn rpc(http: &reqwest::Client, url: &str, method: &str, params: Value) -> Result<Value> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer: Value = http.post(url).json(&request).send().await?.json().await?;
    if let Some(error) = answer.get("error") {
        bail!("{method}: {error}");
    }
    Ok(answer["result"].clone())
}
