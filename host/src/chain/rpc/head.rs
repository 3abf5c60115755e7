//! The highest head among the endpoints.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use crate::chain::error::{Result, Trouble};
use crate::model::Header;

use super::RpcSource;
use super::endpoint::Endpoint;
use super::pool::GRACE;

impl RpcSource {
    /// Asks all endpoints that may be asked and takes the highest answer; the earlier endpoint where two are level.
    /// Once one has answered, slower ones get a short grace.
    pub(super) async fn highest_head(&self) -> Result<Header> {
        let mut attempts = self.pool.attempts("eth_getBlockByNumber", None);
        loop {
            let first = self.pool.next(&mut attempts).await?;
            let others = self.pool.others(&first);
            let mut looks: FuturesUnordered<_> =
                others.into_iter().chain([first.clone()]).map(|endpoint| self.look(endpoint)).collect();
            let mut best: Option<(Header, usize)> = None;
            let mut trouble_of_first = None;
            let grace = tokio::time::sleep(std::time::Duration::from_secs(3_600));
            let mut grace = std::pin::pin!(grace);
            loop {
                let (endpoint, looked) = tokio::select! {
                    next = looks.next() => match next {
                        Some(looked) => looked,
                        None => break,
                    },
                    () = &mut grace => break,
                };
                match looked {
                    Ok(head) => {
                        self.pool.succeeded(&endpoint);
                        if best.is_none() {
                            grace.as_mut().reset(tokio::time::Instant::now() + GRACE);
                        }
                        let higher = best.as_ref().is_none_or(|(there, place)| {
                            (head.number, std::cmp::Reverse(endpoint.place)) > (there.number, std::cmp::Reverse(*place))
                        });
                        if higher {
                            best = Some((head, endpoint.place));
                        }
                    }
                    Err(trouble) if endpoint.place == first.place => trouble_of_first = Some(trouble),
                    Err(trouble) => self.pool.note_health(&endpoint, &trouble),
                }
            }
            if let Some(trouble) = trouble_of_first {
                match &best {
                    Some(_) => self.pool.note_health(&first, &trouble),
                    None => self.pool.failed(&mut attempts, &first, trouble)?,
                }
            }
            if let Some((head, _)) = best {
                return Ok(head);
            }
        }
    }

    async fn look(&self, endpoint: Arc<Endpoint>) -> (Arc<Endpoint>, Result<Header, Trouble>) {
        let looked = async {
            self.pool.check_chain(&endpoint).await?;
            let head = endpoint.block("latest").await?;
            head.ok_or_else(|| Trouble::BadAnswer("null for the latest block".into()))
        };
        let looked = looked.await;
        (endpoint, looked)
    }
}
