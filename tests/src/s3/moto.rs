//! The server itself.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::process::{Child, Command};

use crate::clock::Clock;

/// A running moto on a free port. Ends when dropped; what it holds is in memory.
pub(super) struct Moto {
    _child: Child,
    pub url: String,
}

/// moto finds the service that is meant in a signature, and believes any.
pub(super) const SIGNATURE: &str =
    "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";

impl Moto {
    /// Starts one by this clock. The binary is named by `NUTHATCH_MOTO`, which `tests/run` sets.
    pub async fn start(clock: &Clock) -> Result<Moto> {
        let binary =
            std::env::var("NUTHATCH_MOTO").context("NUTHATCH_MOTO is not set; run the tests with tests/run")?;
        let http = crate::process::client(Duration::from_secs(5))?;
        for _ in 0..10 {
            let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            let mut child = Command::new(&binary)
                .args(["-H", "127.0.0.1", "-p", &port.to_string()])
                .envs(clock.env())
                .kill_on_drop(true)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .with_context(|| format!("{binary} does not start"))?;
            let url = format!("http://127.0.0.1:{port}");
            let started = Instant::now();
            while started.elapsed() < Duration::from_secs(30) && child.try_wait()?.is_none() {
                let made = http.put(format!("{url}/{}", super::S3::BUCKET)).header("authorization", SIGNATURE);
                if made.send().await.is_ok_and(|answer| answer.status().is_success()) {
                    return Ok(Moto { _child: child, url });
                }
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
        }
        bail!("moto does not come up")
    }
}
