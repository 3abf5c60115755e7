//! `nuthatch nest status`: where each nest stands.

use clap::Args;

use serde_json::Map;

use super::{DataArgs, admin};
use crate::store::HotReader;
use crate::store::sqlite::{self, SqliteReader};
use crate::worker::socket::{Answer, Request, dataset_row};

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
        for endpoint in read.endpoints().await? {
            if let Some(dataset) = state.datasets.iter().find(|dataset| dataset.id == endpoint.dataset) {
                let mut row = Map::from_iter([("nest".to_owned(), endpoint.name.to_string().into())]);
                row.extend(dataset_row(chain, dataset).into_iter().filter(|(key, _)| key != "nest"));
                row.insert("running".to_owned(), false.into());
                rows.push(row);
            }
        }
    }
    admin::print(Answer::Rows { rows }, args.json)
}
