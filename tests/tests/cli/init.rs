//! `nuthatch init`

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::*;

/// A node of chain 100: the contract has code from `deployed`, and state is kept from `oldest`.
#[derive(Clone)]
struct Node {
    deployed: u64,
    oldest: u64,
    head: u64,
    calls: Arc<AtomicUsize>,
}

impl Node {
    fn new(deployed: u64, oldest: u64, head: u64) -> Self {
        Node { deployed, oldest, head, calls: Arc::default() }
    }

    fn answer(&self, request: &Value) -> Value {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let number = |text: &Value| match text.as_str().unwrap() {
            "latest" => self.head,
            hex => u64::from_str_radix(hex.strip_prefix("0x").unwrap(), 16).unwrap(),
        };
        let params = &request["params"];
        let outcome = match request["method"].as_str().unwrap() {
            "eth_chainId" => Ok(json!("0x64")),
            "eth_blockNumber" => Ok(json!(format!("{:#x}", self.head))),
            "eth_getBlockByNumber" => {
                let at = number(&params[0]);
                let hash = |number: u64| format!("0x{:064x}", number + 1);
                Ok(json!({"number": format!("{at:#x}"), "hash": hash(at), "parentHash": hash(at.wrapping_sub(1)),
                    "timestamp": "0x1"}))
            }
            "eth_getCode" => match number(&params[1]) {
                at if at < self.oldest => Err("missing trie node"),
                at if at < self.deployed => Ok(json!("0x")),
                _ => Ok(json!("0x6001")),
            },
            _ => Err("unknown method"),
        };
        let id = &request["id"];
        match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(message) => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}}),
        }
    }

    async fn start(&self) -> String {
        let handle = |State(node): State<Node>, Json(body): Json<Value>| async move {
            Json(match &body {
                Value::Array(requests) => requests.iter().map(|request| node.answer(request)).collect(),
                request => node.answer(request),
            })
        };
        serve(Router::new().route("/", post(handle)).with_state(self.clone())).await
    }
}

#[tokio::test]
async fn a_folder_is_made_that_builds_and_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("Counter.json"), ABI).unwrap();
    let args = ["init", CONTRACT, "--abi", "Counter.json", "--chain", "gnosis", "--start-block", "7", "--dir", "walk"];
    let made = run(dir.path(), &args).await;
    done(&made);
    assert!(made.stdout.contains("counter__counted"), "{}", made.stdout);
    let nest = dir.path().join("walk");
    let toml = read(nest.join("nest.toml"));
    for line in ["name = \"walk\"", "chain = \"gnosis\"", "alias = \"counter\"", CONTRACT, "start_block = 7"] {
        assert!(toml.contains(line), "{line} is not in: {toml}");
    }
    for file in ["abis/counter.json", "views/events_by_day.sql", "README.md", "nest.lock"] {
        assert!(nest.join(file).is_file(), "{file}");
    }
    let ignored = read(nest.join(".gitignore"));
    assert!(ignored.lines().any(|line| line == ".nuthatch/") && ignored.lines().any(|line| line == ".env"));
    done(&run(dir.path(), &["bundle", "build", "walk"]).await);

    refused(&run(dir.path(), &args).await, 1, &["walk/nest.toml", "--dir"]);
    assert_eq!(read(nest.join("nest.toml")), toml);
}

#[tokio::test]
async fn several_addresses_share_one_abi_or_have_one_each() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["A.json", "B.json"] {
        std::fs::write(dir.path().join(name), ABI).unwrap();
    }
    let with = |rest: &[&'static str]| [&["init", CONTRACT, OTHER, "--chain", "1"], rest].concat();
    done(&run(dir.path(), &with(&["--dir", "one", "--abi", "A.json"])).await);
    assert_eq!(read(dir.path().join("one/nest.toml")).matches("[[contracts]]").count(), 1);
    done(&run(dir.path(), &with(&["--dir", "two", "--abi", "A.json", "B.json", "--alias", "left", "right"])).await);
    let two = read(dir.path().join("two/nest.toml"));
    assert!(two.contains("alias = \"left\"") && two.contains("alias = \"right\""), "{two}");
    let three = run(dir.path(), &with(&["--dir", "three", "--abi", "A.json", "B.json", "A.json"])).await;
    refused(&three, 2, &["2 addresses and 3 ABI files"]);
    assert!(!dir.path().join("three").exists());
}

#[tokio::test]
async fn each_wrong_input_has_its_own_error_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("none.json"), r#"[{"type":"function","name":"f","inputs":[],"outputs":[]}]"#)
        .unwrap();
    std::fs::write(dir.path().join("a.json"), ABI).unwrap();
    let mistyped = CONTRACT.replace("678afecb", "678afecB");
    for (args, code, says) in [
        (vec!["init", &CONTRACT[..41], "--chain", "1"], 2, "40 hex digits"),
        (vec!["init", &mistyped, "--chain", "1"], 2, "checksum"),
        (vec!["init", CONTRACT, "--chain", "minnet"], 2, "did you mean 'mainnet'"),
        (vec!["init", CONTRACT, CONTRACT, "--chain", "1", "--abi", "a.json"], 2, "given twice"),
        (vec!["init", CONTRACT, "--abi", "a.json"], 2, "--chain mainnet"),
        (vec!["init", CONTRACT, "--chain", "1", "--abi", "none.json"], 1, "none.json has no events"),
        (vec!["init", CONTRACT, "--chain", "1", "--abi", "absent.json"], 1, "absent.json cannot be read"),
        (vec!["init", CONTRACT, "--chain", "1", "--abi", "a.json", "--alias", "A"], 2, "lower-case letter"),
        (vec!["init", CONTRACT, "--chain", "1"], 1, "use --abi FILE"),
    ] {
        refused(&run(dir.path(), &args).await, code, &[says]);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn the_node_tells_chain_and_deployment_block() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.json"), ABI).unwrap();
    let init = |dir_name: &'static str, url: String| {
        let at = dir.path();
        async move { run(at, &["init", CONTRACT, "--abi", "a.json", "--dir", dir_name, "--rpc", &url]).await }
    };
    for (name, deployed) in [("first", 0), ("middle", 6_082_465), ("head", 20_000_000)] {
        let node = Node::new(deployed, 0, 20_000_000);
        done(&init(name, node.start().await).await);
        let toml = read(dir.path().join(name).join("nest.toml"));
        assert!(toml.contains(&format!("start_block = {deployed}\n")) && toml.contains("\"gnosis\""), "{toml}");
        assert!(node.calls.load(Ordering::Relaxed) < 40, "{} calls", node.calls.load(Ordering::Relaxed));
    }
    let pruned = init("pruned", Node::new(500, 900, 1_000).start().await).await;
    done(&pruned);
    assert!(pruned.stdout.contains("start block 0, because the node does not tell"), "{}", pruned.stdout);
    assert!(read(dir.path().join("pruned/nest.toml")).contains("start_block = 0\n"));

    refused(&init("absent", Node::new(2_000, 0, 1_000).start().await).await, 1, &["has no code", "--start-block"]);
    let url = Node::new(0, 0, 10).start().await;
    let args = ["init", CONTRACT, "--abi", "a.json", "--chain", "base", "--dir", "w", "--rpc", &url];
    refused(&run(dir.path(), &args).await, 1, &["serves chain gnosis, not base"]);
    let down = init("down", "http://127.0.0.1:1/s3cret-key".to_owned()).await;
    refused(&down, 1, &["127.0.0.1:1"]);
    assert!(!down.stderr.contains("s3cret"), "{}", down.stderr);
}

#[tokio::test]
async fn sourcify_gives_the_abi_behind_a_proxy_and_the_deployment_block() {
    let dir = tempfile::tempdir().unwrap();
    let abi = |event: &str| json!([{"type": "event", "name": event, "inputs": [], "anonymous": false}]);
    let proxy = json!({
        "abi": abi("Upgraded"), "compilation": {"name": "Proxy"}, "deployment": {"blockNumber": "1234"},
        "proxyResolution": {"isProxy": true, "proxyType": "EIP1967Proxy", "implementations": [{"address": OTHER}]},
    });
    let implementation = json!({"abi": abi("Transfer"), "compilation": {"name": "GoldToken"}});
    let answer = move |Path((chain, address)): Path<(u64, String)>| async move {
        match (chain, address.as_str()) {
            (100, CONTRACT) => Ok(Json(proxy)),
            (100, OTHER) => Ok(Json(implementation)),
            _ => Err(axum::http::StatusCode::NOT_FOUND),
        }
    };
    let url = serve(Router::new().route("/server/v2/contract/{chain}/{address}", get(answer))).await;
    let url = format!("{url}/server");
    let env = [("NUTHATCH_SOURCIFY_URL", url.as_str())];
    done(&run_env(dir.path(), &["init", CONTRACT, "--chain", "gnosis", "--dir", "gold"], &env).await);
    let toml = read(dir.path().join("gold/nest.toml"));
    assert!(toml.contains("alias = \"gold_token\"") && toml.contains("start_block = 1234\n"), "{toml}");
    let view = read(dir.path().join("gold/views/events_by_day.sql"));
    assert!(view.contains("gold_token__upgraded") && view.contains("gold_token__transfer"), "{view}");

    let unknown = run_env(dir.path(), &["init", CONTRACT, "--chain", "base", "--dir", "none"], &env).await;
    refused(&unknown, 1, &["is not verified at 127.0.0.1", "--abi FILE"]);
}
