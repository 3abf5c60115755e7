//! The room as a whole, with the hostile guest in its honest modes. Its attacks are tested from the outside.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Int32Type, UInt64Type};

use super::*;
use crate::model::{Address, B256, BlockNumber, BlockRef, ChainId, LogBatch, LogView, arrow_schema};

fn component() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/guests/dist/evil.wasm")).unwrap()
}

fn logs(blocks: std::ops::Range<u64>) -> LogBatch {
    let mut batch = LogBatch::new(ChainId(1));
    for number in blocks {
        batch.push(LogView {
            block: BlockRef { number: BlockNumber(number), hash: B256::with_last_byte(number as u8) },
            timestamp: 1_700_000_000 + number,
            tx_index: 3,
            log_index: number % 7,
            tx_hash: B256::repeat_byte(0x77),
            address: Address::repeat_byte(0xee),
            topics: &[B256::repeat_byte(0x11), B256::repeat_byte(0x22)],
            data: &number.to_be_bytes(),
        });
    }
    batch
}

fn decoder(host: &PluginHost, mode: &str) -> Decoder {
    let plugin = host.load(&component()).unwrap();
    let plan = plugin.plan(mode.as_bytes()).unwrap();
    let tables = plugin.describe(&plan).unwrap().tables;
    Decoder::new(plugin, &"evil".parse().unwrap(), plan, tables, Budget::DEFAULT)
}

fn host(limits: PluginLimits) -> PluginHost {
    PluginHost::new(limits).unwrap()
}

fn numbers(batch: &RecordBatch) -> Vec<u64> {
    batch.column_by_name("block_number").unwrap().as_primitive::<UInt64Type>().values().to_vec()
}

#[test]
fn rows_carry_provenance_and_every_kind_of_column() {
    let decoder = decoder(&host(PluginLimits::default()), "healthy");
    let decoded = decoder.decode_blocking(&logs(10..14)).unwrap();
    assert_eq!(decoded.counts, Counts { logs: 4, sources: 4, rows: 4, ..Counts::default() });
    assert!(decoded.rejected.is_none() && decoded.ignored.is_none());
    let [(0, rows)] = decoded.tables.as_slice() else { panic!("one table expected") };
    assert_eq!(rows.schema(), arrow_schema(&decoder.tables()[0]));
    assert_eq!(numbers(rows), [10, 11, 12, 13]);
    let column = |name: &str| rows.column_by_name(name).unwrap();
    assert_eq!(column("block_hash").as_fixed_size_binary().value(1), B256::with_last_byte(11).as_slice());
    assert_eq!(column("address").as_fixed_size_binary().value(0), Address::repeat_byte(0xee).as_slice());
    assert_eq!(column("who").as_fixed_size_binary().value(3), Address::repeat_byte(0xee).as_slice());
    assert_eq!(column("value").as_fixed_size_binary().value(2)[31], 12);
    assert_eq!(column("payload").as_binary::<i32>().value(0), 10_u64.to_be_bytes());
    assert_eq!(column("note").as_string::<i32>().value(2), "block 12, grüße");
    assert!(column("note").is_null(1) && column("step").is_null(2));
    assert_eq!(column("step").as_primitive::<Int32Type>().value(3), -13);
    assert!(!column("flag").as_boolean().value(1));
    let shown = arrow::util::display::array_value_to_string(column("price"), 2).unwrap();
    assert_eq!(shown, "0.0012");
    let shown = arrow::util::display::array_value_to_string(column("large_price"), 2).unwrap();
    assert_eq!(shown, "0.0000000012");
}

/// I16: each log is in exactly one place, and nothing depends on the cut.
#[tokio::test]
async fn every_log_is_accounted_for_however_the_batch_is_cut() {
    let batch = Arc::new(logs(0..1_000));
    let whole = decoder(&host(PluginLimits::default()), "thirds").decode(Arc::clone(&batch)).await.unwrap();
    let counts = Counts { logs: 1_000, sources: 334, rejected: 333, ignored: 333, rows: 668 };
    assert_eq!(whole.counts, counts);
    let rejected = whole.rejected.as_ref().unwrap();
    assert_eq!(numbers(rejected).len(), 333);
    let topics = rejected.column_by_name("topics").unwrap().as_string::<i32>().value(0).to_owned();
    assert_eq!(topics, format!("[\"0x{}\",\"0x{}\"]", "11".repeat(32), "22".repeat(32)));
    assert_eq!(rejected.column_by_name("data").unwrap().as_binary::<i32>().value(0), 1_u64.to_be_bytes());
    for part_logs in [1, 7, 256] {
        let small = host(PluginLimits { part_logs, ..PluginLimits::default() });
        let cut = decoder(&small, "thirds").decode(Arc::clone(&batch)).await.unwrap();
        assert_eq!(cut, whole, "cut at {part_logs} logs");
    }
    let bytes = host(PluginLimits { part_bytes: 1_000, ..PluginLimits::default() });
    assert_eq!(decoder(&bytes, "thirds").decode_blocking(&batch).unwrap(), whole);
}

#[tokio::test]
async fn an_empty_batch_is_decoded_without_a_call() {
    let decoder = decoder(&host(PluginLimits::default()), "decode-loop");
    let decoded = decoder.decode(Arc::new(logs(0..0))).await.unwrap();
    assert_eq!(decoded.counts, Counts::default());
}

/// Blocking calls from within a task finish however many there are: a task's cooperative budget is 128 waits.
#[tokio::test]
async fn blocking_calls_from_a_task_finish() {
    let plugin = host(PluginLimits::default()).load(&component()).unwrap();
    for _ in 0..300 {
        assert_eq!(plugin.plan(b"healthy").unwrap(), b"healthy");
    }
}

#[test]
fn a_component_is_compiled_once_as_long_as_it_is_used() {
    let host = host(PluginLimits::default());
    let first = host.load(&component()).unwrap();
    let mut renamed = component();
    // A custom section of the component: id 0, 3 bytes, a name of 1 byte, 1 byte of content.
    renamed.extend([0, 3, 1, b'x', b'y']);
    let second = host.load(&renamed).unwrap();
    assert_eq!(first.code_hash(), second.code_hash());
    assert!(Arc::ptr_eq(&host.shared.find(&first.code_hash()).unwrap(), &second.compiled));
    let code = first.code_hash();
    drop((first, second));
    assert!(host.shared.find(&code).is_none());
}

/// A full pool is the host's fault: no nest is quarantined for it.
#[test]
fn a_full_pool_is_a_host_fault() {
    let host = host(PluginLimits { slots: 1, ..PluginLimits::default() });
    let decoder = decoder(&host, "healthy");
    let batch = logs(0..1);
    let plugin = host.load(&component()).unwrap();
    let holds = plugin.holding_an_instance(|| {
        let error = decoder.decode_blocking(&batch).unwrap_err();
        let DecodeError::Host(HostFault::NoSlot(words)) = error else { panic!("{error:?}") };
        assert!(words.starts_with("maximum concurrent limit of 1 for "), "{words}");
    });
    assert!(holds.is_ok());
    assert_eq!(decoder.decode_blocking(&batch).unwrap().counts.rows, 1);
}

/// `/metrics` accounts for every log, and for faults by class.
#[test]
fn counters_account_for_every_log() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let host = host(PluginLimits { part_logs: 100, ..PluginLimits::default() });
        decoder(&host, "thirds").decode_blocking(&logs(0..1_000)).unwrap();
        decoder(&host, "panic").decode_blocking(&logs(0..2)).unwrap_err();
    });
    let page = handle.render();
    for line in [
        "nuthatch_decode_logs_total{nest=\"evil\",outcome=\"row\"} 334",
        "nuthatch_decode_logs_total{nest=\"evil\",outcome=\"rejected\"} 333",
        "nuthatch_decode_logs_total{nest=\"evil\",outcome=\"ignored\"} 333",
        "nuthatch_plugin_calls_total{nest=\"evil\",outcome=\"ok\"} 10",
        "nuthatch_plugin_calls_total{nest=\"evil\",outcome=\"trap\"} 2",
        "nuthatch_plugin_faults_total{nest=\"evil\",class=\"trap\"} 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
    let fuel = page.lines().find_map(|line| line.strip_prefix("nuthatch_plugin_fuel_total{nest=\"evil\"} ")).unwrap();
    assert!(fuel.parse::<u64>().unwrap() > 1_000);
}
