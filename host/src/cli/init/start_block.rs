//! The block of a contract's deployment, by halving over `eth_getCode`.

use crate::chain::{ChainError, Source};
use crate::model::{Address, BlockNumber};

/// What the search found.
#[derive(Debug)]
pub enum Deployment {
    /// The first block that has the code.
    At(BlockNumber),
    /// The node cannot tell, mostly because it has no state that old; carries what it said.
    Unknown(ChainError),
    /// There is no code at the head either.
    NoCode {
        /// The head.
        head: BlockNumber,
    },
}

/// Finds the first block at which the address has code. Some 25 calls on a long chain. Needs a node with old state;
/// code that came, went and came again gives one of its beginnings.
pub async fn find(source: &dyn Source, address: Address) -> Result<Deployment, ChainError> {
    let head = source.head().await?.number;
    match source.code_at(address, head).await {
        Ok(code) if code.is_empty() => return Ok(Deployment::NoCode { head }),
        Ok(_) => {}
        Err(error) => return Ok(Deployment::Unknown(error)),
    }
    let (mut without, mut with) = (None::<u64>, head.0);
    loop {
        let low = without.map_or(0, |block| block + 1);
        if low == with {
            return Ok(Deployment::At(BlockNumber(with)));
        }
        let middle = low + (with - low) / 2;
        match source.code_at(address, BlockNumber(middle)).await {
            Ok(code) if code.is_empty() => without = Some(middle),
            Ok(_) => with = middle,
            Err(error) => return Ok(Deployment::Unknown(error)),
        }
    }
}
