//! The final block, confirmed twice.

use std::sync::PoisonError;

use crate::chain::error::{ChainError, FinalityDispute, Result, Trouble};
use crate::model::{BlockNumber, BlockRef, Header};

use super::RpcSource;
use super::endpoint::Endpoint;

/// What came of asking a second time.
enum Confirmed {
    Yes(BlockRef),
    /// Nobody else can say, and the endpoint itself says something else now.
    No(Trouble),
}

impl RpcSource {
    pub(super) async fn confirmed_final(&self) -> Result<Option<BlockRef>> {
        let mut attempts = self.pool.attempts("eth_getBlockByNumber", None);
        loop {
            let endpoint = self.pool.next(&mut attempts).await?;
            let trouble = match self.final_of(&endpoint).await {
                Ok(None) => {
                    self.pool.succeeded(&endpoint);
                    return Ok(None);
                }
                Ok(Some(header)) => {
                    self.pool.succeeded(&endpoint);
                    match self.confirm(&endpoint, &header).await? {
                        Confirmed::Yes(block) => return Ok(Some(block)),
                        Confirmed::No(trouble) => trouble,
                    }
                }
                Err(trouble) => trouble,
            };
            self.pool.failed(&mut attempts, &endpoint, trouble)?;
        }
    }

    /// The endpoint's final block: by tag where the chain has it and the node knows it, else by depth.
    async fn final_of(&self, endpoint: &Endpoint) -> Result<Option<Header>, Trouble> {
        if self.chain.finality.tag {
            match endpoint.block("finalized").await {
                Err(Trouble::Rpc { .. }) => {}
                answer => return answer,
            }
        }
        let Some(head) = endpoint.block("latest").await? else { return Ok(None) };
        match head.number.0.checked_sub(self.chain.finality.depth) {
            Some(number) => endpoint.block_at(BlockNumber(number)).await,
            None => Ok(None),
        }
    }

    async fn confirm(&self, endpoint: &Endpoint, header: &Header) -> Result<Confirmed> {
        let block = header.block_ref();
        if *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) == Some(block) {
            return Ok(Confirmed::Yes(block));
        }
        let confirmed = self.second_opinion(endpoint, block).await?;
        if let Confirmed::Yes(block) = confirmed {
            *self.confirmed.lock().unwrap_or_else(PoisonError::into_inner) = Some(block);
        }
        Ok(confirmed)
    }

    async fn second_opinion(&self, endpoint: &Endpoint, block: BlockRef) -> Result<Confirmed> {
        for other in self.pool.others(endpoint) {
            let asked = async {
                self.pool.check_chain(&other).await?;
                other.block_at(block.number).await
            };
            match asked.await {
                Ok(Some(same)) if same.hash == block.hash => return Ok(Confirmed::Yes(block)),
                Ok(Some(another)) => {
                    return Err(ChainError::FinalityDisputed(Box::new(FinalityDispute {
                        chain: self.chain.id,
                        number: block.number,
                        one: endpoint.label().to_owned(),
                        one_hash: block.hash,
                        other: other.label().to_owned(),
                        other_hash: another.hash,
                    })));
                }
                // One that is behind has no opinion.
                Ok(None) => {}
                Err(trouble) => self.pool.note_health(&other, &trouble),
            }
        }
        Ok(match endpoint.block_at(block.number).await {
            Ok(Some(same)) if same.hash == block.hash => Confirmed::Yes(block),
            Ok(_) => {
                Confirmed::No(Trouble::Inconsistent(format!("final block {block} was another one a moment later")))
            }
            Err(trouble) => Confirmed::No(trouble),
        })
    }
}
