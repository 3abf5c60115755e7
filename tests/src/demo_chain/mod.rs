//! The chain that `nuthatch demo` replays: a token, two pools, some 2,000 blocks, one reorg near the head.
//!
//! The same seed gives the same bytes anywhere: integers only, and a generator of its own.

mod abi;
mod block;
mod price;
mod record;
mod rng;
mod world;

pub use block::{Block, Log};
pub use record::record;

use rng::Rng;
use world::World;

/// The demo chain's id: the one that local development nodes use.
pub const CHAIN_ID: u64 = 31_337;
/// The last block.
pub const HEAD: u64 = 2_048;
/// The last block that both branches share.
pub const FORK: u64 = 2_031;
/// The last block of the branch that loses.
pub const LOST_HEAD: u64 = 2_036;

/// The blocks in the order in which a node saw them. After [`LOST_HEAD`] comes `FORK + 1` once more: the reorg.
pub fn blocks() -> Vec<Block> {
    let mut rng = Rng::new(0x006e_7574_6861_7463);
    let mut world = World::new();
    let mut chain = vec![Block::genesis()];
    for _ in 1..=FORK {
        grow(&mut chain, &mut world, &mut rng);
    }
    let fork = chain.len() - 1;
    let (mut lost_world, mut lost_rng) = (world.clone(), Rng::new(0x6c6f_7374));
    let mut lost = vec![chain[fork].clone()];
    for _ in FORK + 1..=LOST_HEAD {
        grow(&mut lost, &mut lost_world, &mut lost_rng);
    }
    let mut kept = vec![chain[fork].clone()];
    for _ in FORK + 1..=HEAD {
        grow(&mut kept, &mut world, &mut rng);
    }
    chain.extend(lost.into_iter().skip(1));
    chain.extend(kept.into_iter().skip(1));
    chain
}

fn grow(chain: &mut Vec<Block>, world: &mut World, rng: &mut Rng) {
    if let Some(parent) = chain.last() {
        let emitted = world.block(parent.number + 1, rng);
        let block = Block::on(parent, emitted);
        chain.push(block);
    }
}

pub use world::account;
