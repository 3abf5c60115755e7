//! The long-running process behind `dev` and `demo`: cursors, HTTP, progress, signals.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{Reporting, report};
use crate::cursor::Phase;
use crate::query::{QueryEngine, QueryLimits};
use crate::serve::{self, Readiness};
use crate::worker::{Embedded, RunningChain};

/// A cursor that has had no good turn for this long is stalled.
const STALLED_AFTER: Duration = Duration::from_secs(60);

/// Takes the port before anything else is begun, so that a port in use costs nothing.
pub(super) async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            anyhow::anyhow!("{address} is in use by another process; stop it, or give --listen another port")
        }
        _ => anyhow::Error::new(error).context(format!("{address} cannot be listened on; give --listen another address")),
    })
}

/// A token that is cancelled by SIGINT or SIGTERM. A second signal ends the process at once; every commit is whole,
/// so that loses nothing either.
pub(super) fn stop_on_signals() -> anyhow::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be watched")?;
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be watched")?;
    let cancel = stop.clone();
    tokio::spawn(async move {
        let mut signals = 0;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            signals += 1;
            if signals > 1 {
                std::process::exit(1);
            }
            tracing::info!("draining; what is committed stays");
            cancel.cancel();
        }
    });
    Ok(stop)
}

/// Whether the cursors make progress.
struct Chains(Arc<Vec<RunningChain>>);

impl Readiness for Chains {
    fn not_ready(&self) -> Option<String> {
        self.0.iter().find_map(|chain| {
            let status = chain.status.borrow();
            if let Some(reason) = &status.halted {
                return Some(format!("chain {} is halted: {reason}", status.chain_id));
            }
            let stalled = status.last_good.elapsed() > STALLED_AFTER && status.phase != Phase::Stopped;
            let why = status.trouble.as_deref().unwrap_or("no progress");
            stalled.then(|| format!("chain {} is stalled: {why}", status.chain_id))
        })
    }
}

/// An engine over everything that runs.
pub(super) fn engine(embedded: &Embedded) -> anyhow::Result<Arc<QueryEngine>> {
    Ok(Arc::new(QueryEngine::new(embedded.readers(), QueryLimits::default())?))
}

/// Serves and reports until the cursors end or a signal comes, then drains.
pub(super) async fn serve_until_stopped(
    embedded: Embedded,
    engine: Arc<QueryEngine>,
    listener: TcpListener,
    metrics: serve::Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let reported = tokio::spawn(report(embedded.progress(), Reporting::for_stderr()));
    let served = tokio::spawn(serve_only(embedded.chains(), engine, listener, metrics, stop.clone()));
    let ended = embedded.finished().await;
    stop.cancel();
    reported.abort();
    if let Ok(Ok(Err(error))) = tokio::time::timeout(Duration::from_secs(5), served).await {
        tracing::warn!("HTTP ended badly: {error:#}");
    }
    ended?;
    Ok(())
}

/// Serves what is there until a signal comes.
pub(super) async fn serve_only(
    chains: Arc<Vec<RunningChain>>,
    engine: Arc<QueryEngine>,
    listener: TcpListener,
    metrics: serve::Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("the listening address")?;
    let readiness: Arc<dyn Readiness> = Arc::new(Chains(chains));
    let router = serve::router(engine, readiness, metrics);
    let mut out = super::Output::new();
    out.line(format!("serving http://{address}"))?;
    out.finish()?;
    serve::run(listener, router, stop).await.context("HTTP")
}
