//! Attacks that waste something, trap, or depend on what they should not.

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::bindings::nuthatch::nest::log::{Level, log};
use crate::bindings::nuthatch::nest::types::{
    Column, Decoded, Failure, LogBatch, Rejection, TableRows, Values, VarWidth,
};
use crate::honest;

/// A log whose data begins so is one that the `…-on-marker` and `pair-…` modes fault on.
const MARKER: &[u8] = b"EVIL";

/// Left in memory by one mode, looked for by another.
const RESIDUE: u64 = 0x5ec2_e75e_c2e7_5ec2;

static CALLS: AtomicU64 = AtomicU64::new(0);

pub fn forever() -> ! {
    loop {
        black_box(0);
    }
}

pub fn failure() -> Failure {
    Failure { code: "will-not".into(), message: "as told\u{1b}[31m".into() }
}

fn marked(batch: &LogBatch) -> usize {
    (0..batch.len as usize).filter(|log| honest::data(batch, *log).starts_with(MARKER)).count()
}

fn burn(rounds: u64) {
    for round in 0..rounds {
        black_box(round);
    }
}

/// Frames of these lie on the engine's stack alone.
#[inline(never)]
fn deeper(depth: u64, end: u64) -> u64 {
    if depth == end { depth } else { deeper(depth + 1, end).wrapping_mul(3) ^ depth }
}

#[inline(never)]
fn ping(depth: u64, end: u64) -> u64 {
    if depth == end { depth } else { pong(depth + 1, end).wrapping_mul(5) ^ depth }
}

#[inline(never)]
fn pong(depth: u64, end: u64) -> u64 {
    if depth == end { depth } else { ping(depth + 1, end).wrapping_add(7) ^ depth }
}

#[inline(never)]
fn deeper_with_log(depth: u64, end: u64) -> u64 {
    log(Level::Debug, "deeper");
    if depth == end { depth } else { deeper_with_log(depth + 1, end).wrapping_mul(3) ^ depth }
}

/// Frames of this lie in linear memory, where the guest's own small stack ends first.
#[inline(never)]
fn deeper_in_memory(depth: u64) -> u64 {
    let frame = black_box([depth; 8]);
    if black_box(true) { deeper_in_memory(depth + 1).wrapping_add(frame[3]) } else { frame[5] }
}

fn counter_rows(batch: &LogBatch, count: u64) -> Decoded {
    let values = Values::U64s(vec![count; batch.len as usize]);
    let rows =
        TableRows { table: 1, source: (0..batch.len).collect(), columns: vec![Column { values, validity: None }] };
    Decoded { tables: vec![rows], rejected: Vec::new(), ignored: Vec::new() }
}

/// Does what `name` says, if it is an attack of this file. None: go on with honest output.
pub fn attack(name: &str, argument: &str, batch: &LogBatch) -> Option<Result<Decoded, Failure>> {
    let number = argument.parse().unwrap_or(0_u64);
    match name {
        "decode-loop" => forever(),
        "burn" => burn(number),
        "burn-per-log" => burn(number * u64::from(batch.len)),
        "memory-grow" => while core::arch::wasm32::memory_grow(0, 16) != usize::MAX {},
        "memory-allocs" => loop {
            core::mem::forget(black_box(vec![1_u8; 1_000]));
        },
        "memory-per-log" => core::mem::forget(black_box(vec![1_u8; number as usize * batch.len as usize])),
        "recursion" => drop(black_box(deeper(0, u64::MAX))),
        "mutual-recursion" => drop(black_box(ping(0, u64::MAX))),
        "recursion-with-log" => drop(black_box(deeper_with_log(0, u64::MAX))),
        "recursion-in-memory" => drop(black_box(deeper_in_memory(0))),
        "panic" => {
            log(Level::Error, "evil.rs:1: as told");
            panic!("as told");
        }
        "spam" => (0..number).for_each(|line| log(Level::Warn, &format!("line {line}"))),
        "spam-then-panic" => {
            (0..1_000).for_each(|line| log(Level::Warn, &format!("line {line}")));
            log(Level::Error, "evil.rs:2: after the spam");
            panic!("as told");
        }
        "long-line" => log(Level::Warn, &"x".repeat(number as usize)),
        "control-line" => log(Level::Info, "one\ntwo\u{1b}[31mred\0\u{202e}end"),
        "panic-on-marker" if marked(batch) > 0 => panic!("marked"),
        "loop-on-marker" if marked(batch) > 0 => forever(),
        "failure-on-marker" if marked(batch) > 0 => return Some(Err(failure())),
        "pair-panic" if marked(batch) > 1 => panic!("two of them"),
        "failure" => return Some(Err(failure())),
        "invalid-utf8-failure" => {
            // The bytes cross as they are: the host has to notice.
            let code = unsafe { String::from_utf8_unchecked(vec![0xff, 0xfe]) };
            return Some(Err(Failure { code, message: String::new() }));
        }
        "rows-huge" => {
            let source = vec![0; number as usize];
            let tables = vec![TableRows { table: 1, source, columns: Vec::new() }];
            return Some(Ok(Decoded { tables, rejected: Vec::new(), ignored: Vec::new() }));
        }
        "bytes-huge" => {
            let values = VarWidth { offsets: vec![0], values: vec![7; number as usize] };
            let columns = vec![Column { values: Values::Bytes(values), validity: None }];
            let tables = vec![TableRows { table: 1, source: Vec::new(), columns }];
            return Some(Ok(Decoded { tables, rejected: Vec::new(), ignored: Vec::new() }));
        }
        "static-counter" => return Some(Ok(counter_rows(batch, CALLS.fetch_add(1, Ordering::Relaxed)))),
        "leave-residue" => {
            core::mem::forget(black_box(vec![RESIDUE; 512 << 10]));
            return Some(Ok(counter_rows(batch, 0)));
        }
        "find-residue" => {
            // Memory that no one has written in this instance must be zero, whatever ran in its slot before.
            let fresh = core::arch::wasm32::memory_grow(0, 128) * (64 << 10);
            let words = unsafe { core::slice::from_raw_parts(fresh as *const u64, (128 * (64 << 10)) / 8) };
            let found = words.iter().filter(|word| **word != 0).count() as u64;
            return Some(Ok(counter_rows(batch, found)));
        }
        "reject-all" => {
            let reject = |log| Rejection { log, code: "as-told".into(), detail: "tab\tand bell\u{7}".into() };
            let rejected = (0..batch.len).rev().map(reject).collect();
            return Some(Ok(Decoded { tables: Vec::new(), rejected, ignored: Vec::new() }));
        }
        "ignore-all" => {
            let ignored = (0..batch.len).collect();
            return Some(Ok(Decoded { tables: Vec::new(), rejected: Vec::new(), ignored }));
        }
        "thirds" => return Some(Ok(thirds(batch))),
        _ => {}
    }
    None
}

/// By block number: a third of the logs makes two rows each, a third is rejected, a third ignored.
fn thirds(batch: &LogBatch) -> Decoded {
    let of = |rest: u64| {
        let number = |log: &u32| batch.block_number[*log as usize];
        (0..batch.len).filter(move |log| number(log) % 3 == rest)
    };
    let source: Vec<u32> = of(0).flat_map(|log| [log, log]).collect();
    let values = Values::U64s(source.iter().map(|log| batch.block_number[*log as usize]).collect());
    let columns = vec![Column { values, validity: None }];
    let reject = |log| Rejection { log, code: "third".into(), detail: String::new() };
    Decoded {
        tables: vec![TableRows { table: 1, source, columns }],
        rejected: of(1).map(reject).collect(),
        ignored: of(2).collect(),
    }
}
