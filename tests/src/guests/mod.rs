//! Guests for tests: the hostile one, and small ones assembled from text for what Rust cannot express.

mod altered;
mod core;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use nuthatch::model::{Address, B256, BlockNumber, BlockRef, ChainId, LogBatch, LogView, TableSchema};
use nuthatch::plugin::{
    Budget, DecodeError, Decoded, Decoder, LogLevel, LogLine, LogSink, Plugin, PluginHost, PluginLimits,
};

pub use self::altered::{Change, altered_bundle};
pub use self::core::{Core, NEST_WIT, component, wat_component};

/// Contract whose logs the hostile guest's filter names.
pub const EVIL_ADDRESS: Address = Address::repeat_byte(0xee);

/// A log whose data begins so is what the modes `panic-on-marker`, `loop-on-marker`, `failure-on-marker` and
/// `pair-panic` fault on.
pub const MARKER: &[u8] = b"EVIL";

/// The hostile guest as a component (`tests/guests/evil`, built by `tests/guests/build`). Its plan is the name of what
/// it does, an argument after a colon; `plan` gives its configuration back, so [`evil_plan`] is either.
pub fn evil() -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("guests/dist/evil.wasm");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run tests/guests/build", path.display()))
}

/// The plan that makes the hostile guest do `mode`: `healthy`, `decode-loop`, `spoil:nul`, …
pub fn evil_plan(mode: &str) -> Vec<u8> {
    mode.as_bytes().to_vec()
}

/// One log of the hostile guest's contract in each of these blocks, its data the block's number, or [`MARKER`] first
/// in the blocks of `marked`.
pub fn evil_logs(blocks: std::ops::Range<u64>, marked: &[u64]) -> LogBatch {
    let mut batch = LogBatch::new(ChainId(1));
    for number in blocks {
        let mark = if marked.contains(&number) { MARKER } else { b"calm" };
        batch.push(LogView {
            block: BlockRef { number: BlockNumber(number), hash: block_hash(number) },
            timestamp: 1_700_000_000 + 12 * number,
            tx_index: (number % 5) as u32,
            log_index: number % 11,
            tx_hash: B256::left_padding_from(&(number * 31).to_be_bytes()),
            address: EVIL_ADDRESS,
            topics: &[B256::repeat_byte(0xaa)],
            data: &[mark, &number.to_be_bytes()].concat(),
        });
    }
    batch
}

/// The hash of a block in [`evil_logs`].
pub fn block_hash(number: u64) -> B256 {
    B256::left_padding_from(&(number + 1_000_000).to_be_bytes())
}

/// A plugin engine with these limits.
pub fn host(limits: PluginLimits) -> PluginHost {
    PluginHost::new(limits).expect("the engine starts")
}

/// The hostile guest, loaded into an engine.
pub struct Evil {
    /// The loaded component.
    pub plugin: Plugin,
    tables: Vec<TableSchema>,
}

impl Evil {
    /// Loads it.
    pub fn load(host: &PluginHost) -> Self {
        let plugin = host.load(&evil()).expect("the hostile guest loads");
        let tables = plugin.describe(&evil_plan("healthy")).expect("it describes itself").tables;
        Evil { plugin, tables }
    }

    /// A decoder that does `mode`.
    pub fn decoder(&self, mode: &str, budget: Budget) -> Decoder {
        let nest = "evil".parse().expect("a nest name");
        Decoder::new(self.plugin.clone(), &nest, evil_plan(mode), self.tables.clone(), budget)
    }
}

/// Decodes with the hostile guest, on one engine of the process with limits and budget as they are without settings.
pub fn evil_decode(mode: &str, batch: &LogBatch) -> Result<Decoded, DecodeError> {
    static EVIL: LazyLock<Evil> = LazyLock::new(|| Evil::load(&host(PluginLimits::default())));
    EVIL.decoder(mode, Budget::DEFAULT).decode_blocking(batch)
}

/// Keeps what guests log.
#[derive(Default)]
pub struct KeptLines {
    kept: std::sync::Mutex<(Vec<LogLine>, u64)>,
}

impl KeptLines {
    /// Lines so far.
    pub fn lines(&self) -> Vec<(LogLevel, String)> {
        let kept = self.kept.lock().expect("no panic while it is held");
        kept.0.iter().map(|line| (line.level, line.text.clone())).collect()
    }

    /// How many lines were dropped.
    pub fn dropped(&self) -> u64 {
        self.kept.lock().expect("no panic while it is held").1
    }

    /// An engine whose guests log here.
    pub fn host(self: &Arc<Self>, limits: PluginLimits) -> PluginHost {
        PluginHost::with_log_sink(limits, Arc::clone(self) as Arc<dyn LogSink>).expect("the engine starts")
    }
}

impl LogSink for KeptLines {
    fn line(&self, line: LogLine) {
        self.kept.lock().expect("no panic while it is held").0.push(line);
    }

    fn dropped(&self, _: &str, lines: u64) {
        self.kept.lock().expect("no panic while it is held").1 += lines;
    }
}
