//! The endpoints of one chain: who is asked next, and when to stop asking.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::chain::error::{Call, ChainError, Result, Trouble};
use crate::model::{BlockRange, ChainId};

use super::backoff::Backoff;
use super::endpoint::Endpoint;

/// How often and how fast to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts at one operation, on all endpoints together.
    pub attempts: u32,
    /// Waits between them.
    pub backoff: Backoff,
}

/// Endpoints in the order of the configuration, with the one in use.
pub(super) struct Pool {
    pub chain: ChainId,
    pub endpoints: Vec<Arc<Endpoint>>,
    pub retry: RetryPolicy,
    in_use: AtomicUsize,
}

/// What one operation knows of one endpoint.
#[derive(Clone, Copy, Default)]
struct Tried {
    failures: u32,
    /// Asking it again cannot help this operation.
    set_aside: bool,
    rests_until: Option<Instant>,
}

/// The retry budget of one operation.
pub(super) struct Attempts {
    method: &'static str,
    range: Option<BlockRange>,
    made: u32,
    tried: Vec<Tried>,
    errors_are_final: bool,
    last: Option<(String, Trouble)>,
}

impl Attempts {
    /// Attempts that failed so far.
    pub fn made(&self) -> u32 {
        self.made
    }

    /// What errors name from now on: the part that is being asked for.
    pub fn narrow(&mut self, range: BlockRange) {
        self.range = Some(range);
    }

    /// A JSON-RPC error is an endpoint's last word on this operation, as where it lacks old state.
    pub fn errors_are_final(mut self) -> Self {
        self.errors_are_final = true;
        self
    }

    /// Failures of this operation on this endpoint.
    pub fn failures(&self, endpoint: &Endpoint) -> u32 {
        self.tried.get(endpoint.place).map_or(0, |tried| tried.failures)
    }
}

impl Pool {
    pub fn new(chain: ChainId, endpoints: Vec<Arc<Endpoint>>, retry: RetryPolicy) -> Self {
        Pool { chain, endpoints, retry, in_use: AtomicUsize::new(0) }
    }

    pub fn attempts(&self, method: &'static str, range: Option<BlockRange>) -> Attempts {
        let tried = vec![Tried::default(); self.endpoints.len()];
        Attempts { method, range, made: 0, tried, errors_are_final: false, last: None }
    }

    /// The endpoint in use, for what does not need it to answer.
    pub fn in_use(&self) -> Option<&Arc<Endpoint>> {
        self.endpoints.get(self.in_use.load(Ordering::Relaxed)).or_else(|| self.endpoints.first())
    }

    /// The endpoint to ask next, its chain id checked. Waits until one may be asked.
    pub async fn next(&self, attempts: &mut Attempts) -> Result<Arc<Endpoint>> {
        loop {
            let endpoint = self.choose(attempts).await?;
            match self.check_chain(&endpoint).await {
                Ok(()) => return Ok(endpoint),
                Err(trouble) => self.failed(attempts, &endpoint, trouble)?,
            }
        }
    }

    async fn choose(&self, attempts: &Attempts) -> Result<Arc<Endpoint>> {
        let rested = |endpoint: &Endpoint| {
            let own = attempts.tried[endpoint.place].rests_until;
            own.max(endpoint.health().rests_until)
        };
        let open = || self.endpoints.iter().filter(|endpoint| !attempts.tried[endpoint.place].set_aside);
        loop {
            let now = Instant::now();
            let free = open().filter(|endpoint| rested(endpoint).is_none_or(|until| until <= now));
            let best = free.min_by_key(|endpoint| {
                (attempts.tried[endpoint.place].failures, endpoint.health().failures, endpoint.place)
            });
            if let Some(endpoint) = best {
                if self.in_use.swap(endpoint.place, Ordering::Relaxed) != endpoint.place {
                    tracing::debug!(chain = %self.chain, endpoint = endpoint.label(), "endpoint in use");
                    endpoint.health().chain_checked = false;
                }
                return Ok(endpoint.clone());
            }
            match open().filter_map(|endpoint| rested(endpoint)).min() {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => return Err(self.give_up(attempts)),
            }
        }
    }

    /// Asks for the chain id unless it was checked since the endpoint last failed or came into use.
    pub async fn check_chain(&self, endpoint: &Endpoint) -> Result<(), Trouble> {
        if endpoint.health().chain_checked {
            return Ok(());
        }
        match endpoint.chain_id().await? {
            found if found == self.chain => {
                endpoint.health().chain_checked = true;
                Ok(())
            }
            found => Err(Trouble::OtherChain(found)),
        }
    }

    /// Endpoints that may be asked now, other than this one.
    pub fn others(&self, one: &Endpoint) -> Vec<Arc<Endpoint>> {
        let now = Instant::now();
        let free = |endpoint: &&Arc<Endpoint>| {
            endpoint.place != one.place && endpoint.health().rests_until.is_none_or(|until| until <= now)
        };
        self.endpoints.iter().filter(free).cloned().collect()
    }

    /// Whether an endpoint may be asked now that this operation has not tried yet.
    pub fn has_untried(&self, attempts: &Attempts) -> bool {
        let now = Instant::now();
        self.endpoints.iter().any(|endpoint| {
            let tried = attempts.tried[endpoint.place];
            !tried.set_aside && tried.failures == 0 && endpoint.health().rests_until.is_none_or(|until| until <= now)
        })
    }

    /// Notes a good answer.
    pub fn succeeded(&self, endpoint: &Endpoint) {
        let mut health = endpoint.health();
        // A rest that the endpoint asked for holds, whatever other requests bring.
        if health.rests_until.is_none_or(|until| until <= Instant::now()) {
            health.failures = 0;
            health.rests_until = None;
            if std::mem::take(&mut health.told) {
                tracing::info!(chain = %self.chain, endpoint = endpoint.label(), "endpoint answers again");
            }
        }
    }

    /// Leaves this endpoint out of the rest of the operation.
    pub fn set_aside(&self, attempts: &mut Attempts, endpoint: &Endpoint) {
        attempts.tried[endpoint.place].set_aside = true;
    }

    /// Notes a failed attempt; an error when the budget is spent.
    pub fn failed(&self, attempts: &mut Attempts, endpoint: &Endpoint, trouble: Trouble) -> Result<()> {
        attempts.made += 1;
        let tried = &mut attempts.tried[endpoint.place];
        tried.failures += 1;
        let last_word = attempts.errors_are_final && matches!(trouble, Trouble::Rpc { .. });
        tried.set_aside |= last_word || trouble.is_hopeless();
        let concerns_endpoint = concerns_endpoint(&trouble);
        if concerns_endpoint {
            self.rest(endpoint, &trouble);
        } else {
            let wait = self.retry.backoff.wait(tried.failures, &mut rand::rng());
            tried.rests_until = Some(Instant::now() + wait);
        }
        let set_aside = tried.set_aside;
        self.count(endpoint, attempts.method, &trouble);
        tracing::debug!(
            chain = %self.chain, endpoint = endpoint.label(), method = attempts.method, range = ?attempts.range,
            %trouble, "attempt failed"
        );
        let nobody_left = set_aside && attempts.tried.iter().all(|tried| tried.set_aside);
        let spent = nobody_left || attempts.made >= self.retry.attempts.max(self.endpoints.len() as u32);
        // The error that ends an operation tells it as well.
        if concerns_endpoint && !spent {
            self.tell(endpoint, &trouble);
        }
        attempts.last = Some((endpoint.label().to_owned(), trouble));
        if spent { Err(self.give_up(attempts)) } else { Ok(()) }
    }

    /// Counts what kept an answer from being used, whatever HTTP thought of it.
    pub fn count(&self, endpoint: &Endpoint, method: &'static str, trouble: &Trouble) {
        let labels = [
            ("chain", self.chain.to_string()),
            ("endpoint", endpoint.label().to_owned()),
            ("method", method.to_owned()),
            ("reason", trouble.outcome().to_owned()),
        ];
        metrics::counter!("nuthatch_rpc_troubles_total", &labels).increment(1);
    }

    /// Notes a failure that belongs to no operation with a budget of its own.
    pub fn note_health(&self, endpoint: &Endpoint, trouble: &Trouble) {
        if concerns_endpoint(trouble) {
            self.rest(endpoint, trouble);
            self.tell(endpoint, trouble);
        }
    }

    /// Leaves an endpoint alone for a while.
    fn rest(&self, endpoint: &Endpoint, trouble: &Trouble) {
        let now = Instant::now();
        let mut health = endpoint.health();
        // What answers after a break may be another machine.
        health.chain_checked &= matches!(trouble, Trouble::RateLimited { .. } | Trouble::BadAnswer(_));
        // Many requests that fail at once are one failure.
        if health.rests_until.is_none_or(|until| until <= now) {
            health.failures = health.failures.saturating_add(1);
        }
        let mut wait = self.retry.backoff.wait(health.failures, &mut rand::rng());
        if let Trouble::RateLimited { retry_after: Some(asked), .. } = trouble {
            wait = wait.max(*asked);
        }
        if trouble.is_hopeless() {
            wait = wait.max(self.retry.backoff.ceiling);
        }
        health.rests_until = health.rests_until.max(Some(now + wait));
    }

    /// Says once that an endpoint keeps failing.
    fn tell(&self, endpoint: &Endpoint, trouble: &Trouble) {
        let mut health = endpoint.health();
        if health.failures >= WORTH_TELLING && !health.told {
            health.told = true;
            tracing::warn!(
                chain = %self.chain, endpoint = endpoint.label(), %trouble,
                "endpoint failed {} times in a row; asked again, less and less often", health.failures
            );
        }
    }

    fn give_up(&self, attempts: &Attempts) -> ChainError {
        let (endpoint, trouble) = match &attempts.last {
            Some((endpoint, trouble)) => (endpoint.clone(), trouble.clone()),
            None => return ChainError::NoEndpoint(self.chain),
        };
        if let Trouble::OtherChain(found) = trouble {
            return ChainError::WrongChain { endpoint, wanted: self.chain, found };
        }
        let call = Box::new(Call { chain: self.chain, endpoint, method: attempts.method, range: attempts.range });
        match trouble {
            Trouble::Refused(refusal) if attempts.range.is_some_and(|range| range.blocks() == 1) => {
                ChainError::BlockRefused { call, refusal, attempts: attempts.made }
            }
            trouble => ChainError::GaveUp { call, trouble, attempts: attempts.made },
        }
    }

    /// One operation on whichever endpoint brings it off.
    pub async fn run<T, F>(&self, mut attempts: Attempts, operation: impl Fn(Arc<Endpoint>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        loop {
            let endpoint = self.next(&mut attempts).await?;
            match operation(endpoint.clone()).await {
                Ok(value) => {
                    self.succeeded(&endpoint);
                    return Ok(value);
                }
                Err(trouble) => self.failed(&mut attempts, &endpoint, trouble)?,
            }
        }
    }
}

/// Failures in a row that whoever waits for rows should hear of.
const WORTH_TELLING: u32 = 3;

/// Whether a failure says something about the endpoint, and not only about what was asked.
fn concerns_endpoint(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Transport(_)
        | Trouble::Timeout(_)
        | Trouble::RateLimited { .. }
        | Trouble::Status { .. }
        | Trouble::BadAnswer(_)
        | Trouble::OtherChain(_) => true,
        Trouble::Rpc { .. } | Trouble::Refused(_) | Trouble::Behind(_) | Trouble::Inconsistent(_) => false,
    }
}

/// The wait of a head look for slower endpoints, once one has answered.
pub(super) const GRACE: Duration = Duration::from_millis(300);
