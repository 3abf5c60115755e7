//! The files of a new nest folder.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nuthatch_registry::{Chain, ContractAddress, NestName, TableSchema};

use super::abi::Abi;

/// A nest to be written.
pub struct NewNest {
    /// Name.
    pub name: NestName,
    /// Chain.
    pub chain: Chain,
    /// Contracts.
    pub contracts: Vec<NewContract>,
}

/// One `[[contracts]]` entry.
pub struct NewContract {
    /// Alias.
    pub alias: String,
    /// At least one.
    pub addresses: Vec<ContractAddress>,
    /// First block.
    pub start_block: u64,
    /// ABIs, merged in this order.
    pub abis: Vec<Abi>,
}

/// What stands in the way of a new nest folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A nest is there.
    #[error(
        "{0} exists, so there is a nest in this folder already; edit that file, or choose another folder with --dir"
    )]
    NestExists(PathBuf),
    /// Another file is there.
    #[error("{0} exists and is not overwritten; move it away, or choose another folder with --dir")]
    FileExists(PathBuf),
    /// Not writable.
    #[error("{path} cannot be written: {source}")]
    Write {
        /// File or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Name of the view that every new nest begins with.
const VIEW: &str = "events_by_day";
/// A view of more tables than this is no example any more.
const MOST_VIEWED: usize = 24;
const IGNORED: [&str; 2] = [".nuthatch/", ".env"];

/// Refuses a folder that holds a nest.
pub fn require_no_nest(dir: &Path) -> Result<(), FolderError> {
    let path = dir.join("nest.toml");
    if path.exists() { Err(FolderError::NestExists(path)) } else { Ok(()) }
}

/// ABIs and nest.toml without views: what can be built to see which tables come out.
pub fn draft(nest: &NewNest) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Vec<u8>> = abi_files(nest).map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert("nest.toml".to_owned(), nest_toml(nest, &[]).into_bytes());
    files
}

/// Writes the whole folder, `nest.toml` last, so that a folder half written is no nest.
pub fn write(dir: &Path, nest: &NewNest, tables: &[TableSchema]) -> Result<(), FolderError> {
    require_no_nest(dir)?;
    for (path, text) in abi_files(nest) {
        write_new(dir, &path, &text)?;
    }
    write_new(dir, &format!("views/{VIEW}.sql"), &view(tables))?;
    ignore_data(dir)?;
    match write_new(dir, "README.md", &readme(nest, tables)) {
        Ok(()) | Err(FolderError::FileExists(_)) => {}
        Err(error) => return Err(error),
    }
    write_new(dir, "nest.toml", &nest_toml(nest, &[VIEW]))
}

fn abi_files(nest: &NewNest) -> impl Iterator<Item = (String, String)> {
    nest.contracts.iter().flat_map(|contract| {
        contract.abis.iter().enumerate().map(|(place, abi)| (abi_path(contract, place), abi.to_file()))
    })
}

fn abi_path(contract: &NewContract, place: usize) -> String {
    match place {
        0 => format!("abis/{}.json", contract.alias),
        _ => format!("abis/{}_{}.json", contract.alias, place + 1),
    }
}

fn write_new(dir: &Path, name: &str, text: &str) -> Result<(), FolderError> {
    let path = dir.join(name);
    let failed = |path: &Path, source| FolderError::Write { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
    }
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map_err(|source| failed(&path, source)),
        // The same file from an attempt that broke off is no obstacle.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match std::fs::read(&path) {
            Ok(found) if found == text.as_bytes() => Ok(()),
            _ => Err(FolderError::FileExists(path)),
        },
        Err(source) => Err(failed(&path, source)),
    }
}

/// Adds what is missing to `.gitignore`; what stands there stays.
fn ignore_data(dir: &Path) -> Result<(), FolderError> {
    let path = dir.join(".gitignore");
    let failed = |source| FolderError::Write { path: path.clone(), source };
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(failed(source)),
    };
    for line in IGNORED {
        if !text.lines().any(|found| found.trim() == line) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    std::fs::write(&path, text).map_err(failed)
}

fn list(items: &[String]) -> String {
    match items {
        [one] => format!("\"{one}\""),
        _ => format!("[\n{}]", items.iter().map(|item| format!("  \"{item}\",\n")).collect::<String>()),
    }
}

fn checksummed(address: &ContractAddress) -> String {
    crate::model::Address::from(address.0).to_checksum(None)
}

fn nest_toml(nest: &NewNest, views: &[&str]) -> String {
    let mut text = format!("[nest]\nname = \"{}\"\nversion = \"0.1.0\"\nchain = \"{}\"\n", nest.name, nest.chain);
    for contract in &nest.contracts {
        let addresses: Vec<String> = contract.addresses.iter().map(checksummed).collect();
        let abis: Vec<String> = (0..contract.abis.len()).map(|place| abi_path(contract, place)).collect();
        text.push_str(&format!(
            "\n[[contracts]]\nalias = \"{}\"\naddress = {}\nstart_block = {}\nabi = {}\n",
            contract.alias,
            list(&addresses),
            contract.start_block,
            list(&abis)
        ));
        text.push_str(&selection(&contract.abis));
    }
    for view in views {
        text.push_str(&format!("\n[[views]]\nname = \"{view}\"\nsql = \"views/{view}.sql\"\n"));
    }
    text
}

/// Which events: all that are not anonymous unless said otherwise, so that lines show how to say it.
fn selection(abis: &[Abi]) -> String {
    let all = |names: fn(&Abi) -> Vec<&str>| -> Vec<String> {
        let mut all: Vec<String> = abis.iter().flat_map(names).map(|name| format!("\"{name}\"")).collect();
        all.sort();
        all.dedup();
        all
    };
    let (events, anonymous) = (all(Abi::events), all(Abi::anonymous_events));
    let mut text = String::new();
    if let Some(first) = events.first() {
        text.push_str(&format!("# events = [{first}]   # only these; without it every event of the ABI\n"));
    }
    if !anonymous.is_empty() {
        let line = format!("anonymous = [{}]", anonymous.join(", "));
        // Matched by their shape alone, so only on request; without any other event that is what is wanted.
        let off = if events.is_empty() { "" } else { "# " };
        text.push_str(&format!("{off}{line}   # events without a first topic of their own\n"));
    }
    text
}

fn view(tables: &[TableSchema]) -> String {
    let mut text = String::from(
        "-- Logs a day of each event. A view is one SELECT over the nest's tables and the views before it.\n",
    );
    if tables.len() > MOST_VIEWED {
        text.push_str(&format!("-- The first {MOST_VIEWED} of {} tables.\n", tables.len()));
    }
    let selects: Vec<String> = tables
        .iter()
        .take(MOST_VIEWED)
        .map(|table| {
            format!(
                "SELECT date_trunc('day', block_timestamp) AS day, '{0}' AS event, count(*) AS logs FROM {0} GROUP BY 1\n",
                table.name
            )
        })
        .collect();
    text.push_str(&selects.join("UNION ALL\n"));
    text.push_str("ORDER BY day, event\n");
    text
}

fn readme(nest: &NewNest, tables: &[TableSchema]) -> String {
    let table = tables.first().map_or("the_table", |table| table.name.as_str());
    format!(
        "# {name}\n\nA nest for nuthatch: logs of contracts on {chain}, as SQL.\n\n\
         ```\nnuthatch dev --rpc https://YOUR-NODE      # index, follow the head, serve on 127.0.0.1:8288\n\
         nuthatch sql 'SELECT * FROM {table} ORDER BY block_number DESC LIMIT 5'\n\
         nuthatch sql 'SELECT * FROM {VIEW}'\n```\n\n\
         `nest.toml` names contracts and events, `abis/` holds their ABIs, `views/` SQL on top of the tables.\n\
         Put `NUTHATCH_RPC=https://YOUR-NODE` into `.env` to leave out `--rpc`; git ignores that file.\n",
        name = nest.name,
        chain = nest.chain,
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn nest() -> NewNest {
        let abi = |name: &str| Abi::from_json(json!([{"type": "event", "name": name, "inputs": []}])).unwrap();
        let address = |digit: u8| ContractAddress([digit; 20]);
        NewNest {
            name: "usdc".parse().unwrap(),
            chain: Chain(1),
            contracts: vec![
                NewContract { alias: "one".into(), addresses: vec![address(1)], start_block: 7, abis: vec![abi("A")] },
                NewContract {
                    alias: "two".into(),
                    addresses: vec![address(2), address(3)],
                    start_block: 0,
                    abis: vec![abi("A"), abi("B")],
                },
            ],
        }
    }

    fn tables() -> Vec<TableSchema> {
        ["one__a", "two__b"]
            .map(|name| TableSchema { name: name.into(), columns: Vec::new(), doc: String::new() })
            .into()
    }

    #[test]
    fn what_is_written_is_read_back_as_the_same_nest() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &nest(), &tables()).unwrap();
        let text = std::fs::read_to_string(dir.path().join("nest.toml")).unwrap();
        let read = nuthatch_registry::NestToml::parse(&text, "nest.toml").unwrap();
        assert_eq!((read.name.as_str(), read.chain), ("usdc", Chain(1)));
        let contracts: Vec<_> =
            read.contracts.iter().map(|c| (c.alias.as_str(), c.addresses.len(), c.start_block, c.abis.len())).collect();
        assert_eq!(contracts, [("one", 1, 7, 1), ("two", 2, 0, 2)]);
        for file in ["abis/one.json", "abis/two.json", "abis/two_2.json", "views/events_by_day.sql", "README.md"] {
            assert!(dir.path().join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn anonymous_events_are_offered_and_taken_where_there_are_no_others() {
        let note = json!({"type": "event", "name": "Note", "anonymous": true, "inputs": []});
        let moved = json!({"type": "event", "name": "Moved", "inputs": []});
        let toml = |entries: serde_json::Value| {
            let mut nest = nest();
            nest.contracts.truncate(1);
            nest.contracts[0].abis = vec![Abi::from_json(entries).unwrap()];
            let text = nest_toml(&nest, &[]);
            (nuthatch_registry::NestToml::parse(&text, "nest.toml").unwrap().contracts[0].anonymous.clone(), text)
        };
        let (taken, text) = toml(json!([note, moved]));
        assert!(taken.is_empty() && text.contains("# anonymous = [\"Note\"]"), "{text}");
        assert_eq!(toml(json!([note])).0, ["Note"]);
    }

    #[test]
    fn nothing_that_is_there_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(name), text).unwrap();
        };
        let get = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        put("README.md", "mine");
        put(".gitignore", "target\n.env");
        put("abis/two.json", "mine");
        assert!(
            matches!(write(dir.path(), &nest(), &tables()), Err(FolderError::FileExists(path)) if path.ends_with("abis/two.json"))
        );
        assert!(!dir.path().join("nest.toml").exists());
        std::fs::remove_file(dir.path().join("abis/two.json")).unwrap();
        write(dir.path(), &nest(), &tables()).unwrap();
        assert_eq!((get("README.md").as_str(), get(".gitignore").as_str()), ("mine", "target\n.env\n.nuthatch/\n"));
        assert!(matches!(write(dir.path(), &nest(), &tables()), Err(FolderError::NestExists(_))));
    }
}
