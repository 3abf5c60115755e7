#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;
use crate::chain::refusal::RefusalKind;

const BOUNDS: RangeBounds = RangeBounds { first: 512, max: 100_000, logs: 20_000 };

fn refusal(suggested: Option<u64>) -> Refusal {
    Refusal { kind: RefusalKind::Unknown, suggested, text: String::new() }
}

/// A server that refuses more than `cap` blocks or more than `most` logs, at `density` logs a block.
struct Server {
    cap: u64,
    most: u64,
    density: u64,
    suggestion: Option<u64>,
}

/// Covers `blocks` blocks; returns (requests, refusals). Panics when it does not get through.
fn cover(server: &Server, blocks: u64, controller: &mut RangeController) -> (u64, u64) {
    let (mut done, mut requests, mut refusals) = (0, 0, 0);
    let mut most = u64::MAX;
    while done < blocks {
        requests += 1;
        assert!(requests < 200_000, "no end");
        let asked = most.min(controller.size()).min(blocks - done);
        if asked > server.cap || asked * server.density > server.most {
            refusals += 1;
            match controller.refused(asked, &refusal(server.suggestion)) {
                Next::Ask(fewer) => {
                    assert!(fewer >= 1 && fewer < asked);
                    most = fewer;
                }
                Next::SingleBlock => panic!("a single block was refused"),
            }
        } else {
            controller.accepted(asked, asked * server.density);
            done += asked;
            most = u64::MAX;
        }
    }
    (requests, refusals)
}

proptest! {
    /// Whatever happens, the size stays within bounds and a refusal makes it strictly smaller.
    #[test]
    fn the_size_stays_in_bounds_and_shrinks_on_refusal(
        events in prop::collection::vec((any::<bool>(), 1_u64..200_000, 0_u64..1_000_000, any::<Option<u64>>()), 0..300),
        first in any::<u64>(), max in any::<u64>(),
    ) {
        let bounds = RangeBounds { first, max, ..BOUNDS };
        let mut controller = RangeController::new(bounds);
        for (good, blocks, logs, suggested) in events {
            let before = controller.size();
            if good {
                controller.accepted(blocks, logs);
            } else {
                let next = controller.refused(blocks, &refusal(suggested));
                prop_assert_eq!(next == Next::SingleBlock, blocks == 1);
                if let Next::Ask(fewer) = next {
                    prop_assert!(fewer >= 1 && fewer < blocks);
                }
                prop_assert!(controller.size() <= before && (controller.size() < blocks || blocks == 1));
            }
            prop_assert!(controller.size() >= 1 && controller.size() <= max.max(1));
        }
    }

    /// Against any cap, with any suggestion, a long range costs a number of requests near the best possible.
    #[test]
    fn any_cap_is_learned(
        cap in 1_u64..200_000, most in 1_u64..50_000, density in 0_u64..200, suggestion in any::<Option<u16>>(),
    ) {
        prop_assume!(density <= most);
        let server = Server { cap, most, density, suggestion: suggestion.map(u64::from) };
        let possible = cap.min(BOUNDS.max).min(most.min(BOUNDS.logs).checked_div(density).unwrap_or(u64::MAX)).max(1);
        let blocks = possible.saturating_mul(200);
        let (requests, refusals) = cover(&server, blocks, &mut RangeController::new(BOUNDS));
        prop_assert!(refusals <= 60, "{refusals} refusals in {requests}");
        // A suggestion far below the cap is followed, so the bound does not hold with one.
        if suggestion.is_none() {
            prop_assert!(requests <= 200 * 4 + 200, "{requests} requests where 200 are possible");
        }
    }
}

#[test]
fn a_suggestion_that_is_no_smaller_is_not_followed() {
    for suggested in [0, 1_000, 1_001, u64::MAX] {
        let mut controller = RangeController::new(RangeBounds { first: 1_000, ..BOUNDS });
        assert_eq!(controller.refused(1_000, &refusal(Some(suggested))), Next::Ask(500));
    }
    let mut controller = RangeController::new(RangeBounds { first: 1_000, ..BOUNDS });
    assert_eq!(controller.refused(1_000, &refusal(Some(700))), Next::Ask(700));
    assert_eq!(controller.size(), 700);
}

#[test]
fn the_size_doubles_until_the_first_refusal_and_creeps_after_it() {
    let mut controller = RangeController::new(BOUNDS);
    let good = |controller: &mut RangeController, times: u32| {
        (0..times * CALM).for_each(|_| controller.accepted(controller.size(), 0));
        controller.size()
    };
    assert_eq!(good(&mut controller, 1), 1_024);
    assert_eq!(good(&mut controller, 1), 2_048);
    controller.refused(2_048, &refusal(None));
    assert_eq!(controller.size(), 1_024);
    assert_eq!(good(&mut controller, 1), 1_152);
    // Under what was refused, until that is long ago.
    assert_eq!(good(&mut controller, 20), 2_047);
    assert!(good(&mut controller, 100) > 2_048);
}

#[test]
fn dense_blocks_shrink_the_size_without_any_refusal() {
    let mut controller = RangeController::new(BOUNDS);
    controller.accepted(512, 200_000);
    assert_eq!(controller.size(), 256);
    controller.accepted(256, 100_000);
    controller.accepted(128, 50_000);
    assert_eq!(controller.size(), 64);
    controller.accepted(64, 25_000);
    assert_eq!(controller.size(), 51);
}
