//! Results that are too large, or that point where nothing is: item 6 of the list.

use nuthatch::plugin::PluginLimits;
use nuthatch_tests::guests::{Core, evil, evil_logs, evil_plan, host};

use crate::{evil_fault, text_fault};

const TOO_MANY_BYTES: &str = "output-too-large: output too large: more than 67108864 bytes from one call";

#[test]
fn rows_over_the_cap_are_not_taken() {
    assert_eq!(
        evil_fault("rows-huge:500001"),
        "output-too-large: output too large: more than 500000 rows from one call"
    );
    assert_eq!(evil_fault("rows-huge:40000000"), TOO_MANY_BYTES);
}

#[test]
fn bytes_over_the_cap_are_not_taken() {
    assert_eq!(evil_fault("bytes-huge:67108865"), TOO_MANY_BYTES);
}

#[test]
fn a_plan_over_the_cap_is_not_taken() {
    let plugin = host(PluginLimits::default()).load(&evil()).unwrap();
    let error = plugin.plan(&evil_plan("plan-huge")).unwrap_err();
    assert_eq!(error.to_string(), "output too large: more than 4194304 bytes from one call");
}

/// A result built at 1024: one table at 2048 with this many columns from 4096 on. Each column is 32 bytes: the case
/// (0 bits) at 0, its list at 4 and 8, validity (0 none) at 20.
fn result(columns: u32, pointer: u32, length: u32, memory_pages: u32) -> Vec<u8> {
    let decode = format!(
        "(local $column i32) (local $at i32)
         (i32.store8 (i32.const 1024) (i32.const 0))
         (i32.store (i32.const 1028) (i32.const 2048))
         (i32.store (i32.const 1032) (i32.const 1))
         (i64.store (i32.const 1036) (i64.const 0))
         (i64.store (i32.const 1044) (i64.const 0))
         (i32.store (i32.const 2048) (i32.const 0))
         (i32.store (i32.const 2052) (i32.const 0))
         (i32.store (i32.const 2056) (i32.const 0))
         (i32.store (i32.const 2060) (i32.const 4096))
         (i32.store (i32.const 2064) (i32.const {columns}))
         (local.set $at (i32.const 4096))
         (block $done
           (loop $next
             (br_if $done (i32.ge_u (local.get $column) (i32.const {columns})))
             (i32.store8 (local.get $at) (i32.const 0))
             (i32.store offset=4 (local.get $at) (i32.const {pointer}))
             (i32.store offset=8 (local.get $at) (i32.const {length}))
             (i32.store8 offset=20 (local.get $at) (i32.const 0))
             (local.set $at (i32.add (local.get $at) (i32.const 32)))
             (local.set $column (i32.add (local.get $column) (i32.const 1)))
             (br $next)))
         (i32.const 1024)"
    );
    let memory = format!("(memory (export \"memory\") {memory_pages})");
    Core { memory, decode, ..Core::default() }.component()
}

/// Every list is the whole memory: the copies, not the guest's bytes, are what the cap is on.
#[test]
fn overlapping_lists_are_paid_for_each_time() {
    let bomb = result(1_000, 0, 1_000_000, 16);
    assert_eq!(text_fault(&host(PluginLimits::default()), &bomb, &evil_logs(0..1, &[])), TOO_MANY_BYTES);
}

#[test]
fn lists_that_leave_memory_are_no_result() {
    let engine = host(PluginLimits::default());
    let expected = "invalid-output: invalid output: the result breaks the component model's rules: list \
                    pointer/length out of bounds of memory";
    for (pointer, length) in
        [(u32::MAX, 2), (u32::MAX - 15, 32), (0, u32::MAX), (65_536 * 16, 1), (0x8000_0000, 0x8000_0001)]
    {
        let text = text_fault(&engine, &result(1, pointer, length, 16), &evil_logs(0..1, &[]));
        assert_eq!(text, expected, "{pointer:#x} + {length:#x}");
    }
}

/// A harmless result of the same shape passes the bounds, so that the tests above fail for their own reason.
#[test]
fn the_same_shape_within_bounds_gets_as_far_as_validation() {
    let text = text_fault(&host(PluginLimits::default()), &result(1, 0, 8, 16), &evil_logs(0..1, &[]));
    assert_eq!(text, "invalid-output: invalid output: rows for table number 0, and the nest has 0 tables");
}

#[test]
fn a_result_pointer_that_leaves_memory_is_no_result() {
    let core = Core { decode: "(i32.const -4)".into(), ..Core::default() };
    let text = text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(0..1, &[]));
    assert_eq!(
        text,
        "invalid-output: invalid output: the result breaks the component model's rules: pointer out of bounds of \
         memory"
    );
    let core = Core { decode: "(i32.const 1025)".into(), ..Core::default() };
    let text = text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(0..1, &[]));
    assert_eq!(
        text,
        "invalid-output: invalid output: the result breaks the component model's rules: return pointer not aligned"
    );
}
