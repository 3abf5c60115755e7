//! I15: which log stops a nest does not depend on how the host cuts the batch.

use std::sync::Arc;

use nuthatch::model::BlockNumber;
use nuthatch::plugin::{Budget, PluginLimits};
use nuthatch_tests::guests::{Evil, block_hash, evil_logs, host};

use crate::fault;

/// Small, so that loops end soon.
const SMALL: Budget = Budget { base: 3_000_000, per_log: 0, per_byte: 0 };

fn cut_at(part_logs: usize) -> PluginLimits {
    PluginLimits { part_logs, ..PluginLimits::default() }
}

#[tokio::test]
async fn one_log_is_blamed_whatever_the_cut() {
    let batch = Arc::new(evil_logs(0..1_000, &[613, 700]));
    let modes = [("panic-on-marker", "trap"), ("loop-on-marker", "out-of-fuel"), ("failure-on-marker", "failure")];
    for part_logs in [1, 64, 4_096] {
        let evil = Evil::load(&host(cut_at(part_logs)));
        for (mode, class) in modes {
            let decoder = evil.decoder(mode, SMALL);
            let blamed = fault(decoder.decode(Arc::clone(&batch)).await);
            assert_eq!(blamed.class, class);
            assert_eq!(blamed.block.number, BlockNumber(613), "{mode} at {part_logs}");
            assert_eq!(blamed.block.hash, block_hash(613));
            assert_eq!(blamed.log_index, 613 % 11);
            assert!(!blamed.message.contains("together"), "{blamed}");
        }
    }
}

#[test]
fn without_its_marked_logs_the_batch_passes() {
    let evil = Evil::load(&host(PluginLimits::default()));
    for mode in ["panic-on-marker", "loop-on-marker", "failure-on-marker", "pair-panic"] {
        let decoder = evil.decoder(mode, SMALL);
        assert_eq!(decoder.decode_blocking(&evil_logs(0..1_000, &[])).unwrap().counts.rows, 1_000, "{mode}");
    }
}

/// A fault that needs two logs breaks I10; the nest is quarantined at the smallest batch that shows it.
#[test]
fn two_logs_that_fault_together_are_blamed_together() {
    let decoder = Evil::load(&host(PluginLimits::default())).decoder("pair-panic", SMALL);
    let blamed = fault(decoder.decode_blocking(&evil_logs(0..8, &[2, 3, 6])));
    assert_eq!(blamed.block.number, BlockNumber(2));
    assert_eq!(
        blamed.message,
        "trap: wasm `unreachable` instruction executed (the 2 logs up to block 3, log 3 fail together though each half \
         of them is decoded: the rows of a log may depend on that log alone)"
    );
    assert_eq!(decoder.decode_blocking(&evil_logs(0..8, &[2])).unwrap().counts.rows, 8);
}

/// What only adds up is no fault: each log alone stays within its budget.
#[test]
fn many_dear_logs_pass_in_smaller_calls() {
    // 64 logs at some 300,000 units each, and 3,000,000 for a call.
    let decoder = Evil::load(&host(PluginLimits::default())).decoder("burn-per-log:100000", SMALL);
    let batch = evil_logs(0..64, &[]);
    let once = decoder.decode_blocking(&batch).unwrap();
    assert_eq!(once.counts.rows, 64);
    // The second time the decoder cuts by what it has learnt; the rows are the same.
    assert_eq!(decoder.decode_blocking(&batch).unwrap(), once);

    let limits = PluginLimits { memory_bytes: 16 << 20, ..PluginLimits::default() };
    let decoder = Evil::load(&host(limits)).decoder("memory-per-log:2000000", Budget::DEFAULT);
    assert_eq!(decoder.decode_blocking(&batch).unwrap().counts.rows, 64);
    let limits = PluginLimits { output_rows: 10, ..PluginLimits::default() };
    let decoder = Evil::load(&host(limits)).decoder("healthy", Budget::DEFAULT);
    assert_eq!(decoder.decode_blocking(&batch).unwrap().counts.rows, 64);
}

/// A dear log cannot hide among cheap ones: the budget of a call is that of one log.
#[test]
fn a_log_that_alone_is_too_dear_is_too_dear_in_company() {
    let base = 100_000;
    let alone =
        Evil::load(&host(PluginLimits::default())).decoder("burn:200000", Budget { base, per_log: 0, per_byte: 0 });
    assert_eq!(fault(alone.decode_blocking(&evil_logs(5..6, &[]))).class, "out-of-fuel");
    let blamed = fault(alone.decode_blocking(&evil_logs(5..600, &[])));
    assert_eq!((blamed.class.as_str(), blamed.block.number), ("out-of-fuel", BlockNumber(5)));
}
