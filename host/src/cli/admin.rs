//! Commands on a data folder: asked of the process that runs on it, else done here under its lease.

use std::path::Path;

use anyhow::bail;
use serde_json::{Map, Value};

use super::Output;
use crate::model::ChainId;
use crate::store::sqlite::{self, DataLock, SqliteOptions, SqliteStore};
use crate::worker::socket::{self, Answer, Request};

/// Asks the running process. None where none runs.
pub(super) async fn ask(data: &Path, request: Request) -> anyhow::Result<Option<Answer>> {
    Ok(socket::ask(data, &request).await?)
}

/// Prints what came of a command; a refusal is a failure.
pub(super) fn print(answer: Answer, json: bool) -> anyhow::Result<()> {
    match answer {
        Answer::Done { text } => {
            let mut out = Output::new();
            out.line(text)?;
            out.finish()
        }
        Answer::Refused { reason } => bail!(reason),
        Answer::Rows { rows } => print_rows(&rows, json),
    }
}

/// One block of `key: value` lines a row, or one JSON object a line.
fn print_rows(rows: &[Map<String, Value>], json: bool) -> anyhow::Result<()> {
    let mut out = Output::new();
    if rows.is_empty() && !json {
        out.line("nothing here")?;
    }
    for (place, row) in rows.iter().enumerate() {
        if json {
            out.line(serde_json::to_string(row)?)?;
            continue;
        }
        if place > 0 {
            out.line("")?;
        }
        for (key, value) in row.iter().filter(|(_, value)| !value.is_null()) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            out.line(format!("{key:<12} {value}"))?;
        }
    }
    out.finish()
}

/// Takes the folder's lease and opens the stores that are in it.
pub(super) async fn open_all(data: &Path) -> anyhow::Result<Vec<(ChainId, SqliteStore)>> {
    if !data.is_dir() {
        bail!("{} does not exist; `nuthatch dev` makes it, or name the folder with --dir or --data", data.display());
    }
    let lock = DataLock::acquire(data)?;
    let mut stores = Vec::new();
    for chain in sqlite::chains_in(data)? {
        stores.push((chain, SqliteStore::open(&lock, chain, SqliteOptions::default()).await?));
    }
    if stores.is_empty() {
        bail!("{} holds no data; `nuthatch dev` makes it, or name the folder with --dir or --data", data.display());
    }
    Ok(stores)
}
