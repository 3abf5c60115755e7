#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::model::{Address, B256, BlockNumber, BlockRef, ChainId, ColumnSchema, ColumnType, LogBatch, LogView};
use crate::plugin::parts::Part;
use crate::plugin::raw::{RawColumn, RawValues};
use crate::plugin::rows::{Layout, build};

fn batch(logs: usize) -> LogBatch {
    let mut batch = LogBatch::new(ChainId(1));
    for log in 0..logs as u64 {
        batch.push(LogView {
            block: BlockRef { number: BlockNumber(log / 2), hash: B256::ZERO },
            timestamp: u64::MAX - log,
            tx_index: 0,
            log_index: log,
            tx_hash: B256::ZERO,
            address: Address::ZERO,
            topics: &[],
            data: &[],
        });
    }
    batch
}

fn schema(name: &str, types: &[(ColumnType, bool)]) -> TableSchema {
    let column = |(place, (ty, nullable)): (usize, &(ColumnType, bool))| ColumnSchema {
        name: format!("c{place}"),
        ty: *ty,
        nullable: *nullable,
        doc: String::new(),
    };
    TableSchema { name: name.into(), columns: types.iter().enumerate().map(column).collect(), doc: String::new() }
}

/// One column of type `ty` as the only table's only column; what validation says.
fn column(ty: ColumnType, nullable: bool, values: RawValues, validity: Option<Vec<u8>>) -> Result<(), OutputError> {
    let rows = 2;
    let columns = vec![RawColumn { values, validity }];
    let table = RawTable { table: 0, source: (0..rows).collect(), columns };
    let raw = RawDecoded { tables: vec![table], ..RawDecoded::default() };
    let tables = [schema("t", &[(ty, nullable)])];
    match validate(raw, &tables, rows as usize, &PluginLimits::default()) {
        Ok(checked) => {
            let batch = batch(rows as usize);
            let layout = Layout { name: "t".into(), schema: crate::model::arrow_schema(&tables[0]) };
            build(checked, &Part::new(&batch, 0..2), &[layout]).unwrap();
            Ok(())
        }
        Err(GuestFault::InvalidOutput(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn wide(values: [[u8; 32]; 2]) -> RawValues {
    RawValues::Fixed { width: 32, values: values.concat() }
}

fn is_out_of_range(outcome: Result<(), OutputError>, at: usize) -> bool {
    matches!(outcome, Err(OutputError::Column { problem: ColumnProblem::Range { row, .. }, .. }) if row == at)
}

#[test]
fn the_edges_of_every_integer_are_kept_and_one_more_is_not() {
    for bits in (8..=64).step_by(8) {
        let max = u64::MAX >> (64 - bits);
        column(ColumnType::Uint(bits), false, RawValues::U64s(vec![0, max]), None).unwrap();
        if bits < 64 {
            let over = column(ColumnType::Uint(bits), false, RawValues::U64s(vec![0, max + 1]), None);
            assert!(is_out_of_range(over, 1), "uint{bits}");
            let (min, max) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
            column(ColumnType::Int(bits), false, RawValues::S64s(vec![min, max]), None).unwrap();
            for over in [min - 1, max + 1] {
                let over = column(ColumnType::Int(bits), false, RawValues::S64s(vec![over, 0]), None);
                assert!(is_out_of_range(over, 0), "int{bits}");
            }
        }
    }
    for bits in (72..=256).step_by(8) {
        let unused = 32 - usize::from(bits / 8);
        let mut max = [0xff; 32];
        max[..unused].fill(0);
        column(ColumnType::Uint(bits), false, wide([[0; 32], max]), None).unwrap();
        // Signed: 0x80 in front is zero. Largest and smallest of the width.
        let (mut high, mut low) = (max, [0; 32]);
        high[unused] = 0x7f;
        low[..unused].fill(0xff);
        low[unused] = 0x80;
        for value in [&mut high, &mut low] {
            value[0] ^= 0x80;
        }
        column(ColumnType::Int(bits), false, wide([high, low]), None).unwrap();
        if unused > 0 {
            max[unused - 1] = 1;
            assert!(is_out_of_range(column(ColumnType::Uint(bits), false, wide([[0; 32], max]), None), 1));
            for (edge, byte) in [(high, 0x80), (low, 0x7f)] {
                let mut over = edge;
                over[unused] = byte;
                let outcome = column(ColumnType::Int(bits), false, wide([edge, over]), None);
                assert!(is_out_of_range(outcome, 1), "int{bits}");
            }
        }
    }
}

#[test]
fn the_edges_of_decimals_are_kept_and_one_more_is_not() {
    use arrow::datatypes::i256;
    for precision in [1, 18, 38, 39, 76] {
        let bound = i256::from(10).checked_pow(precision).unwrap();
        let one = i256::from(1);
        let ty = ColumnType::Decimal(precision as u8, 0);
        let edges = [(bound - one).to_be_bytes(), (one - bound).to_be_bytes()];
        column(ty, false, wide(edges), None).unwrap();
        for over in [bound, bound.wrapping_neg(), i256::MIN, i256::MAX] {
            let outcome = column(ty, false, wide([over.to_be_bytes(), edges[0]]), None);
            assert!(is_out_of_range(outcome, 0), "{over}");
        }
    }
}

/// What lies under a NULL is never looked at: no row shows it.
#[test]
fn values_under_null_may_be_anything() {
    let second_is_null = || Some(vec![0b01]);
    column(ColumnType::Uint(8), true, RawValues::U64s(vec![1, 9_999]), second_is_null()).unwrap();
    column(ColumnType::Int(24), true, RawValues::S64s(vec![1, i64::MIN]), second_is_null()).unwrap();
    column(ColumnType::Uint(72), true, wide([[0; 32], [0xff; 32]]), second_is_null()).unwrap();
    column(ColumnType::Decimal(38, 2), true, wide([[0; 32], [0x7f; 32]]), second_is_null()).unwrap();
    let refused = column(ColumnType::Uint(8), false, RawValues::U64s(vec![1, 2]), second_is_null()).unwrap_err();
    assert_eq!(refused.to_string(), "table 't', column 'c0', row 1: NULL, and the column is not nullable");
    column(ColumnType::Uint(8), false, RawValues::U64s(vec![1, 2]), Some(vec![0b11])).unwrap();
}

#[test]
fn falling_offsets_are_found_between_good_ends() {
    let values = || RawValues::Bytes { offsets: vec![0, 5, 4], values: vec![0; 4] };
    let error = column(ColumnType::Bytes, false, values(), None).unwrap_err();
    assert_eq!(error.to_string(), "table 't', column 'c0', row 1: the offsets fall");
}

/// The types that the random columns are held against.
const TYPES: [ColumnType; 16] = [
    ColumnType::Bool,
    ColumnType::Uint(8),
    ColumnType::Uint(40),
    ColumnType::Uint(64),
    ColumnType::Uint(256),
    ColumnType::Int(16),
    ColumnType::Int(64),
    ColumnType::Int(128),
    ColumnType::Decimal(20, 3),
    ColumnType::Decimal(76, 18),
    ColumnType::Timestamp,
    ColumnType::Address,
    ColumnType::FixedBytes(4),
    ColumnType::Bytes,
    ColumnType::String,
    ColumnType::Json,
];

const LOGS: usize = 5;

/// Near the right size for a handful of rows, so that some get past the first checks.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let small = prop::collection::vec(any::<u8>(), 0..8);
    let zeros = (0_usize..7).prop_map(|rows| vec![0; rows * 32]);
    let addresses = (0_usize..7).prop_map(|rows| vec![7; rows * 20]);
    let text = "[a-zé]{0,6}".prop_map(String::into_bytes);
    prop_oneof![small, zeros, addresses, text]
}

fn offsets() -> impl Strategy<Value = Vec<u32>> {
    let rising = prop::collection::vec(0_u32..3, 0..7).prop_map(|steps| {
        let sum = |at: &mut u32, step: u32| {
            *at += step;
            Some(*at)
        };
        std::iter::once(0).chain(steps.into_iter().scan(0, sum)).collect()
    });
    prop_oneof![rising, prop::collection::vec(any::<u32>(), 0..7)]
}

fn values() -> impl Strategy<Value = RawValues> {
    prop_oneof![
        bytes().prop_map(RawValues::Bits),
        prop::collection::vec(prop_oneof![-300_i64..300, any::<i64>()], 0..7).prop_map(RawValues::S64s),
        prop::collection::vec(prop_oneof![0_u64..300, any::<u64>()], 0..7).prop_map(RawValues::U64s),
        (prop_oneof![Just(32_u32), Just(20), Just(4), any::<u32>()], bytes())
            .prop_map(|(width, values)| RawValues::Fixed { width, values }),
        (offsets(), bytes()).prop_map(|(offsets, values)| RawValues::Bytes { offsets, values }),
        (offsets(), bytes()).prop_map(|(offsets, values)| RawValues::Text { offsets, values }),
    ]
}

fn raw_column() -> impl Strategy<Value = RawColumn> {
    let validity = prop::option::of(prop::collection::vec(0_u8..32, 0..3));
    (values(), validity).prop_map(|(values, validity)| RawColumn { values, validity })
}

fn raw() -> impl Strategy<Value = (RawDecoded, Vec<TableSchema>)> {
    let number = || prop_oneof![0_u32..LOGS as u32, any::<u32>()];
    let source = prop_oneof![Just((0..LOGS as u32).collect()), prop::collection::vec(number(), 0..7)];
    let columns = prop::collection::vec(raw_column(), 0..3);
    let table = (0_u32..3, source, columns).prop_map(|(table, source, columns)| RawTable { table, source, columns });
    let rejection = (number(), "[a-zA-Z-]{0,40}", any::<String>());
    let rejection = rejection.prop_map(|(log, code, detail)| RawRejection { log, code, detail });
    let schemas = prop::collection::vec(prop::collection::vec((0..TYPES.len(), any::<bool>()), 0..3), 0..3);
    let parts = (
        prop::collection::vec(table, 0..3),
        prop::collection::vec(rejection, 0..3),
        prop::collection::vec(number(), 0..7),
        schemas,
    );
    parts.prop_map(|(tables, rejected, ignored, schemas)| {
        let schemas = schemas.iter().enumerate().map(|(place, columns)| {
            let types: Vec<_> = columns.iter().map(|(ty, nullable)| (TYPES[*ty], *nullable)).collect();
            schema(&format!("t{place}"), &types)
        });
        (RawDecoded { tables, rejected, ignored }, schemas.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a guest hands back: an error, or rows that Arrow takes. Never a panic.
    #[test]
    fn arbitrary_output_never_panics((raw, tables) in raw()) {
        if let Ok(checked) = validate(raw, &tables, LOGS, &PluginLimits::default()) {
            let layout = |table: &TableSchema| Layout {
                name: table.name.clone(),
                schema: crate::model::arrow_schema(table),
            };
            let layouts: Vec<_> = tables.iter().map(layout).collect();
            let batch = batch(LOGS);
            let rows = build(checked, &Part::new(&batch, 0..LOGS), &layouts).unwrap();
            let placed = rows.sources + rows.rejections + rows.ignored.values().sum::<u64>() as usize;
            prop_assert_eq!(placed, LOGS);
        }
    }

    /// One column of the right length for its rows: either named as bad, or built.
    #[test]
    fn an_arbitrary_column_is_refused_or_built(ty in 0..TYPES.len(), nullable: bool, raw in raw_column()) {
        match column(TYPES[ty], nullable, raw.values, raw.validity) {
            Ok(()) | Err(OutputError::Column { .. }) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
