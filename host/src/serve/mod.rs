//! HTTP: what `dev` answers with.

mod around;
mod home;
mod nests;
mod page;
mod reply;
mod sql;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::query::QueryEngine;

pub use around::{Readiness, Surroundings};

/// Bytes of a request's body; statements have a smaller cap of their own.
const BODY: usize = 1 << 20;

/// What every handler can reach.
struct App {
    engine: QueryEngine,
    around: Surroundings,
}

type Shared = Arc<App>;

/// All routes over this engine.
pub fn router(engine: QueryEngine, around: Surroundings) -> Router {
    let app: Shared = Arc::new(App { engine, around });
    Router::new()
        .route("/", get(home::get))
        .route("/nests", get(nests::list))
        .route("/nests/{name}", get(nests::one))
        .route("/nests/{name}/tables", get(nests::tables))
        .route("/nests/{name}/tables/{table}", get(page::get))
        .route("/nests/{name}/sql", get(sql::get).post(sql::post))
        .route("/health", get(around::health))
        .route("/ready", get(around::ready))
        .route("/metrics", get(around::metrics))
        .fallback(reply::no_route)
        .method_not_allowed_fallback(reply::no_method)
        .layer(DefaultBodyLimit::max(BODY))
        .with_state(app)
}

/// Answers on this listener until `shutdown` is done; requests under way are answered first.
pub async fn run(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}
