//! The cursor's blocks: contiguous above the final one, and the final one never falls.

use std::collections::BTreeMap;

use crate::model::{BlockHash, BlockNumber, BlockRef};
use crate::store::{Commit, Result, StoreError};

/// Where the cursor stands, as far as one commit can touch it.
#[derive(Debug, Default)]
pub(crate) struct Stand {
    pub final_block: Option<BlockRef>,
    /// The last of the cursor's blocks; none where there is no block above the final one.
    pub last: Option<BlockRef>,
    /// The cursor's blocks from [`Stand::from`] of the commit on, and the one at its new final number.
    pub known: BTreeMap<BlockNumber, BlockHash>,
}

/// What a commit changes about the cursor's blocks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advance {
    /// The final block, if it rises. Blocks at and below it go.
    pub final_block: Option<BlockRef>,
    /// Blocks that are new.
    pub append: Vec<BlockRef>,
}

impl Stand {
    /// The lowest block above the final one whose hash the commit has to be compared with.
    pub(crate) fn from(final_block: Option<BlockRef>, commit: &Commit) -> Option<BlockNumber> {
        let blocks = commit.blocks.first().map(|block| block.number);
        let datasets = commit.datasets.iter().map(|part| part.done_to.number);
        blocks.into_iter().chain(datasets).filter(|&number| above(number, final_block)).min()
    }

    /// Checks the commit's blocks, final block and the ends of its windows against where the cursor stands.
    pub(crate) fn advance(&self, commit: &Commit) -> Result<Advance> {
        let raised = commit.final_block.filter(|new| above(new.number, self.final_block));
        if let (Some(given), Some(stored)) = (commit.final_block, self.final_block) {
            same(stored, given)?;
        }
        let mut known = self.known.clone();
        if let Some(block) = self.final_block {
            known.insert(block.number, block.hash);
        }
        if let Some(block) = raised {
            agree(&known, block)?;
            known.insert(block.number, block.hash);
        }
        let final_block = raised.or(self.final_block);
        let mut last = match (self.last, final_block) {
            (Some(last), Some(end)) if last.number <= end.number => Some(end),
            (None, end) => end,
            (last, _) => last,
        };
        let mut append = Vec::new();
        let mut before: Option<BlockRef> = None;
        for &block in &commit.blocks {
            if let Some(before) = before.filter(|before| before.number.next() != block.number) {
                return Err(StoreError::Gap { last: Some(before), next: block });
            }
            before = Some(block);
            agree(&known, block)?;
            match last {
                Some(end) if block.number <= end.number => continue,
                Some(end) if block.number != end.number.next() => {
                    return Err(StoreError::Gap { last, next: block });
                }
                _ => {}
            }
            known.insert(block.number, block.hash);
            append.push(block);
            last = Some(block);
        }
        for part in &commit.datasets {
            let end = part.done_to;
            if !known.contains_key(&end.number) && above(end.number, final_block) {
                return Err(StoreError::Refused(format!(
                    "dataset {} would stand on block {end}, which is neither final nor among the cursor's blocks",
                    part.dataset
                )));
            }
            agree(&known, end)?;
        }
        Ok(Advance { final_block: raised, append })
    }
}

/// Whether the block lies above the final one.
pub(super) fn above(number: BlockNumber, final_block: Option<BlockRef>) -> bool {
    final_block.is_none_or(|end| number > end.number)
}

fn same(stored: BlockRef, given: BlockRef) -> Result<()> {
    if stored.number == given.number && stored.hash != given.hash {
        return Err(StoreError::Fork { stored, given });
    }
    Ok(())
}

fn agree(known: &BTreeMap<BlockNumber, BlockHash>, given: BlockRef) -> Result<()> {
    match known.get(&given.number) {
        Some(&hash) => same(BlockRef { number: given.number, hash }, given),
        None => Ok(()),
    }
}
