//! `nuthatch bundle build`: a nest folder as one file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::{Output, view_lint};
use crate::plugin::nest_folder::{self, BuiltNest, DecoderChoice};
use crate::plugin::{PluginHost, PluginLimits};

/// Build a nest folder into one content-addressed file
///
/// The same folder gives the same bytes, so the same address. nest.lock records the decoder, and a rebuild keeps it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  nuthatch bundle build usdc
      Writes usdc-0.1.0.nest.wasm here.
  nuthatch bundle build usdc --out dist/")]
pub struct BuildArgs {
    /// Nest folder
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// File, or folder to put NAME-VERSION.nest.wasm in
    #[arg(long, value_name = "PATH", default_value = ".")]
    out: PathBuf,
    /// Take the decoder of this nuthatch instead of the one in nest.lock
    #[arg(long)]
    upgrade_decoder: bool,
}

pub(super) async fn run(args: BuildArgs) -> anyhow::Result<()> {
    let choice = if args.upgrade_decoder { DecoderChoice::Upgrade } else { DecoderChoice::Locked };
    let dir = args.dir.clone();
    let built = tokio::task::spawn_blocking(move || -> anyhow::Result<BuiltNest> {
        let host = PluginHost::new(PluginLimits::default())?;
        Ok(nest_folder::build_files(&host, dir.as_path(), choice)?)
    })
    .await??;
    for (name, sql) in built.bundle.sql_views()? {
        view_lint::check(name, sql)?;
    }
    let manifest = built.bundle.manifest();
    view_lint::warn_of_unnamed(&args.dir, manifest);
    let path = if args.out.is_dir() {
        args.out.join(format!("{}-{}.nest.wasm", manifest.name, manifest.version))
    } else {
        args.out
    };
    write(&path, &built.bytes).with_context(|| format!("{} cannot be written", path.display()))?;
    nest_folder::write_lock(&args.dir, &built)
        .with_context(|| format!("{} cannot be written", args.dir.join("nest.lock").display()))?;
    let mut output = Output::new();
    output.line(format!("{}  {} bytes", path.display(), built.bytes.len()))?;
    output.line(format!("address        {}", built.bundle.hash()))?;
    output.line(format!("data identity  {}", built.bundle.data_identity()))?;
    output.line(format!("tables {}, views {}", manifest.tables.len(), manifest.views.len()))?;
    output.finish()
}

/// Whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = std::fs::File::create(&unfinished)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&unfinished, path));
    if written.is_err() {
        // Best effort: the error of the write is what counts.
        let _ = std::fs::remove_file(&unfinished);
    }
    written
}
