//! The inner hashes of a file: what lets a part of it be held against the hash of the whole.

use std::ops::Range;

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use bytes::Bytes;

use crate::model::ContentHash;

/// Bytes that one inner hash stands for; the last one may stand for fewer. A power of two, as BLAKE3's tree wants it.
pub const LEAF: u64 = 64 << 10;

/// Bytes of one inner hash.
const WIDTH: usize = blake3::OUT_LEN;

/// BLAKE3's tree over a file, cut off at leaves of 64 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashTree {
    size: u64,
    leaves: Bytes,
}

/// Inner hashes that are not those of the file that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its inner hashes do not belong to {0}")]
pub struct BadTree(pub ContentHash);

/// Bytes that are not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes {} to {} are not what was written there", .0.start, .0.end)]
pub struct WrongBytes(pub Range<u64>);

impl HashTree {
    /// The tree of these bytes, and their hash.
    pub fn of(bytes: &[u8]) -> (ContentHash, HashTree) {
        let mut leaves = Vec::with_capacity(bytes.len().div_ceil(LEAF as usize).max(1) * WIDTH);
        match bytes.len() as u64 <= LEAF {
            true => leaves.extend(blake3::hash(bytes).as_bytes()),
            false => {
                for (place, leaf) in bytes.chunks(LEAF as usize).enumerate() {
                    leaves.extend(leaf_hash(place as u64 * LEAF, leaf));
                }
            }
        }
        let tree = HashTree { size: bytes.len() as u64, leaves: leaves.into() };
        (tree.root(), tree)
    }

    /// A tree as it was stored beside the hash of a file of so many bytes.
    pub fn parse(hash: ContentHash, size: u64, leaves: Bytes) -> Result<HashTree, BadTree> {
        let count = size.div_ceil(LEAF).max(1);
        if leaves.len() as u64 != count * WIDTH as u64 {
            return Err(BadTree(hash));
        }
        let tree = HashTree { size, leaves };
        if tree.root() == hash { Ok(tree) } else { Err(BadTree(hash)) }
    }

    /// What to store.
    pub fn leaves(&self) -> &Bytes {
        &self.leaves
    }

    /// The smallest range of whole leaves that holds a range.
    pub fn covering(&self, range: &Range<u64>) -> Range<u64> {
        range.start / LEAF * LEAF..(range.end.div_ceil(LEAF) * LEAF).min(self.size)
    }

    /// Holds the bytes of whole leaves, from `start` on, against their hashes.
    pub fn check(&self, start: u64, bytes: &[u8]) -> Result<(), WrongBytes> {
        let end = start + bytes.len() as u64;
        if !start.is_multiple_of(LEAF) || end > self.size || (!end.is_multiple_of(LEAF) && end != self.size) {
            return Err(WrongBytes(start..end));
        }
        let wanted = self.leaves.chunks(WIDTH).skip((start / LEAF) as usize);
        for ((place, leaf), wanted) in (start..).step_by(LEAF as usize).zip(bytes.chunks(LEAF as usize)).zip(wanted) {
            let found = match self.size <= LEAF {
                true => *blake3::hash(leaf).as_bytes(),
                false => leaf_hash(place, leaf),
            };
            if found != wanted {
                return Err(WrongBytes(place..place + leaf.len() as u64));
            }
        }
        Ok(())
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.leaves.len() + size_of::<Self>()
    }

    fn root(&self) -> ContentHash {
        let leaves: Vec<[u8; WIDTH]> = self.leaves.as_chunks().0.to_vec();
        match leaves.as_slice() {
            [only] => ContentHash(*only),
            many => {
                let (left, right) = many.split_at(left_leaves(many.len()));
                ContentHash(*merge_subtrees_root(&merged(left), &merged(right), Mode::Hash).as_bytes())
            }
        }
    }
}

fn leaf_hash(start: u64, leaf: &[u8]) -> [u8; WIDTH] {
    blake3::Hasher::new().set_input_offset(start).update(leaf).finalize_non_root()
}

fn merged(leaves: &[[u8; WIDTH]]) -> [u8; WIDTH] {
    match leaves {
        [only] => *only,
        many => {
            let (left, right) = many.split_at(left_leaves(many.len()));
            merge_subtrees_non_root(&merged(left), &merged(right), Mode::Hash)
        }
    }
}

/// The left side of a BLAKE3 node is the largest whole subtree that leaves something to the right.
fn left_leaves(count: usize) -> usize {
    count.next_power_of_two() / 2
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len as u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    #[test]
    fn the_root_is_the_hash_of_the_file() {
        let leaf = LEAF as usize;
        for len in [
            0,
            1,
            1_024,
            leaf - 1,
            leaf,
            leaf + 1,
            2 * leaf,
            2 * leaf + 1,
            3 * leaf,
            5 * leaf + 7,
            8 * leaf,
            17 * leaf - 1,
        ] {
            let bytes = bytes(len);
            let (hash, tree) = HashTree::of(&bytes);
            assert_eq!(hash, ContentHash::of(&bytes), "{len} bytes");
            assert_eq!(HashTree::parse(hash, len as u64, tree.leaves().clone()), Ok(tree), "{len} bytes");
        }
    }

    #[test]
    fn a_tree_of_another_file_is_refused() {
        let (hash, tree) = HashTree::of(&bytes(300_000));
        let mut other = tree.leaves().to_vec();
        other[70] ^= 1;
        assert_eq!(HashTree::parse(hash, 300_000, other.into()), Err(BadTree(hash)));
        assert_eq!(HashTree::parse(hash, 300_000, tree.leaves().slice(..32)), Err(BadTree(hash)));
        assert_eq!(HashTree::parse(hash, 400_000, tree.leaves().clone()), Err(BadTree(hash)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A part is taken if and only if it is the file's.
        #[test]
        fn any_flipped_bit_is_seen(len in 1usize..400_000, at in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>(), bit in 0u8..8, span in 1u64..150_000) {
            let whole = bytes(len);
            let (_, tree) = HashTree::of(&whole);
            let start = at.index(len) as u64;
            let part = tree.covering(&(start..(start + span).min(len as u64)));
            prop_assert!(part.start <= start && part.end >= (start + span).min(len as u64));
            let mut read = whole[part.start as usize..part.end as usize].to_vec();
            prop_assert_eq!(tree.check(part.start, &read), Ok(()));
            let flipped = flip.index(read.len());
            read[flipped] ^= 1 << bit;
            let wrong = tree.check(part.start, &read).unwrap_err().0;
            prop_assert!(wrong.contains(&(part.start + flipped as u64)));
            read[flipped] ^= 1 << bit;
            read.pop();
            prop_assert!(tree.check(part.start, &read).is_err());
        }
    }
}
