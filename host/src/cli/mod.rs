//! One file a command; parses, calls, prints.

mod admin;
mod args;
mod bundle_build;
mod bundle_inspect;
mod cursor_rebuild;
pub mod data_folder;
mod dataset;
pub mod demo;
pub mod dev;
mod dotenv;
mod failure;
mod help;
mod init;
mod logging;
mod nest_retry;
mod nest_status;
mod nests;
mod output;
mod process;
mod progress;
mod reset;
mod rpc_urls;
mod segments;
pub mod source;
mod sql;
mod store;
mod view_lint;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use args::{ChainArg, DataArgs, RpcArg};
pub use dotenv::{DotEnv, DotEnvError};
pub use failure::{Hinted, PipeClosed, Usage};
pub use logging::LogFormat;
pub use output::Output;
pub use progress::{Reporting, report};
pub use rpc_urls::{RpcSources, RpcUrlError};

/// Turns an EVM contract's history into SQL.
///
/// A nest names contracts, the events that matter, and SQL views. `nuthatch dev` decodes its logs into tables inside
/// one process, follows the head of the chain, and answers SQL.
#[derive(Debug, Parser)]
#[command(
    name = "nuthatch",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_long_help = EXAMPLES
)]
pub struct Cli {
    /// How log lines on stderr are written; RUST_LOG chooses which
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  nuthatch demo --once
      Index a small recorded chain, print a few answers, leave. Needs no network.
  nuthatch init 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 --chain mainnet --dir usdc
  nuthatch dev --dir usdc --rpc https://my-node.example
  nuthatch sql 'SELECT count(*) FROM contract__transfer'

Exit status: 0 done, 1 failed, 2 wrong usage.";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Init(init::InitArgs),
    Dev(dev::DevArgs),
    Sql(sql::SqlArgs),
    /// What the nests of a data folder do
    #[command(subcommand)]
    Nest(NestCommand),
    /// The rows of a data folder
    #[command(subcommand)]
    Dataset(dataset::DatasetCommand),
    /// The sealed history of a data folder
    #[command(subcommand)]
    Segments(segments::SegmentsCommand),
    /// A data folder as a whole
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// The writers of a data folder, one a chain
    #[command(subcommand)]
    Cursor(CursorCommand),
    Reset(reset::ResetArgs),
    /// Nests as one file
    #[command(subcommand)]
    Bundle(BundleCommand),
    Help(help::HelpArgs),
}

#[derive(Debug, Subcommand)]
enum NestCommand {
    Retry(nest_retry::RetryArgs),
    Status(nest_status::StatusArgs),
}

#[derive(Debug, Subcommand)]
enum CursorCommand {
    Rebuild(cursor_rebuild::RebuildArgs),
}

#[derive(Debug, Subcommand)]
enum BundleCommand {
    Build(bundle_build::BuildArgs),
    Inspect(bundle_inspect::InspectArgs),
}

impl Command {
    async fn run(self) -> anyhow::Result<()> {
        match self {
            Command::Demo(args) => demo::run(args).await,
            Command::Init(args) => init::run(args).await,
            Command::Dev(args) => dev::run(args).await,
            Command::Sql(args) => sql::run(args).await,
            Command::Nest(NestCommand::Retry(args)) => nest_retry::run(args).await,
            Command::Nest(NestCommand::Status(args)) => nest_status::run(args).await,
            Command::Dataset(command) => dataset::run(command).await,
            Command::Segments(command) => segments::run(command).await,
            Command::Store(command) => store::run(command).await,
            Command::Cursor(CursorCommand::Rebuild(args)) => cursor_rebuild::run(args).await,
            Command::Reset(args) => reset::run(args).await,
            Command::Bundle(BundleCommand::Build(args)) => bundle_build::run(args).await,
            Command::Bundle(BundleCommand::Inspect(args)) => bundle_inspect::run(args).await,
            Command::Help(args) => help::run(args),
        }
    }
}

/// The process: parse, run, say what went wrong. 0 done, 1 failed, 2 wrong usage.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| error.exit());
    logging::start(cli.log_format);
    // Fails only where a provider is installed already, which then serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ended = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let ended = runtime.block_on(cli.command.run());
            // A blocking read of the terminal must not hold the exit.
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(anyhow::Error::new(error).context("the async runtime cannot start")),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

#[cfg(test)]
mod tests;
