//! The guest's one import cannot flood, forge or colour the host's log: item 21 of the list.

use std::sync::Arc;

use nuthatch::plugin::{Budget, LogLevel, PluginLimits};
use nuthatch_tests::guests::{Evil, KeptLines, evil_logs};

use crate::fault;

fn logged(mode: &str) -> (Arc<KeptLines>, Result<nuthatch::plugin::Decoded, nuthatch::plugin::DecodeError>) {
    let sink = Arc::new(KeptLines::default());
    let decoder = Evil::load(&sink.host(PluginLimits::default())).decoder(mode, Budget::CAP);
    let outcome = decoder.decode_blocking(&evil_logs(0..1, &[]));
    (sink, outcome)
}

#[test]
fn lines_over_the_cap_are_counted_and_change_no_row() {
    let (sink, outcome) = logged("spam:100000");
    let (quiet, silent) = logged("healthy");
    assert_eq!(outcome.unwrap(), silent.unwrap());
    assert_eq!(sink.lines().len(), 64);
    assert_eq!(sink.lines()[63], (LogLevel::Warn, "line 63".to_owned()));
    assert_eq!(sink.dropped(), 100_000 - 64);
    assert!(quiet.lines().is_empty() && quiet.dropped() == 0);
}

#[test]
fn a_long_line_is_cut() {
    let (sink, outcome) = logged("long-line:1000000");
    assert!(outcome.is_ok());
    assert_eq!(sink.lines(), [(LogLevel::Warn, "x".repeat(1_024))]);
}

#[test]
fn control_characters_are_spelled_out() {
    let (sink, outcome) = logged("control-line");
    assert!(outcome.is_ok());
    assert_eq!(sink.lines(), [(LogLevel::Info, "one\\ntwo\\u{1b}[31mred\\u{0}\\u{202e}end".to_owned())]);
}

/// The host's work for a line is on the guest's budget, so endless logging ends like any endless loop.
#[test]
fn lines_cost_fuel() {
    let sink = Arc::new(KeptLines::default());
    let budget = Budget { base: 10_000_000, per_log: 0, per_byte: 0 };
    let decoder = Evil::load(&sink.host(PluginLimits::default())).decoder("spam:1000000000", budget);
    assert_eq!(fault(decoder.decode_blocking(&evil_logs(0..1, &[]))).class, "out-of-fuel");
    assert!(sink.dropped() < 20_000, "{}", sink.dropped());
}
