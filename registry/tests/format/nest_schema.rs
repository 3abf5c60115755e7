//! `nest.schema.json` and the parser agree.

use std::collections::BTreeSet;

use nuthatch_registry::{Chain, NestToml};
use serde_json::Value;

use super::json_schema::Schema;

const FULL: &str = r#"
[nest]
name = "usdc"
version = "1.3.0-rc.1"
chain = "mainnet"
docs = ["README.md"]
[[contracts]]
alias = "usdc"
address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
start_block = 6082465
abi = "abis/usdc.json"
events = ["Transfer", "Approval(address,address,uint256)"]
[[contracts]]
alias = "pools"
address = ["0xffffffffffffffffffffffffffffffffffffffff", "0x1111111111111111111111111111111111111111"]
abi = ["abis/z.json", "abis/a.json"]
anonymous = ["LogNote"]
[[views]]
name = "daily_volume"
sql = "views/daily_volume.sql"
doc = "Volume of a day"
[[secrets]]
name = "rpc_url"
purpose = "private endpoint for this chain"
"#;

const MINIMAL: &str = r#"
[nest]
name = "x"
version = "0.1.0"
chain = "eip155:31337"
[code]
crate = "."
"#;

fn schema() -> Schema {
    Schema::parse(include_str!("../../../schemas/nest.schema.json"))
}

fn schema_accepts(text: &str) -> bool {
    let toml: toml::Value = toml::from_str(text).unwrap();
    schema().accepts(&serde_json::to_value(toml).unwrap())
}

fn parser_accepts(text: &str) -> bool {
    NestToml::parse(text, "nest.toml").is_ok()
}

/// Where the first text stands in one of the two files, the second in its place.
fn edits() -> Vec<(&'static str, &'static str)> {
    let usdc = "\"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"";
    vec![
        ("name = \"usdc\"", "name = \"u\""),
        ("name = \"usdc\"", "name = \"USDC\""),
        ("name = \"usdc\"", "name = \"9lives\""),
        ("name = \"usdc\"", "name = \"\""),
        ("name = \"usdc\"", "name = 5"),
        ("name = \"usdc\"", ""),
        ("name = \"usdc\"", "name = \"usdc\"\nurl = \"http://x\""),
        ("1.3.0-rc.1", "1.3.0"),
        ("1.3.0-rc.1", "1.3"),
        ("1.3.0-rc.1", "01.3.0"),
        ("1.3.0-rc.1", "1.3.0-01"),
        ("1.3.0-rc.1", "1.3.0-0a"),
        ("1.3.0-rc.1", "1.3.0+x"),
        ("1.3.0-rc.1", "v1.3.0"),
        ("\"mainnet\"", "\"base\""),
        ("\"mainnet\"", "\"eip155:1\""),
        ("\"mainnet\"", "\"eip155:0\""),
        ("\"mainnet\"", "\"eip155:01\""),
        ("\"mainnet\"", "\"Mainnet\""),
        ("\"mainnet\"", "1"),
        ("[\"README.md\"]", "[]"),
        ("[\"README.md\"]", "\"README.md\""),
        ("README.md", "../README.md"),
        ("README.md", "a/./b"),
        ("README.md", "a/.."),
        ("README.md", "/README.md"),
        ("README.md", "a//b"),
        ("README.md", "..."),
        ("README.md", ".hidden/..x"),
        ("README.md", "read me.md"),
        ("alias = \"usdc\"", "alias = \"usdc_2\""),
        ("alias = \"usdc\"", "alias = \"usdc__2\""),
        ("alias = \"usdc\"", "alias = \"usdc_\""),
        ("alias = \"usdc\"", "alias = \"_usdc\""),
        ("alias = \"usdc\"", ""),
        (usdc, "\"0x1\""),
        (usdc, "\"0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48\""),
        (usdc, "\"a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48\""),
        (usdc, "[]"),
        (usdc, "7"),
        (usdc, "[\"0x1\"]"),
        ("address = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"", ""),
        ("6082465", "0"),
        ("6082465", "-1"),
        ("6082465", "1.5"),
        ("6082465", "\"latest\""),
        ("abi = \"abis/usdc.json\"", ""),
        ("abi = \"abis/usdc.json\"", "abi = []"),
        ("abi = \"abis/usdc.json\"", "abi = [\"a.json\"]"),
        ("abi = \"abis/usdc.json\"", "abi = [\"a.json\", \"a.json\"]"),
        ("abi = \"abis/usdc.json\"", "abi = \"https://x/a.json\""),
        ("events = [\"Transfer\", \"Approval(address,address,uint256)\"]", "events = []"),
        ("events = [\"Transfer\", \"Approval(address,address,uint256)\"]", "events = \"Transfer\""),
        ("\"Approval(address,address,uint256)\"", "\"Transfer\""),
        ("\"Approval(address,address,uint256)\"", "\"a b\""),
        ("\"Approval(address,address,uint256)\"", "\"T((uint8[2],address)[])\""),
        ("anonymous = [\"LogNote\"]", "anonymous = []"),
        ("anonymous = [\"LogNote\"]", "anonymus = []"),
        ("name = \"daily_volume\"", "name = \"_status\""),
        ("name = \"daily_volume\"", "name = \"Daily\""),
        ("sql = \"views/daily_volume.sql\"", ""),
        ("sql = \"views/daily_volume.sql\"", "sql = \"SELECT 1\""),
        ("doc = \"Volume of a day\"", ""),
        ("doc = \"Volume of a day\"", "doc = \"line\\n\\tline\""),
        ("doc = \"Volume of a day\"", "doc = \"\\u001b[31m\""),
        ("name = \"rpc_url\"", "name = \"RPC\""),
        ("purpose = \"private endpoint for this chain\"", ""),
        ("purpose = \"private endpoint for this chain\"", "purpose = \"x\"\nvalue = \"y\""),
        ("crate = \".\"", "crate = \"decoder\""),
        ("crate = \".\"", "crate = \"../decoder\""),
        ("crate = \".\"", ""),
        ("[code]\ncrate = \".\"", ""),
        ("[code]\ncrate = \".\"", "[lua]\nfile = \"x\""),
    ]
}

#[test]
fn parser_and_schema_agree_on_every_edit() {
    assert!(schema_accepts(FULL) && parser_accepts(FULL));
    assert!(schema_accepts(MINIMAL) && parser_accepts(MINIMAL));
    let mut accepted = 0;
    for (from, to) in edits() {
        let base = if FULL.contains(from) { FULL } else { MINIMAL };
        assert!(base.contains(from), "{from}");
        let text = base.replacen(from, to, 1);
        assert_eq!(schema_accepts(&text), parser_accepts(&text), "{from} -> {to}");
        accepted += usize::from(parser_accepts(&text));
    }
    assert!((10..edits().len() - 10).contains(&accepted), "both verdicts are well represented: {accepted}");
}

#[test]
fn the_parser_alone_sees_what_a_schema_cannot_say() {
    for (from, to) in [
        ("0xA0b8", "0xa0b8"),
        ("alias = \"pools\"", "alias = \"usdc\""),
        ("0x1111111111111111111111111111111111111111", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
    ] {
        let text = FULL.replacen(from, to, 1);
        assert!(schema_accepts(&text), "{from} -> {to}");
        assert!(!parser_accepts(&text), "{from} -> {to}");
    }
}

#[test]
fn the_schema_knows_the_same_chains() {
    let schema = schema();
    let listed = schema.json().pointer("/properties/nest/properties/chain/anyOf/0/enum").and_then(Value::as_array);
    let listed: BTreeSet<_> = listed.unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    let known: BTreeSet<_> = Chain::known_names().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(listed, known);
}
