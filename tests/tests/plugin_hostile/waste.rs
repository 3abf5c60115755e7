//! Time, memory and stack: items 1 to 5 of the list.

use nuthatch::plugin::{Budget, CallError, GuestFault, LoadError, PluginLimits};
use nuthatch_tests::guests::{Core, Evil, evil, evil_logs, evil_plan, host, wat_component};

use crate::{evil_fault, fault, text_fault};

const OUT_OF_FUEL: &str = "out-of-fuel: out of fuel: the guest used all 202012000 units of this call; give it a \
                           larger budget or less to do per log";

/// Endless loops stop at the budget of one log: 200,000,000 + 2,000,000 + 1,000 × (8 + 4 bytes of data) and what the
/// topic adds.
fn out_of_fuel() -> String {
    let topic = 32 * Budget::DEFAULT.per_byte;
    OUT_OF_FUEL.replace("202012000", &(202_012_000 + topic).to_string())
}

#[test]
fn a_loop_in_decode_ends_at_the_budget() {
    assert_eq!(evil_fault("decode-loop"), out_of_fuel());
}

/// I15: what a nest asks for counts only up to what the host allows.
#[test]
fn a_budget_over_the_cap_is_cut_to_it() {
    let cap = Budget { base: 900_000, per_log: 90_000, per_byte: 0 };
    let evil = Evil::load(&host(PluginLimits { budget: cap, ..PluginLimits::default() }));
    let fault = fault(evil.decoder("decode-loop", Budget::CAP).decode_blocking(&evil_logs(0..1, &[])));
    assert_eq!(format!("{}: {}", fault.class, fault.message), OUT_OF_FUEL.replace("202012000", "990000"));
}

#[test]
fn a_loop_in_plan_or_describe_ends_at_its_budget() {
    let limits = PluginLimits { plan_fuel: 10_000_000, describe_fuel: 20_000_000, ..PluginLimits::default() };
    let plugin = host(limits).load(&evil()).unwrap();
    let planned = plugin.plan(&evil_plan("plan-loop")).unwrap_err();
    assert_eq!(planned, CallError::Guest(GuestFault::OutOfFuel { fuel: 10_000_000 }));
    let described = plugin.describe(&evil_plan("describe-loop")).unwrap_err();
    assert_eq!(described, CallError::Guest(GuestFault::OutOfFuel { fuel: 20_000_000 }));
    assert!(plugin.describe(&plugin.plan(&evil_plan("healthy")).unwrap()).is_ok());
}

#[test]
fn a_loop_at_start_ends_at_the_budget() {
    let core = Core { extra: "(func $spin (loop $on (br $on))) (start $spin)".into(), ..Core::default() };
    assert_eq!(text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(10..11, &[])), out_of_fuel());
}

#[test]
fn a_loop_in_realloc_ends_at_the_budget() {
    let core = Core { realloc: "(loop $on (br $on)) (i32.const 0)".into(), ..Core::default() };
    assert_eq!(text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(10..11, &[])), out_of_fuel());
}

#[test]
fn a_loop_after_the_result_ends_at_the_budget() {
    let core = Core { post_decode: Some("(loop $on (br $on))".into()), ..Core::default() };
    assert_eq!(text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(10..11, &[])), out_of_fuel());
}

#[test]
fn the_guest_from_text_is_harmless_as_it_is() {
    let decoder = crate::decoder(&host(PluginLimits::default()), &Core::default().component());
    assert_eq!(decoder.decode_blocking(&evil_logs(0..5_000, &[])).unwrap().counts.ignored, 5_000);
}

/// I15: fuel alone decides, so the edge is at the same unit on every run, thread and engine.
#[test]
fn the_edge_of_the_budget_is_sharp_and_always_the_same() {
    let batch = evil_logs(7..8, &[]);
    let [evil, other] = [0; 2].map(|_| Evil::load(&host(PluginLimits::default())));
    let passes = |evil: &Evil, base: u64| {
        let budget = Budget { base, per_log: 0, per_byte: 0 };
        match evil.decoder("burn:1000", budget).decode_blocking(&batch) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(fault(Err(error)).class, "out-of-fuel");
                false
            }
        }
    };
    let (mut short, mut enough) = (0, 1 << 24);
    assert!(passes(&evil, enough));
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if passes(&evil, middle) { enough = middle } else { short = middle }
    }
    assert!(short > 1_000, "the guest's own work is on the budget");
    std::thread::scope(|scope| {
        for evil in [&evil, &other] {
            scope.spawn(move || (0..2).for_each(|_| assert!(passes(evil, enough) && !passes(evil, short))));
        }
    });
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4_096
}

/// Many times through one slot: what an attack took is given back, and the slot goes on working.
#[test]
fn memory_bombs_end_at_the_limit_and_leave_the_slot_usable() {
    let evil = Evil::load(&host(PluginLimits { slots: 1, memory_bytes: 64 << 20, ..PluginLimits::default() }));
    let (batch, cap) = (evil_logs(0..1, &[]), 64 << 20);
    let decoders = ["memory-grow", "memory-allocs", "healthy"].map(|mode| evil.decoder(mode, Budget::CAP));
    for round in 0..10 {
        for bomb in &decoders[..2] {
            let fault = fault(bomb.decode_blocking(&batch));
            assert_eq!(fault.class, "memory-limit");
            assert!(fault.message.starts_with("memory limit: the guest asked for "), "{fault}");
            assert!(fault.message.ends_with(&format!(" bytes in all, and may have {cap}")), "{fault}");
        }
        assert_eq!(decoders[2].decode_blocking(&batch).unwrap().counts.rows, 1, "round {round}");
    }
    // Nextest runs each test in a process of its own, so this is the engine's memory and not a neighbour's.
    let resident = resident_bytes();
    assert!(resident < 200 << 20, "{} MiB stay resident", resident >> 20);
}

#[test]
fn input_counts_as_the_guests_memory() {
    let evil = Evil::load(&host(PluginLimits { memory_bytes: 2 << 20, ..PluginLimits::default() }));
    let mut batch = evil_logs(0..1, &[]);
    batch.data = vec![1; 4 << 20];
    batch.data_offsets = vec![0, 4 << 20];
    let fault = fault(evil.decoder("healthy", Budget::CAP).decode_blocking(&batch));
    assert_eq!(fault.class, "memory-limit");
}

#[test]
fn a_growing_table_ends_at_the_limit() {
    let core = Core {
        extra: "(table $t 1 funcref) (func $grow (loop $on
                  (drop (table.grow $t (ref.null func) (i32.const 1000))) (br $on))) (start $grow)"
            .into(),
        ..Core::default()
    };
    let text = text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(0..1, &[]));
    assert_eq!(text, "table-limit: table limit: the guest asked for 10001 table elements in all, and may have 10000");
}

/// A guest that declares less than the host allows runs into its own maximum with the same clear error.
#[test]
fn a_maximum_of_the_guests_own_is_named() {
    let core = Core { memory: "(memory (export \"memory\") 2 3)".into(), ..Core::default() };
    let mut batch = evil_logs(0..1, &[]);
    batch.data = vec![1; 200_000];
    batch.data_offsets = vec![0, 200_000];
    let text = text_fault(&host(PluginLimits::default()), &core.component(), &batch);
    // The bump allocator grows by 16 pages at a time.
    assert_eq!(text, "memory-limit: memory limit: the guest asked for 1179648 bytes in all, and may have 196608");
}

#[test]
fn memory_and_tables_that_no_slot_holds_are_refused_at_load() {
    let engine = host(PluginLimits::default());
    let refused = |core: Core| engine.load(&core.component()).unwrap_err().to_string();
    assert_eq!(
        refused(Core { memory: "(memory (export \"memory\") 65536)".into(), ..Core::default() }),
        "the component has 65536 pages of initial memory, and at most 4096 are allowed"
    );
    assert_eq!(
        refused(Core { extra: "(table 9000000 funcref)".into(), ..Core::default() }),
        "the component has 9000000 initial table elements, and at most 10000 are allowed"
    );
    let data = format!("(data (i32.const 8192) \"{}\")", "x".repeat(5 << 20));
    let memory = "(memory (export \"memory\") 200)".into();
    assert_eq!(
        refused(Core { memory, extra: data, ..Core::default() }),
        "the component has 5242891 bytes of data segments, and at most 4194304 are allowed"
    );
    let tables = "(table 1 funcref) (table 1 funcref) (table 1 funcref) (table 1 funcref) (table 1 funcref)";
    assert!(matches!(
        engine.load(&wat_component(&format!("(core module {tables})"))).unwrap_err(),
        LoadError::OverLimit { what: "tables", found: 5, cap: 4 }
    ));
}

#[test]
fn data_outside_of_memory_is_a_trap() {
    let core = Core { extra: "(data (i32.const 131070) \"abcd\")".into(), ..Core::default() };
    let text = text_fault(&host(PluginLimits::default()), &core.component(), &evil_logs(0..1, &[]));
    assert_eq!(text, "trap: trap: out of bounds memory access");
}

#[test]
fn recursion_ends_at_the_stacks_end() {
    let expected = "stack-overflow: stack overflow: the guest's calls went deeper than the 524288 bytes of stack that \
                    it has";
    for mode in ["recursion", "mutual-recursion", "recursion-with-log"] {
        assert_eq!(evil_fault(mode), expected, "{mode}");
    }
    // Where frames lie in linear memory the guest's own stack, 64 KiB here, is the first to end.
    assert_eq!(evil_fault("recursion-in-memory"), "trap: trap: out of bounds memory access");
}

/// Nothing of a batch comes out of a fault, and trying again gives the same words.
#[test]
fn a_trap_after_much_work_leaves_no_rows() {
    let expected = "trap: trap: wasm `unreachable` instruction executed; the guest's last error line: evil.rs:2: \
                    after the spam";
    assert_eq!(evil_fault("spam-then-panic"), expected);
    assert_eq!(evil_fault("spam-then-panic"), expected);
    assert_eq!(
        evil_fault("panic"),
        "trap: trap: wasm `unreachable` instruction executed; the guest's last error line: evil.rs:1: as told"
    );
}

#[test]
fn a_failure_is_a_class_of_its_own() {
    assert_eq!(evil_fault("failure"), "failure: the guest gave up with will-not: as told\\u{1b}[31m");
    assert_eq!(
        evil_fault("invalid-utf8-failure"),
        "invalid-output: invalid output: the result breaks the component model's rules: invalid utf-8 sequence of 1 \
         bytes from index 0"
    );
    let plugin = host(PluginLimits::default()).load(&evil()).unwrap();
    let words = "the guest gave up with will-not: as told\\u{1b}[31m";
    assert_eq!(plugin.plan(&evil_plan("plan-failure")).unwrap_err().to_string(), words);
    assert_eq!(plugin.describe(&evil_plan("describe-failure")).unwrap_err().to_string(), words);
    let trap = "trap: wasm `unreachable` instruction executed";
    assert_eq!(plugin.plan(&evil_plan("plan-panic")).unwrap_err().to_string(), trap);
    assert_eq!(plugin.describe(&evil_plan("describe-panic")).unwrap_err().to_string(), trap);
}
