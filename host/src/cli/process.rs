//! The long-running process behind `dev` and `demo`: cursors, HTTP, progress, signals.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{Reporting, report};
use crate::cursor::{CursorStatus, Phase};
use crate::query::{QueryEngine, QueryLimits};
use crate::serve::{self, Readiness, Surroundings};
use crate::worker::{Embedded, RunningChain};

/// A cursor that has had no good turn for this long is stalled.
const STALLED_AFTER: Duration = Duration::from_secs(60);

/// Takes the port before anything else is begun, so that a port in use costs nothing.
pub(super) async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            anyhow::anyhow!("{address} is in use by another process; stop it, or give --listen another port")
        }
        _ => {
            anyhow::Error::new(error).context(format!("{address} cannot be listened on; give --listen another address"))
        }
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
    fn reasons(&self) -> Vec<String> {
        self.0.iter().filter_map(|chain| not_ready(&chain.status.borrow())).collect()
    }
}

fn not_ready(status: &CursorStatus) -> Option<String> {
    if let Some(reason) = &status.halted {
        return Some(format!("chain {} is halted: {reason}", status.chain_id));
    }
    let stalled = status.last_good.elapsed() > STALLED_AFTER && status.phase != Phase::Stopped;
    let why = status.trouble.as_deref().unwrap_or("no progress");
    stalled.then(|| format!("chain {} is stalled: {why}", status.chain_id))
}

/// Renders `/metrics`.
#[derive(Clone)]
pub(super) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Takes in what this process counts, from now on.
    pub(super) fn install() -> anyhow::Result<Self> {
        let handle = PrometheusBuilder::new().install_recorder().context("metrics cannot be counted")?;
        Ok(Metrics(handle))
    }
}

/// An engine over everything that runs.
pub(super) fn engine(embedded: &Embedded) -> anyhow::Result<QueryEngine> {
    Ok(QueryEngine::over(embedded.served(), QueryLimits::default())?)
}

/// Serves and reports until the cursors end or a signal comes, then drains.
pub(super) async fn serve_until_stopped(
    embedded: Embedded,
    engine: QueryEngine,
    listener: TcpListener,
    metrics: Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let chains = embedded.chains();
    let reported = tokio::spawn(report(embedded.progress(), Reporting::for_stderr()));
    let served = tokio::spawn(serve_only(embedded.chains(), engine, listener, metrics, stop.clone()));
    let ended = embedded.finished().await;
    stop.cancel();
    reported.abort();
    if let Ok(Ok(Err(error))) = tokio::time::timeout(Duration::from_secs(5), served).await {
        tracing::warn!("HTTP ended badly: {error:#}");
    }
    close(&chains).await;
    ended?;
    Ok(())
}

/// Folds each database's log into it, so that the folder can be copied or read where it cannot be written. Without it
/// nothing is lost.
async fn close(chains: &[RunningChain]) {
    let closing = futures::future::join_all(chains.iter().map(|chain| chain.store.close()));
    if tokio::time::timeout(Duration::from_secs(5), closing).await.is_err() {
        tracing::warn!("the databases were not closed in time; the next start does it");
    }
}

/// Serves what is there until a signal comes.
pub(super) async fn serve_only(
    chains: Arc<Vec<RunningChain>>,
    engine: QueryEngine,
    listener: TcpListener,
    metrics: Metrics,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let address = listener.local_addr().context("the listening address")?;
    let around = Surroundings { readiness: Arc::new(Chains(chains)), metrics: Arc::new(move || metrics.0.render()) };
    let router = serve::router(engine, around);
    let mut out = super::Output::new();
    out.line(format!("serving http://{address}"))?;
    out.finish()?;
    serve::run(listener, router, async move { stop.cancelled().await }).await.context("HTTP")
}
