//! A long chain of token transfers, made as it is asked for: as recording, as parsed logs, or over JSON-RPC.
//!
//! Any block and any log is a function of its number, so a million logs take no memory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use nuthatch::chain::parse_logs_answer;
use nuthatch::model::{ChainId, LogBatch};
use serde_json::Value;

use crate::token::ABI;

/// The chain's id.
pub const CHAIN_ID: u64 = 31_337;
/// The one contract.
pub const TOKEN: &str = "0x00000000000000000000000000000000000e20e2";
/// The table of its transfers.
pub const TABLE: &str = "token__transfer";
const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/// So many transfers in each block but the first.
#[derive(Clone, Copy, Debug)]
pub struct LongChain {
    /// Logs of a block.
    pub logs_per_block: u64,
}

fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z ^ (z >> 32)
}

fn block_hash(number: u64) -> String {
    format!("0xb10c{:060x}", number)
}

fn time(number: u64) -> u64 {
    1_700_000_000 + 12 * number
}

impl LongChain {
    /// One log as JSON-RPC spells it, `extra` put first into the object.
    fn write_log(&self, out: &mut String, extra: &str, block: u64, log: u64) {
        let seed = block * self.logs_per_block + log;
        let (from, to, tx) = (mix(seed) % 5_000, mix(seed + 1) % 5_000, mix(seed + 2));
        let (high, low) = (mix(seed + 3) >> 40, mix(seed + 4));
        let _ = write!(
            out,
            "{{{extra}\"address\":\"{TOKEN}\",\"topics\":[\"{TRANSFER}\",\"0x{from:064x}\",\"0x{to:064x}\"],\
             \"data\":\"0x{high:048x}{low:016x}\",\"blockNumber\":\"{block:#x}\",\"blockHash\":\"{}\",\
             \"blockTimestamp\":\"{:#x}\",\"transactionHash\":\"0x{tx:064x}\",\"transactionIndex\":\"{:#x}\",\
             \"logIndex\":\"{log:#x}\",\"removed\":false}}",
            block_hash(block),
            time(block),
            log / 2,
        );
    }

    /// An answer to `eth_getLogs` over these blocks.
    pub fn logs_answer(&self, first: u64, last: u64) -> String {
        let mut out = String::from("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":");
        self.write_logs(&mut out, first, last);
        out.push('}');
        out
    }

    fn write_logs(&self, out: &mut String, first: u64, last: u64) {
        out.push('[');
        let from = out.len();
        for block in first.max(1)..=last {
            for log in 0..self.logs_per_block {
                if out.len() > from {
                    out.push(',');
                }
                self.write_log(out, "", block, log);
            }
        }
        out.push(']');
    }

    /// The logs of these blocks, through the parser of the RPC source.
    pub fn batch(&self, first: u64, last: u64) -> LogBatch {
        parse_logs_answer(self.logs_answer(first, last).as_bytes(), ChainId(CHAIN_ID))
            .expect("the logs are well formed")
    }

    /// Writes a recording of plain logs up to block `last`.
    pub fn record(&self, path: &Path, last: u64) -> std::io::Result<()> {
        use std::io::Write as _;
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let extra = format!("\"chainId\":{CHAIN_ID},");
        let mut line = String::new();
        for block in 1..=last {
            for log in 0..self.logs_per_block {
                line.clear();
                self.write_log(&mut line, &extra, block, log);
                line.push('\n');
                file.write_all(line.as_bytes())?;
            }
        }
        file.flush()
    }
}

/// Writes the nest `token` for the one contract; gives its folder.
pub fn write_nest(parent: &Path) -> std::io::Result<PathBuf> {
    let folder = parent.join("token");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("abi.json"), ABI)?;
    let toml = format!(
        "[nest]\nname = \"token\"\nversion = \"1.0.0\"\nchain = \"eip155:{CHAIN_ID}\"\n[[contracts]]\nalias = \
         \"token\"\naddress = \"{TOKEN}\"\nstart_block = 1\nabi = \"abi.json\"\n"
    );
    std::fs::write(folder.join("nest.toml"), toml)?;
    Ok(folder)
}

/// A JSON-RPC server for a long chain. Stops when dropped.
pub struct LongRpc {
    shared: Arc<Shared>,
    url: String,
    server: tokio::task::JoinHandle<()>,
}

struct Shared {
    chain: LongChain,
    head: AtomicU64,
    /// Blocks that the final one lies below the head.
    depth: u64,
}

impl Drop for LongRpc {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl LongRpc {
    /// Serves the chain up to block `head`, final but for the last `depth` blocks.
    pub async fn start(chain: LongChain, head: u64, depth: u64) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { chain, head: AtomicU64::new(head), depth });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let router = Router::new().route("/", post(serve)).with_state(shared.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(LongRpc { shared, url, server })
    }

    /// Where it serves.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Goes on by so many blocks; gives the new head.
    pub fn advance(&self, blocks: u64) -> u64 {
        self.shared.head.fetch_add(blocks, Ordering::SeqCst) + blocks
    }
}

async fn serve(State(shared): State<Arc<Shared>>, body: Bytes) -> String {
    match serde_json::from_slice::<Value>(&body) {
        Ok(Value::Array(calls)) => {
            let answers: Vec<String> = calls.iter().map(|call| shared.answer(call)).collect();
            format!("[{}]", answers.join(","))
        }
        Ok(call) => shared.answer(&call),
        Err(error) => {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{{\"code\":-32700,\"message\":\"{error}\"}}}}")
        }
    }
}

impl Shared {
    fn answer(&self, call: &Value) -> String {
        let head = self.head.load(Ordering::SeqCst);
        let mut out = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},", call["id"]);
        let params = &call["params"];
        match call["method"].as_str().unwrap_or_default() {
            "eth_chainId" => out.push_str(&format!("\"result\":\"{CHAIN_ID:#x}\"")),
            "eth_blockNumber" => out.push_str(&format!("\"result\":\"{head:#x}\"")),
            "eth_getBlockByNumber" => {
                let number = match params[0].as_str() {
                    Some("latest") => head,
                    Some("finalized") => head.saturating_sub(self.depth),
                    _ => quantity(&params[0]),
                };
                out.push_str("\"result\":");
                out.push_str(&if number <= head { header(number) } else { "null".to_owned() });
            }
            "eth_getBlockByHash" => {
                out.push_str("\"result\":");
                out.push_str(&number_of_hash(&params[0]).map_or("null".to_owned(), header));
            }
            "eth_getLogs" => {
                let filter = &params[0];
                let (first, last) = match number_of_hash(&filter["blockHash"]) {
                    Some(number) => (number, number),
                    None => (quantity(&filter["fromBlock"]), quantity(&filter["toBlock"]).min(head)),
                };
                out.push_str("\"result\":");
                self.chain.write_logs(&mut out, first, last);
            }
            method => out.push_str(&format!("\"error\":{{\"code\":-32601,\"message\":\"no {method} here\"}}")),
        }
        out.push('}');
        out
    }
}

fn quantity(value: &Value) -> u64 {
    let digits = value.as_str().unwrap_or_default().trim_start_matches("0x");
    u64::from_str_radix(digits, 16).unwrap_or_default()
}

fn number_of_hash(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0xb10c")?, 16).ok()
}

fn header(number: u64) -> String {
    let parent = number.checked_sub(1).map_or_else(|| format!("0x{:064x}", 0), block_hash);
    format!(
        "{{\"number\":\"{number:#x}\",\"hash\":\"{}\",\"parentHash\":\"{parent}\",\"timestamp\":\"{:#x}\",\
         \"logsBloom\":null,\"transactions\":[]}}",
        block_hash(number),
        time(number)
    )
}
