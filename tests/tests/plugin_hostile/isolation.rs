//! Nothing goes from one call to the next, and the same logs give the same bytes: items 23, 24 and 26 of the list.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use arrow::ipc::writer::StreamWriter;
use arrow::util::pretty::pretty_format_batches;
use nuthatch::model::BundleHash;
use nuthatch::plugin::{Budget, Decoded, Decoder, LogLine, LogSink, PluginHost, PluginLimits};
use nuthatch_tests::guests::{Evil, evil_logs, host};

use crate::fault;

fn bytes(decoded: &Decoded) -> Vec<u8> {
    let mut out = Vec::new();
    let batches = decoded.tables.iter().map(|(_, batch)| batch).chain(&decoded.rejected).chain(&decoded.ignored);
    for batch in batches {
        let mut writer = StreamWriter::try_new(&mut out, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
    out
}

/// BLAKE3 of the rows as text, of 50 logs in the modes `healthy` and `thirds`.
const GOLDEN: [&str; 2] = [
    "de5e586323f3579bfb95b37954e13570df27a8645c7664611a37bd977d0e159c",
    "6e7aec7058baf54f2a8a6265507ae05bbf3416a8febb76c424825a8c45f6f265",
];

fn text(decoded: &Decoded) -> Vec<u8> {
    let batches = decoded.tables.iter().map(|(_, batch)| batch).chain(&decoded.rejected).chain(&decoded.ignored);
    let shown = |batch: &RecordBatch| pretty_format_batches(std::slice::from_ref(batch)).unwrap().to_string();
    batches.map(shown).collect::<String>().into_bytes()
}

/// I10: a thousand times, on several threads, in cold and warm slots, after other nests' traps: the same bytes.
#[test]
fn the_same_logs_give_the_same_bytes() {
    let evil = Evil::load(&host(PluginLimits { slots: 3, ..PluginLimits::default() }));
    let batch = evil_logs(0..50, &[]);
    let decoders = ["healthy", "thirds", "panic"].map(|mode| evil.decoder(mode, Budget::DEFAULT));
    let [healthy, thirds, trap] = &decoders;
    let expected = [healthy, thirds].map(|decoder| bytes(&decoder.decode_blocking(&batch).unwrap()));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (batch, expected) = (&batch, &expected);
            scope.spawn(move || {
                for round in 0..250 {
                    if (round + thread) % 25 == 0 {
                        fault(trap.decode_blocking(&evil_logs(0..1, &[])));
                    }
                    let which = (round + thread) % 2;
                    let decoded = [healthy, thirds][which].decode_blocking(batch).unwrap();
                    assert_eq!(bytes(&decoded), expected[which]);
                }
            });
        }
    });
    // What other builds and machines have seen.
    let seen = [healthy, thirds].map(|decoder| BundleHash::of(&text(&decoder.decode_blocking(&batch).unwrap())));
    assert_eq!(seen.map(|hash| hash.to_string()), GOLDEN);
    let fresh = Evil::load(&host(PluginLimits::default())).decoder("healthy", Budget::DEFAULT);
    assert_eq!(bytes(&fresh.decode_blocking(&batch).unwrap()), expected[0]);
}

fn counts(decoder: &Decoder) -> Vec<u64> {
    let decoded = decoder.decode_blocking(&evil_logs(0..4, &[])).unwrap();
    decoded.tables[0].1.column_by_name("count").unwrap().as_primitive::<UInt64Type>().values().to_vec()
}

#[test]
fn a_static_starts_anew_in_every_call() {
    let evil = Evil::load(&host(PluginLimits { slots: 1, ..PluginLimits::default() }));
    let decoder = evil.decoder("static-counter", Budget::DEFAULT);
    for _ in 0..5 {
        assert_eq!(counts(&decoder), [0; 4]);
    }
}

/// One slot, so that the second nest runs where the first one wrote 4 MiB.
#[test]
fn a_slot_holds_nothing_of_the_call_before() {
    let evil = Evil::load(&host(PluginLimits { slots: 1, ..PluginLimits::default() }));
    let leaves = evil.decoder("leave-residue", Budget::CAP);
    let finds = evil.decoder("find-residue", Budget::CAP);
    for _ in 0..3 {
        assert_eq!(counts(&leaves), [0; 4]);
        assert_eq!(counts(&finds), [0; 4]);
    }
}

/// Panics at every line that it is told to.
#[derive(Default)]
struct Panicking {
    times: AtomicU64,
    lines: AtomicU64,
}

impl LogSink for Panicking {
    fn line(&self, _: LogLine) {
        self.lines.fetch_add(1, Ordering::SeqCst);
        if self.times.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |times| times.checked_sub(1)).is_ok() {
            panic!("the sink is broken");
        }
    }

    fn dropped(&self, _: &str, _: u64) {}
}

fn panicking(times: u64) -> (Arc<Panicking>, Evil) {
    let sink = Arc::new(Panicking { times: times.into(), lines: 0.into() });
    let limits = PluginLimits { slots: 1, ..PluginLimits::default() };
    let engine = PluginHost::with_log_sink(limits, Arc::clone(&sink) as Arc<dyn LogSink>).unwrap();
    (sink, Evil::load(&engine))
}

/// A panic of the host's own is tried once more, then it counts against that nest alone.
#[test]
fn a_panic_in_an_import_is_caught() {
    let batch = evil_logs(9..10, &[]);
    let (sink, evil) = panicking(u64::MAX);
    let talkative = evil.decoder("spam:1", Budget::DEFAULT);
    let blamed = fault(talkative.decode_blocking(&batch));
    assert_eq!(blamed.class, "host-panic");
    assert_eq!(
        blamed.message,
        "the host's own code panicked twice while this batch was decoded: the sink is broken; this is a defect of \
         nuthatch"
    );
    assert_eq!(sink.lines.load(Ordering::SeqCst), 2);
    let sibling = evil.decoder("healthy", Budget::DEFAULT);
    assert_eq!(sibling.decode_blocking(&batch).unwrap().counts.rows, 1);
}

#[test]
fn a_panic_that_does_not_come_again_costs_nothing() {
    let (sink, evil) = panicking(1);
    let talkative = evil.decoder("spam:1", Budget::DEFAULT);
    assert_eq!(talkative.decode_blocking(&evil_logs(9..10, &[])).unwrap().counts.rows, 1);
    assert_eq!(sink.lines.load(Ordering::SeqCst), 2);
}

/// More calls than slots wait for each other; none fails for want of a slot.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_wait_for_a_slot() {
    let evil = Evil::load(&host(PluginLimits { slots: 2, part_logs: 10, ..PluginLimits::default() }));
    let batch = Arc::new(evil_logs(0..200, &[]));
    let mut running = Vec::new();
    for nest in 0..8 {
        let decoder = evil.decoder(["healthy", "burn:200000"][nest % 2], Budget::DEFAULT);
        let batch = Arc::clone(&batch);
        running.push(tokio::spawn(async move { decoder.decode(batch).await }));
    }
    for decoded in running {
        assert_eq!(decoded.await.unwrap().unwrap().counts.rows, 200);
    }
}
