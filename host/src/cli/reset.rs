//! `nuthatch reset`: delete a data folder.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::{DataArgs, Output, Usage};
use crate::segments::default_place;
use crate::store::sqlite::{self, DataLock};

/// Delete all indexed data of a data folder
///
/// The nest folder itself stays as it is, and so do segments that were kept elsewhere with --segments. Refused while
/// `dev` runs on it.
#[derive(Debug, Args)]
pub struct ResetArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub(super) async fn run(args: ResetArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    if !data.is_dir() {
        let mut out = Output::new();
        out.line(format!("{} does not exist; there is nothing to delete", data.display()))?;
        return out.finish();
    }
    // Held until the files are gone, so that no `dev` begins in between.
    let _lock = DataLock::acquire(&data)?;
    let files = sqlite::database_files(&data)?;
    if !args.yes && !confirmed(&data, files.len())? {
        anyhow::bail!("nothing was deleted; answer 'yes', or give --yes");
    }
    for file in &files {
        std::fs::remove_file(file).with_context(|| format!("{} cannot be deleted", file.display()))?;
    }
    let segments = default_place(&data);
    match std::fs::remove_dir_all(&segments) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        done => done.with_context(|| format!("{} cannot be deleted", segments.display()))?,
    }
    let mut out = Output::new();
    out.line(format!("deleted {} files in {}", files.len(), data.display()))?;
    out.finish()
}

fn confirmed(data: &Path, files: usize) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Usage::error("stdin is no terminal to ask on; give --yes"));
    }
    eprint!("delete {files} files of indexed data in {}? [yes/no] ", data.display());
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("the answer cannot be read")?;
    Ok(answer.trim() == "yes")
}
