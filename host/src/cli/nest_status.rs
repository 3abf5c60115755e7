//! `nuthatch nest status`: where each nest stands.

use clap::Args;

use super::{DataArgs, admin};
use crate::cursor;
use crate::store::HotReader;
use crate::store::sqlite::{self, SqliteReader};
use crate::worker::socket::{Answer, ChainRow, Request, nest_rows};

/// Show where each nest stands: block, rows, quarantine
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) async fn run(args: StatusArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    if let Some(answer) = admin::ask(&data, Request::Status).await? {
        return admin::print(answer, args.json);
    }
    // Reading takes no lease: this works on a read-only folder too.
    let mut rows = Vec::new();
    for chain in sqlite::chains_in(&data)? {
        let reader = SqliteReader::open(&data, chain).await?;
        let mut read = reader.read().await?;
        let state = read.state().await?;
        let nests = cursor::at_rest(&state, &read.endpoints().await?);
        let head = state.blocks.last().copied().or(state.final_block).map(|block| block.number);
        rows.extend(nest_rows(&ChainRow { chain, head, trouble: state.halted }, &nests));
    }
    admin::print(Answer::Rows { rows }, args.json)
}
