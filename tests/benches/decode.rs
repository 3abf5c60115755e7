//! The standard decoder as it ships (a fresh instance a batch, validation, Arrow arrays with provenance) beside the same
//! work done natively: by alloy-dyn-abi, and by a columnar decoder written by hand for the one event.
//!
//! All three make the same record batch, which is checked first. The rounds take turns, so what disturbs one disturbs
//! all; the medians' ratios are what counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_dyn_abi::{DynSolEvent, DynSolValue, Specifier};
use alloy_json_abi::JsonAbi;
use arrow::array::{
    ArrayRef, FixedSizeBinaryArray, Int32Array, RecordBatch, TimestampSecondArray, UInt32Array, UInt64Array,
};
use nuthatch::model::{ChainId, LogBatch, LogView, TableSchema, arrow_schema};
use nuthatch::plugin::nest_folder::{self, DecoderChoice};
use nuthatch::plugin::{Budget, Decoder, PluginHost, PluginLimits};
use nuthatch_tests::long_chain::{CHAIN_ID, LongChain, TOKEN};
use nuthatch_tests::token::ABI as TRANSFER_ABI;

type Any<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

const LOGS: u64 = 10_000;
const ROUNDS: usize = 61;

const SWAP_ABI: &str = r#"[{"type":"event","name":"Swap","anonymous":false,"inputs":[
  {"name":"sender","type":"address","indexed":true},{"name":"recipient","type":"address","indexed":true},
  {"name":"amount0","type":"int256","indexed":false},{"name":"amount1","type":"int256","indexed":false},
  {"name":"sqrtPriceX96","type":"uint160","indexed":false},{"name":"liquidity","type":"uint128","indexed":false},
  {"name":"tick","type":"int24","indexed":false}]}]"#;

fn decoder(abi: &str) -> Any<(Decoder, TableSchema)> {
    let toml = format!(
        "[nest]\nname = \"token\"\nversion = \"1.0.0\"\nchain = \"eip155:{CHAIN_ID}\"\n[[contracts]]\nalias = \
         \"token\"\naddress = \"{TOKEN}\"\nabi = \"abi.json\"\n"
    );
    let files = [("nest.toml", toml), ("abi.json", abi.to_owned())];
    let files = files.map(|(path, text)| (path.to_owned(), text.into_bytes())).into_iter().collect();
    let host = PluginHost::new(PluginLimits::default())?;
    let built = nest_folder::build_files::<std::collections::BTreeMap<_, _>>(&host, &files, DecoderChoice::Upgrade)?;
    let manifest = built.bundle.manifest();
    let table = manifest.tables[0].clone();
    let plan = built.bundle.plan().to_vec();
    Ok((Decoder::new(built.plugin.clone(), &manifest.name, plan, manifest.tables.clone(), Budget::DEFAULT), table))
}

/// Swaps at the places of the transfers.
fn swaps(transfers: &LogBatch, abi: &JsonAbi) -> LogBatch {
    let topic0 = abi.events().next().map(|event| event.selector()).unwrap_or_default();
    let mut batch = LogBatch::new(ChainId(CHAIN_ID));
    for (n, log) in transfers.iter().enumerate() {
        let word = |top: u8, low: u64| {
            let mut word = [top; 32];
            word[16..24].copy_from_slice(&low.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            word[24..].copy_from_slice(&low.to_be_bytes());
            word
        };
        let n = n as u64;
        let (sign, low) = if n.is_multiple_of(2) { (0, n as i32) } else { (0xff, -1 - n as i32) };
        let tick = [&[sign; 28][..], &low.to_be_bytes()].concat();
        let data = [&word(0, n)[..], &word(0xff, n), &word(0, n + 1), &word(0, n + 2), &tick].concat();
        let topics = [topic0, log.topics[1], log.topics[2]];
        batch.push(LogView { topics: &topics, data: &data, ..log });
    }
    batch
}

/// The seven columns that come from the log itself.
fn provenance(batch: &LogBatch) -> Any<Vec<ArrayRef>> {
    let block_hashes: Vec<[u8; 32]> = batch.block_hash.iter().map(|hash| hash.0).collect();
    let tx_hashes: Vec<[u8; 32]> = batch.tx_hash.iter().map(|hash| hash.0).collect();
    let contracts: Vec<[u8; 20]> = batch.address.iter().map(|address| address.0.0).collect();
    let times = TimestampSecondArray::from_iter_values(batch.block_timestamp.iter().map(|time| *time as i64));
    Ok(vec![
        Arc::new(UInt64Array::from(batch.block_number.clone())),
        fixed(32, block_hashes.into_flattened())?,
        Arc::new(times.with_timezone("+00:00")),
        fixed(32, tx_hashes.into_flattened())?,
        Arc::new(UInt32Array::from(batch.tx_index.clone())),
        Arc::new(UInt64Array::from(batch.log_index.clone())),
        fixed(20, contracts.into_flattened())?,
    ])
}

fn fixed(width: i32, bytes: Vec<u8>) -> Any<ArrayRef> {
    Ok(Arc::new(FixedSizeBinaryArray::try_new(width, bytes.into(), None)?))
}

/// One column of what alloy decodes, as it is filled.
enum Filling {
    Fixed(i32, Vec<u8>),
    Small(Vec<i32>),
}

fn with_alloy(event: &DynSolEvent, kinds: &[&str], batch: &LogBatch, table: &TableSchema) -> Any<RecordBatch> {
    let mut own: Vec<Filling> = kinds
        .iter()
        .map(|kind| match *kind {
            "address" => Filling::Fixed(20, Vec::with_capacity(batch.len() * 20)),
            "int24" => Filling::Small(Vec::with_capacity(batch.len())),
            _ => Filling::Fixed(32, Vec::with_capacity(batch.len() * 32)),
        })
        .collect();
    for log in batch.iter() {
        let decoded = event.decode_log_parts(log.topics.iter().copied(), log.data)?;
        for (value, column) in decoded.indexed.iter().chain(&decoded.body).zip(&mut own) {
            match (value, column) {
                (DynSolValue::Address(address), Filling::Fixed(_, bytes)) => bytes.extend(address.0.0),
                (DynSolValue::Uint(number, _), Filling::Fixed(_, bytes)) => bytes.extend(number.to_be_bytes::<32>()),
                (DynSolValue::Int(number, _), Filling::Fixed(_, bytes)) => {
                    let mut word = number.to_be_bytes::<32>();
                    word[0] ^= 0x80;
                    bytes.extend(word);
                }
                (DynSolValue::Int(number, _), Filling::Small(values)) => {
                    let word = number.to_be_bytes::<32>();
                    values.push(i32::from_be_bytes([word[28], word[29], word[30], word[31]]));
                }
                (value, _) => return Err(format!("{value:?} has no column").into()),
            }
        }
    }
    let mut columns = provenance(batch)?;
    for column in own {
        columns.push(match column {
            Filling::Fixed(width, bytes) => fixed(width, bytes)?,
            Filling::Small(values) => Arc::new(Int32Array::from(values)),
        });
    }
    Ok(RecordBatch::try_new(arrow_schema(table), columns)?)
}

/// The last 20 bytes of a topic of each log, its first 12 being zero.
fn addresses(batch: &LogBatch, topic: usize) -> Any<ArrayRef> {
    let mut bytes = Vec::with_capacity(batch.len() * 20);
    for log in batch.iter() {
        let word = &log.topics.get(topic).ok_or("a topic is missing")?.0;
        if word[..12] != [0; 12] {
            return Err("not an address".into());
        }
        bytes.extend_from_slice(&word[12..]);
    }
    fixed(20, bytes)
}

/// A word of the data of each log; as many bytes at its top must be zero.
fn words(batch: &LogBatch, place: usize, zeros: usize, flip: u8) -> Any<ArrayRef> {
    let mut bytes = Vec::with_capacity(batch.len() * 32);
    for log in batch.iter() {
        let word = log.data.get(place * 32..place * 32 + 32).ok_or("data is short")?;
        if word[..zeros].iter().any(|byte| *byte != 0) {
            return Err("out of range".into());
        }
        bytes.push(word[0] ^ flip);
        bytes.extend_from_slice(&word[1..]);
    }
    fixed(32, bytes)
}

fn transfers_by_hand(batch: &LogBatch, table: &TableSchema) -> Any<RecordBatch> {
    let mut columns = provenance(batch)?;
    columns.extend([addresses(batch, 1)?, addresses(batch, 2)?, words(batch, 0, 0, 0)?]);
    Ok(RecordBatch::try_new(arrow_schema(table), columns)?)
}

fn swaps_by_hand(batch: &LogBatch, table: &TableSchema) -> Any<RecordBatch> {
    let mut columns = provenance(batch)?;
    columns.extend([addresses(batch, 1)?, addresses(batch, 2)?]);
    columns.extend([words(batch, 0, 0, 0x80)?, words(batch, 1, 0, 0x80)?]);
    columns.extend([words(batch, 2, 12, 0)?, words(batch, 3, 16, 0)?]);
    let mut ticks = Vec::with_capacity(batch.len());
    for log in batch.iter() {
        let word: &[u8; 32] = log.data.get(128..160).ok_or("data is short")?.try_into()?;
        let low = i32::from_be_bytes([word[28], word[29], word[30], word[31]]);
        let sign = if low < 0 { 0xff } else { 0 };
        if word[..28].iter().any(|byte| *byte != sign) || !(-(1 << 23)..1 << 23).contains(&low) {
            return Err("out of range".into());
        }
        ticks.push(low);
    }
    columns.push(Arc::new(Int32Array::from(ticks)));
    Ok(RecordBatch::try_new(arrow_schema(table), columns)?)
}

fn timed<T>(work: impl FnOnce() -> Any<T>) -> Any<(Duration, T)> {
    let started = Instant::now();
    let done = std::hint::black_box(work()?);
    Ok((started.elapsed(), done))
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_nanos() as f64 / LOGS as f64
}

fn compare(
    name: &str,
    abi: &str,
    batch: &LogBatch,
    by_hand: fn(&LogBatch, &TableSchema) -> Any<RecordBatch>,
) -> Any<()> {
    let (decoder, table) = decoder(abi)?;
    let json: JsonAbi = serde_json::from_str(abi)?;
    let event = json.events().next().ok_or("the ABI has an event")?;
    let kinds: Vec<&str> = event.inputs.iter().map(|input| input.ty.as_str()).collect();
    let event = event.resolve()?;

    let shipped = decoder.decode_blocking(batch)?.tables.remove(0).1;
    assert_eq!(shipped, with_alloy(&event, &kinds, batch, &table)?, "alloy makes the same rows");
    assert_eq!(shipped, by_hand(batch, &table)?, "so does the decoder by hand");

    let (mut wasm, mut alloy, mut hand) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        wasm.push(timed(|| Ok(decoder.decode_blocking(batch)?))?.0);
        alloy.push(timed(|| with_alloy(&event, &kinds, batch, &table))?.0);
        hand.push(timed(|| by_hand(batch, &table))?.0);
    }
    let (wasm, alloy, hand) = (median(wasm), median(alloy), median(hand));
    println!("{name}, {LOGS} logs a batch, median of {ROUNDS} rounds, ns a log");
    println!("  as shipped {wasm:.0}   alloy-dyn-abi {alloy:.0}   by hand {hand:.0}");
    println!(
        "  {:.1} times as fast as alloy-dyn-abi, {:.2} times the time of the one by hand",
        alloy / wasm,
        wasm / hand
    );
    Ok(())
}

fn main() -> Any<()> {
    let chain = LongChain { logs_per_block: 100 };
    let transfers = chain.batch(1, LOGS / 100);
    compare("Transfer", TRANSFER_ABI, &transfers, transfers_by_hand)?;
    let swaps = swaps(&transfers, &serde_json::from_str(SWAP_ABI)?);
    compare("Swap", SWAP_ABI, &swaps, swaps_by_hand)
}
