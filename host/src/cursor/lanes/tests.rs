#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn position(dataset: i64, next: u64) -> Position {
    Position { dataset: DatasetId(dataset), next: BlockNumber(next) }
}

fn chain(final_block: u64, tip: u64) -> Chain {
    Chain { final_block: BlockNumber(final_block), tip: BlockNumber(tip) }
}

#[test]
fn lanes_that_meet_go_on_as_one() {
    let apart = [position(1, 10), position(2, 60)];
    let lane = catch_up(chain(1_000, 1_000), &apart, 500).unwrap();
    assert_eq!((lane.datasets, lane.range.last), (vec![DatasetId(1)], BlockNumber(59)));
    let met = [position(1, 60), position(2, 60)];
    let lane = catch_up(chain(1_000, 1_000), &met, 500).unwrap();
    assert_eq!(lane.datasets, vec![DatasetId(1), DatasetId(2)]);
    assert_eq!(lane.range.last, BlockNumber(559));
}

#[test]
fn catch_up_takes_final_blocks_only_and_the_join_takes_the_rest() {
    let positions = [position(1, 95)];
    assert_eq!(catch_up(chain(100, 130), &positions, 50).unwrap().range.last, BlockNumber(100));
    let positions = [position(1, 101)];
    assert_eq!(catch_up(chain(100, 130), &positions, 50), None);
    assert_eq!(join(chain(100, 130), &positions, 50).unwrap().range.last, BlockNumber(130));
    let positions = [position(1, 131)];
    assert_eq!(join(chain(100, 130), &positions, 50), None);
    assert_eq!(at_tip(chain(100, 130), &positions, BlockNumber(131)), vec![DatasetId(1)]);
}

proptest! {
    /// Whatever the first blocks, window sizes and the pace of the chain, every dataset gets every block from its
    /// first one exactly once and in order, and all end at the tip.
    #[test]
    fn every_dataset_gets_every_block_once(
        firsts in prop::collection::vec(0u64..400, 1..6),
        final_start in 1u64..300,
        steps in prop::collection::vec((0u64..20, 0u64..20, 1u64..64), 1..200),
    ) {
        let mut next: BTreeMap<i64, u64> = firsts.iter().enumerate().map(|(id, first)| (id as i64, *first)).collect();
        let mut view = chain(final_start, final_start);
        let positions = |next: &BTreeMap<i64, u64>| -> Vec<Position> {
            next.iter().map(|(id, block)| position(*id, *block)).collect()
        };
        let apply = |next: &mut BTreeMap<i64, u64>, lane: &Lane| -> Result<(), TestCaseError> {
            prop_assert!(!lane.datasets.is_empty());
            for id in &lane.datasets {
                let at = next.get_mut(&id.0).unwrap();
                prop_assert_eq!(*at, lane.range.first.0, "a window starts where the dataset stands");
                *at = lane.range.last.0 + 1;
            }
            Ok(())
        };
        for (new_blocks, new_final, size) in steps {
            let last = BlockNumber(view.tip.0 + new_blocks);
            if new_blocks > 0 {
                for id in at_tip(view, &positions(&next), last) {
                    let at = next.get_mut(&id.0).unwrap();
                    prop_assert!(*at == view.tip.0 + 1 || *at == firsts[id.0 as usize]);
                    *at = last.0 + 1;
                }
                view.tip = last;
            }
            view.final_block = BlockNumber((view.final_block.0 + new_final).min(view.tip.0));
            if let Some(lane) = join(view, &positions(&next), size) {
                prop_assert!(lane.range.first > view.final_block && lane.range.last <= view.tip);
                apply(&mut next, &lane)?;
            }
            if let Some(lane) = catch_up(view, &positions(&next), size) {
                prop_assert!(lane.range.last <= view.final_block);
                apply(&mut next, &lane)?;
            }
        }
        let mut turns = 0;
        while let Some(lane) = catch_up(view, &positions(&next), 7).or_else(|| join(view, &positions(&next), 7)) {
            apply(&mut next, &lane)?;
            turns += 1;
            prop_assert!(turns < 1_000, "catching up ends");
        }
        for (id, at) in &next {
            prop_assert_eq!(*at, (view.tip.0 + 1).max(firsts[*id as usize]));
        }
    }
}
