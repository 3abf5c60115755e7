//! Asking a running process.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::{Answer, Request, SOCKET_NAME, SocketError};

/// A command waits for the window in hand, never longer than this.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks the process that runs on this data folder. None where no process listens there.
pub async fn ask(data: &Path, request: &Request) -> Result<Option<Answer>, SocketError> {
    let path = data.join(SOCKET_NAME);
    let Ok(mut stream) = UnixStream::connect(&path).await else { return Ok(None) };
    let bad = |reason: String| SocketError::Answer { path: path.display().to_string(), reason };
    let talk = async {
        let mut line = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        line.push(b'\n');
        stream.write_all(&line).await.map_err(|error| error.to_string())?;
        let mut answer = String::new();
        BufReader::new(&mut stream).read_line(&mut answer).await.map_err(|error| error.to_string())?;
        serde_json::from_str(&answer).map_err(|error| error.to_string())
    };
    match tokio::time::timeout(PATIENCE, talk).await {
        Ok(answer) => answer.map(Some).map_err(bad),
        Err(_) => Err(bad(format!("it did not answer within {} s", PATIENCE.as_secs()))),
    }
}
