//! Finds where the chain of a source and the chain of a cursor part.

use crate::model::{BlockRange, BlockRef};

use super::error::Result;
use super::source::Source;

/// The highest of the known blocks (ascending, without gaps) that the source has on its chain; none where it has none
/// of them. Known blocks above the source's head are passed over, so wait out a lower head before asking.
///
/// Headers are asked for from the top down in pieces that double: a shallow reorg costs one small request.
pub async fn common_ancestor(source: &dyn Source, known: &[BlockRef]) -> Result<Option<BlockRef>> {
    let head = source.head().await?;
    let mut rest = &known[..known.partition_point(|block| block.number <= head.number)];
    let mut piece = 8;
    while let (Some(_), Some(last)) = (rest.first(), rest.last()) {
        let (below, part) = rest.split_at(rest.len().saturating_sub(piece));
        let range = BlockRange { first: part[0].number, last: last.number };
        let headers = source.headers(range).await?;
        let shared = part.iter().zip(&headers).rev().find(|(block, header)| block.hash == header.hash);
        if let Some((block, _)) = shared {
            return Ok(Some(*block));
        }
        rest = below;
        piece *= 2;
    }
    Ok(None)
}
