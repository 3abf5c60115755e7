//! Answering other processes.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

use super::super::RunningChain;
use super::rows::{ChainRow, dataset_row, nest_rows};
use super::{Answer, Request, SOCKET_NAME, SocketError};
use crate::cursor::{Command, Reply, no_such_nest};
use crate::model::ChainId;

/// Requests are short; a longer line is not one.
const LONGEST_REQUEST: u64 = 64 * 1024;

/// Listens in the data folder until stopped. The folder's lock is held, so whatever socket lies there is a leftover.
pub(in crate::worker) fn serve(
    data: &Path,
    chains: Arc<Vec<RunningChain>>,
    stop: CancellationToken,
) -> Result<(), SocketError> {
    let path = data.join(SOCKET_NAME);
    let fail =
        |error: std::io::Error| SocketError::Open { path: path.display().to_string(), reason: error.to_string() };
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(fail)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(fail)?;
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        tokio::spawn(talk(stream, chains.clone()));
                    }
                    Err(error) => {
                        tracing::warn!("the control socket stumbled: {error}");
                        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    }
                },
            }
        }
        let _ = std::fs::remove_file(&path);
    });
    Ok(())
}

async fn talk(mut stream: UnixStream, chains: Arc<Vec<RunningChain>>) {
    let mut line = String::new();
    let read = BufReader::new((&mut stream).take(LONGEST_REQUEST)).read_line(&mut line).await;
    if read.is_err() {
        return;
    }
    let answer = match serde_json::from_str::<Request>(&line) {
        Ok(request) => answer(request, &chains).await,
        Err(error) => Answer::Refused { reason: format!("not a request: {error}") },
    };
    if let Ok(mut line) = serde_json::to_vec(&answer) {
        line.push(b'\n');
        // The asker may have gone; nothing is owed to it then.
        let _ = stream.write_all(&line).await;
    }
}

async fn answer(request: Request, chains: &[RunningChain]) -> Answer {
    match request {
        Request::Status => Answer::Rows { rows: chains.iter().flat_map(status_rows).collect() },
        Request::Datasets => {
            let mut rows = Vec::new();
            for chain in chains {
                if let Some(Reply::Datasets(datasets)) = chain.handle.ask(Command::Datasets).await {
                    rows.extend(datasets.iter().map(|dataset| dataset_row(chain.chain, dataset)));
                }
            }
            Answer::Rows { rows }
        }
        Request::Retry { nest } => {
            let rides = |chain: &&RunningChain| {
                chain.status.borrow().datasets.iter().any(|dataset| dataset.nests.contains(&nest))
            };
            match chains.iter().find(rides) {
                Some(chain) => words(chain.handle.ask(Command::Retry(nest)).await),
                None => {
                    let status: Vec<_> = chains.iter().map(|chain| chain.status.borrow().clone()).collect();
                    let running = status.iter().flat_map(|status| &status.datasets).flat_map(|dataset| &dataset.nests);
                    Answer::Refused { reason: no_such_nest(&nest, running) }
                }
            }
        }
        Request::Drop { chain, dataset } => on(chains, chain, Command::Drop(dataset)).await,
        Request::Rebuild { chain } => on(chains, chain, Command::Rebuild).await,
    }
}

async fn on(chains: &[RunningChain], wanted: ChainId, command: Command) -> Answer {
    match chains.iter().find(|chain| chain.chain == wanted) {
        Some(chain) => words(chain.handle.ask(command).await),
        None => Answer::Refused { reason: format!("chain {wanted} does not run here") },
    }
}

fn words(reply: Option<Reply>) -> Answer {
    match reply {
        Some(Reply::Done(text)) => Answer::Done { text },
        Some(Reply::Refused(reason)) => Answer::Refused { reason },
        Some(Reply::Datasets(_)) => Answer::Refused { reason: "that is not an answer to this command".to_owned() },
        None => Answer::Refused { reason: "the process is ending; ask again when it runs".to_owned() },
    }
}

fn status_rows(chain: &RunningChain) -> Vec<Map<String, Value>> {
    let status = chain.status.borrow().clone();
    let trouble = status.halted.or(status.trouble);
    nest_rows(&ChainRow { chain: status.chain_id, head: status.head, trouble }, &status.datasets)
}
