#![allow(clippy::unwrap_used)]

use super::*;

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
events = ["Transfer", "Approval"]

[[contracts]]
alias = "pools"
address = [
  "0xffffffffffffffffffffffffffffffffffffffff",
  "0x1111111111111111111111111111111111111111",
]
abi = ["abis/z.json", "abis/a.json"]
anonymous = ["LogNote"]

[[views]]
name = "daily_volume"
sql = "views/daily_volume.sql"
doc = "Volume of a day"

[[views]]
name = "a_later_view"
sql = "views/later.sql"

[[secrets]]
name = "rpc_url"
purpose = "private endpoint for this chain"

[[secrets]]
name = "rpc_headers"
purpose = "its headers"
"#;

fn parse(text: &str) -> NestToml {
    NestToml::parse(text, "nest.toml").unwrap()
}

fn paths(texts: &[&str]) -> Vec<FilePath> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn every_field_is_read() {
    let nest = parse(FULL);
    assert_eq!(nest.name.as_str(), "usdc");
    assert_eq!(nest.version.to_string(), "1.3.0-rc.1");
    assert_eq!(nest.chain, Chain(1));
    assert_eq!(nest.docs, paths(&["README.md"]));
    assert_eq!(nest.code, CodeSource::Standard);
    let usdc = NestContract {
        alias: "usdc".to_owned(),
        addresses: vec!["0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48".parse().unwrap()],
        start_block: 6082465,
        abis: paths(&["abis/usdc.json"]),
        events: Some(vec!["Approval".to_owned(), "Transfer".to_owned()]),
        anonymous: vec![],
    };
    let pools = NestContract {
        alias: "pools".to_owned(),
        addresses: vec![ContractAddress([0x11; 20]), ContractAddress([0xff; 20])],
        start_block: 0,
        abis: paths(&["abis/z.json", "abis/a.json"]),
        events: None,
        anonymous: vec!["LogNote".to_owned()],
    };
    assert_eq!(nest.contracts, [pools, usdc]);
    assert_eq!(nest.views[0].name, "daily_volume");
    assert_eq!(nest.views[0].doc, "Volume of a day");
    assert_eq!(nest.views[1].sql.as_str(), "views/later.sql");
    assert_eq!(nest.secrets.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["rpc_headers", "rpc_url"]);
    let files: Vec<_> = nest.file_paths().into_iter().collect();
    let expected =
        ["README.md", "abis/a.json", "abis/usdc.json", "abis/z.json", "views/daily_volume.sql", "views/later.sql"];
    assert_eq!(files, paths(&expected));
}

#[test]
fn own_code_needs_neither_abi_nor_contract() {
    let head = "[nest]\nname = \"x\"\nversion = \"0.1.0\"\nchain = \"eip155:987\"\n[code]\ncrate = ";
    let nest = parse(&format!("{head}\".\"\n"));
    assert_eq!(nest.code, CodeSource::Crate(FolderPath::NestFolder));
    assert_eq!(nest.chain, Chain(987));
    let contract = "[[contracts]]\nalias = \"a\"\naddress = \"0x1111111111111111111111111111111111111111\"\n";
    let nest = parse(&format!("{head}\"decoder\"\n{contract}"));
    assert_eq!(nest.code, CodeSource::Crate(FolderPath::Below("decoder".parse().unwrap())));
    assert!(nest.contracts[0].abis.is_empty());
}

#[test]
fn moving_tables_about_changes_nothing() {
    let (before, contracts) = FULL.split_once("[[contracts]]").unwrap();
    let (first, rest) = contracts.split_once("[[contracts]]").unwrap();
    let (second, rest) = rest.split_once("[[views]]").unwrap();
    let moved = format!("{before}[[contracts]]{second}[[contracts]]{first}[[views]]{rest}");
    assert_ne!(moved, FULL);
    assert_eq!(parse(&moved), parse(FULL));
}

#[test]
fn the_plan_config_has_the_agreed_shape() {
    let files = BTreeMap::from([
        ("abis/usdc.json".parse().unwrap(), b"\xef\xbb\xbf[ {\"z\":1,\"a\":2} ]".to_vec()),
        ("abis/z.json".parse().unwrap(), b"{\"abi\":[]}".to_vec()),
        ("abis/a.json".parse().unwrap(), b"[]".to_vec()),
    ]);
    let config = String::from_utf8(parse(FULL).plan_config(&files).unwrap()).unwrap();
    let expected = concat!(
        r#"{"contracts":[{"alias":"pools","addresses":["0x1111111111111111111111111111111111111111","#,
        r#""0xffffffffffffffffffffffffffffffffffffffff"],"start_block":0,"abis":[{"abi":[]},[]],"events":null,"#,
        r#""anonymous":["LogNote"]},{"alias":"usdc","addresses":["0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"],"#,
        r#""start_block":6082465,"abis":[[ {"z":1,"a":2} ]],"events":["Approval","Transfer"],"anonymous":[]}]}"#
    );
    assert_eq!(config, expected);

    let mut broken = files.clone();
    broken.insert("abis/a.json".parse().unwrap(), b"<html>".to_vec());
    assert!(
        matches!(parse(FULL).plan_config(&broken), Err(PlanConfigError::NotJson { path, .. }) if path.as_str() == "abis/a.json")
    );
    broken.remove(&"abis/a.json".parse().unwrap());
    assert!(
        matches!(parse(FULL).plan_config(&broken), Err(PlanConfigError::MissingFile(path)) if path.as_str() == "abis/a.json")
    );
}

#[test]
fn the_manifest_of_a_nest_is_accepted_with_its_files() {
    let nest = parse(FULL);
    let mut builder = crate::BundleBuilder::new(b"\0asm\x0d\0\x01\0".to_vec(), nest.manifest(vec![], vec![]), vec![]);
    for path in nest.file_paths() {
        builder = builder.file(path, b"[]".to_vec());
    }
    let bundle = crate::Bundle::parse(&builder.build().unwrap()).unwrap();
    let manifest = bundle.manifest();
    assert_eq!((manifest.chain_id, manifest.code), (1, CodeKind::Standard));
    assert_eq!(manifest.contracts.len(), 2);
    assert_eq!(manifest.first_block(), 0);
    assert_eq!(manifest.views[0].file.as_str(), "views/daily_volume.sql");
    assert_eq!(manifest.files.len(), 6);
}

/// Replaces the first `from` in the full file by `to`, and gives the error.
fn error_of(from: &str, to: &str) -> String {
    assert!(FULL.contains(from), "{from}");
    let changed = FULL.replacen(from, to, 1);
    NestToml::parse(&changed, "usdc/nest.toml").expect_err(to).to_string()
}

#[test]
fn every_error_has_its_place_and_says_what_to_do() {
    let cases = [
        // (what is replaced, by what, place, part of the message)
        ("name = \"usdc\"", "name = \"USDC\"", "3:8", "'USDC' is not a nest name: a lower-case letter"),
        ("name = \"usdc\"\n", "", "2:1", "missing field `name`; add it"),
        ("version = \"1.3.0-rc.1\"", "version = \"1.3\"", "4:11", "'1.3' cannot be a nest's version; write three"),
        ("version = \"1.3.0-rc.1\"", "version = \"1.3.0+b\"", "4:11", "'1.3.0+b' cannot be"),
        ("version = \"1.3.0-rc.1\"", "version = 1", "4:11", "invalid type: integer `1`, expected a string; write"),
        ("chain = \"mainnet\"", "chain = \"mainet\"", "5:9", "did you mean 'mainnet'"),
        ("chain = \"mainnet\"", "chain = \"1\"", "5:9", "write 'eip155:1'"),
        ("chain = \"mainnet\"", "chian = \"mainnet\"", "5:1", "unknown field `chian`, expected one of"),
        (
            "docs = [\"README.md\"]",
            "docs = [\"README.md\", \"README.md\"]",
            "6:22",
            "document 'README.md' stands twice",
        ),
        ("alias = \"usdc\"", "alias = \"my__usdc\"", "9:9", "'my__usdc' cannot be an alias; it begins"),
        ("alias = \"usdc\"", "alias = \"pools\"", "16:9", "alias 'pools' stands twice"),
        ("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xa0b8", "10:11", "'0x' and 40 hex digits are expected"),
        (
            "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
            "0xa0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
            "10:11",
            "write 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        ),
        ("0x1111111111111111111111111111111111111111", "0x1", "19:3", "'0x1' is not an address"),
        (
            "0x1111111111111111111111111111111111111111",
            "0xffffffffffffffffffffffffffffffffffffffff",
            "19:3",
            "stands twice (before in 'pools')",
        ),
        (
            "address = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"",
            "address = []",
            "10:11",
            "list of addresses is empty",
        ),
        (
            "address = \"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48\"",
            "address = 5",
            "10:11",
            "a string or a list of strings",
        ),
        ("start_block = 6082465", "start_block = -1", "11:15", "-1"),
        ("start_block = 6082465", "start_block = \"latest\"", "11:15", "invalid type: string \"latest\", expected u64"),
        ("abi = \"abis/usdc.json\"\n", "", "8:1", "contract 'usdc' has no ABI"),
        ("abi = \"abis/usdc.json\"", "abi = []", "12:7", "contract 'usdc' has no ABI"),
        ("abi = \"abis/usdc.json\"", "abi = \"../usdc.json\"", "12:7", "must stay inside the nest's folder"),
        ("abi = \"abis/usdc.json\"", "abi = \"/etc/passwd\"", "12:7", "must be relative"),
        ("abi = \"abis/usdc.json\"", "abi = \"./abis/usdc.json\"", "12:7", "write it without './'"),
        ("\"abis/a.json\"", "\"abis/z.json\"", "21:23", "ABI 'abis/z.json' stands twice"),
        ("events = [\"Transfer\", \"Approval\"]", "events = []", "13:10", "the list of events is empty"),
        ("\"Approval\"", "\"Transfer\"", "13:23", "event 'Transfer' stands twice"),
        ("\"Approval\"", "\"two words\"", "13:23", "'two words' is not an event; write"),
        ("name = \"daily_volume\"", "name = \"_status\"", "25:8", "'_status' cannot name a view"),
        ("name = \"a_later_view\"", "name = \"daily_volume\"", "30:8", "view 'daily_volume' stands twice"),
        ("sql = \"views/later.sql\"\n", "", "29:1", "missing field `sql`"),
        ("name = \"rpc_headers\"", "name = \"rpc_url\"", "38:8", "secret 'rpc_url' stands twice"),
        ("name = \"rpc_url\"", "name = \"RPC\"", "34:8", "'RPC' cannot name a secret"),
        ("purpose = \"its headers\"", "value = \"hunter2\"", "39:1", "unknown field `value`"),
        ("[nest]", "[nest", "2:6", ""),
        ("[[views]]", "[views]", "29:3", "duplicate key; write [[views]]"),
    ];
    for (from, to, at, part) in cases {
        let message = error_of(from, to);
        assert!(message.starts_with(&format!("usdc/nest.toml:{at}")), "expected place {at}: {message}");
        assert!(message.contains(part), "expected {part:?} in {message:?}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn a_file_without_its_main_parts_says_which() {
    let message = |text: &str| NestToml::parse(text, "nest.toml").unwrap_err().to_string();
    assert!(message("").contains("missing field `nest`; begin the file with [nest]"), "{}", message(""));
    let head = "[nest]\nname = \"x\"\nversion = \"0.1.0\"\nchain = \"base\"\n";
    assert!(message(head).contains("no contract is named"), "{}", message(head));
    assert!(message(&format!("{head}[code]\ncrate = \"../x\"\n")).starts_with("nest.toml:6:9: "));
    assert!(message(&format!("{head}[rpc]\nurl = \"http://x\"\n")).starts_with("nest.toml:5:2: unknown field `rpc`"));
    assert!(message(&" ".repeat(MAX_NEST_TOML_BYTES + 1)).contains("is this a nest.toml?"));
    assert!(message(&format!("{head}x = {}", "[".repeat(100_000))).starts_with("nest.toml:5:"));
    let hostile = message("\"\\u001b[31m\\nx\" = 1");
    assert!(hostile.contains("unknown field") && !hostile.chars().any(char::is_control), "{hostile:?}");
    // Columns count characters, not bytes.
    assert!(message("\"é\" = \"é\" x").starts_with("nest.toml:1:11: "), "{}", message("\"é\" = \"é\" x"));
}
