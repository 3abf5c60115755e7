//! Headers in batches, from one endpoint.

use futures::{StreamExt, TryStreamExt, stream};
use serde_json::json;

use crate::chain::error::Trouble;
use crate::chain::wire::{self, BatchReply, OptionalHeader, Reply};
use crate::model::{BlockNumber, Header};

use super::endpoint::Endpoint;

const METHOD: &str = "eth_getBlockByNumber";
/// Batches, or single requests, under way at once.
const AT_ONCE: usize = 4;

/// The headers of these blocks, in this order. A block that is not there is [`Trouble::Behind`].
pub(super) async fn headers_of(endpoint: &Endpoint, numbers: &[u64]) -> Result<Vec<Header>, Trouble> {
    let size = endpoint.batch_size().get().max(1);
    let parts: Vec<_> = numbers.chunks(size).map(|part| chunk(endpoint, part)).collect();
    let parts: Vec<Vec<Header>> = stream::iter(parts).buffered(AT_ONCE).try_collect().await?;
    Ok(parts.into_iter().flatten().collect())
}

/// One batch, in smaller ones where the endpoint does not take it.
async fn chunk(endpoint: &Endpoint, numbers: &[u64]) -> Result<Vec<Header>, Trouble> {
    let mut headers = Vec::with_capacity(numbers.len());
    while headers.len() < numbers.len() {
        let rest = &numbers[headers.len()..];
        let size = endpoint.batch_size().get().min(rest.len());
        if size <= 1 {
            headers.push(single(endpoint, rest[0]).await?);
            continue;
        }
        match together(endpoint, &rest[..size]).await? {
            Some(some) => {
                endpoint.batch_size().accepted(size);
                headers.extend(some);
            }
            None => endpoint.batch_size().refused(size),
        }
    }
    Ok(headers)
}

async fn single(endpoint: &Endpoint, number: u64) -> Result<Header, Trouble> {
    endpoint.block_at(BlockNumber(number)).await?.ok_or_else(|| behind(number))
}

/// One batch; none where the endpoint does not take it as a batch.
async fn together(endpoint: &Endpoint, numbers: &[u64]) -> Result<Option<Vec<Header>>, Trouble> {
    let params = numbers.iter().map(|number| json!([format!("{number:#x}"), false])).collect();
    let body = match endpoint.post_batch(METHOD, params).await {
        Ok(body) => body,
        Err(Trouble::Status { status: 400 | 413, .. } | Trouble::Refused(_)) => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    let bad = |text: String| Trouble::BadAnswer(endpoint.scrub(&text));
    let mut replies = match wire::batch(&body).map_err(|error| bad(error.to_string()))? {
        BatchReply::Each(replies) => replies,
        BatchReply::Refused(error) => match endpoint.rpc_trouble(error) {
            limited @ Trouble::RateLimited { .. } => return Err(limited),
            _ => return Ok(None),
        },
    };
    let mut headers = Vec::with_capacity(numbers.len());
    for (id, &number) in (0_u64..).zip(numbers) {
        let raw = match replies.remove(&id) {
            Some(Reply::Result(raw)) => raw,
            Some(Reply::Error(error)) => return Err(endpoint.rpc_trouble(error)),
            None => return Err(bad(format!("the batch has no answer for block {number}"))),
        };
        let header: OptionalHeader = serde_json::from_str(raw.get()).map_err(|error| bad(error.to_string()))?;
        let header = header.0.ok_or_else(|| behind(number))?;
        if header.number.0 != number {
            return Err(bad(format!("block {} came where block {number} was asked for", header.number)));
        }
        headers.push(header);
    }
    Ok(Some(headers))
}

fn behind(number: u64) -> Trouble {
    Trouble::Behind(format!("block {number}"))
}
