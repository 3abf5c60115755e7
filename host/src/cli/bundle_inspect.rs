//! `nuthatch bundle inspect`: what is in a bundle.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use nuthatch_registry::{Bundle, Chain, Interface};
use serde_json::json;

use super::Output;
use super::nests::read_bundle;

/// Show what a bundle is and holds
///
/// Reads the file alone; nothing in it is run.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Bundle file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// As JSON: the manifest and what is computed from the file
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: InspectArgs) -> anyhow::Result<()> {
    let place = args.file.display();
    let bytes = read_bundle(&args.file)?;
    let bundle = Bundle::parse(&bytes).with_context(|| format!("{place} is not a bundle that can be used"))?;
    let interface = bundle.interface().with_context(|| format!("the code in {place} cannot be read"))?;
    let mut output = Output::new();
    if args.json {
        output.line(serde_json::to_string_pretty(&as_json(&bundle, &interface)?)?)?;
    } else {
        output.text(&as_text(&bundle, &interface)?)?;
    }
    output.finish()
}

/// Imports, without the type names that only spell out signatures.
fn asked_of_the_host(interface: &Interface) -> impl Iterator<Item = &str> {
    interface.imports.iter().filter(|one| one.kind != "type").map(|one| one.name.as_str())
}

fn as_json(bundle: &Bundle, interface: &Interface) -> anyhow::Result<serde_json::Value> {
    Ok(json!({
        "address": bundle.hash(),
        "data_identity": bundle.data_identity(),
        "size": bundle.bytes().len(),
        "plan_size": bundle.plan().len(),
        "imports": asked_of_the_host(interface).collect::<Vec<_>>(),
        "exports": interface.exports.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        "manifest": serde_json::from_str::<serde_json::Value>(bundle.manifest_json())?,
    }))
}

fn as_text(bundle: &Bundle, interface: &Interface) -> anyhow::Result<String> {
    let manifest = bundle.manifest();
    let mut lines = vec![
        format!("name           {}", manifest.name),
        format!("version        {}", manifest.version),
        format!("address        {}", bundle.hash()),
        format!("data identity  {}", bundle.data_identity()),
        format!("chain          {} ({})", Chain(manifest.chain_id), manifest.chain_id),
        format!("world          nuthatch:nest@{}", manifest.world),
        format!("size           {} bytes, plan {}", bundle.bytes().len(), bundle.plan().len()),
        String::new(),
        "Contracts".to_owned(),
    ];
    for contract in &manifest.contracts {
        lines.push(format!("  {}  from block {}", contract.alias, contract.start_block));
        lines.extend(contract.addresses.iter().map(|address| format!("    {address}")));
    }
    lines.extend([String::new(), "Tables".to_owned()]);
    for table in &manifest.tables {
        lines.push(format!("  {}", table.name));
        let width = table.columns.iter().map(|column| column.name.len()).max().unwrap_or_default();
        for column in &table.columns {
            let null = if column.nullable { "  null" } else { "" };
            lines.push(format!("    {:width$}  {}{null}", column.name, column.ty));
        }
    }
    if !manifest.views.is_empty() {
        lines.extend([String::new(), "Views".to_owned()]);
        lines.extend(manifest.views.iter().map(|view| format!("  {}  {}", view.name, view.file.as_str())));
    }
    if !manifest.secrets.is_empty() {
        lines.extend([String::new(), "Secrets (names only)".to_owned()]);
        lines.extend(manifest.secrets.iter().map(|secret| format!("  {}  {}", secret.name, secret.purpose)));
    }
    lines.extend([String::new(), "Files".to_owned()]);
    lines.extend(manifest.files.iter().map(|file| format!("  {}  {} bytes", file.path.as_str(), file.size)));
    lines.extend([String::new(), "Imports".to_owned()]);
    lines.extend(asked_of_the_host(interface).map(|name| format!("  {name}")));
    Ok(lines.join("\n") + "\n")
}
