//! Kills.

use std::time::Duration;

use nuthatch_tests::long_chain::{LongChain, LongRpc, TABLE as LONG_TABLE, write_nest};
use nuthatch_tests::process::{Dev, PATIENCE, number, run};
use rustix::process::Signal;
use tempfile::TempDir;

use super::{EXE, segments_of};

const BLOCK_ROWS: u64 = 4;
const HEAD: u64 = 2_000;
/// Rows that fill a segment, and blocks that it then has.
const FILL: u64 = 200;

/// A chain with a contract that emits in every block, and an index of it.
struct Emitter {
    rpc: LongRpc,
    nest: std::path::PathBuf,
    seen: Seen,
    _scratch: TempDir,
}

/// The furthest state that a reader saw committed.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    rows: u64,
}

impl Emitter {
    async fn new(head: u64) -> Emitter {
        let rpc = LongRpc::start(LongChain { logs_per_block: BLOCK_ROWS }, head, 64).await.unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let nest = write_nest(scratch.path()).unwrap();
        Emitter { rpc, nest, seen: Seen::default(), _scratch: scratch }
    }

    async fn dev(&self) -> Dev {
        let fill = FILL.to_string();
        Dev::start(EXE, &self.nest, &["--rpc", self.rpc.url(), "--segment-rows", &fill]).await.unwrap()
    }

    /// One answer, held against what every answer must be; false while there is no table yet.
    async fn read(&mut self, dev: &Dev) -> bool {
        let sql = format!(
            "SELECT count(*) AS n, count(distinct block_number) AS d, min(block_number) AS a, max(block_number) AS b \
             FROM {LONG_TABLE}"
        );
        let Ok(rows) = dev.sql("token", &sql).await else { return false };
        let at = |key: &str| number(&rows[0][key]).unwrap_or(0);
        let (n, d) = (at("n"), at("d"));
        if n > 0 {
            assert_eq!(d, at("b") - at("a") + 1, "a block is missing: {rows:?}");
            assert_eq!((at("a"), n), (1, d * BLOCK_ROWS), "rows are missing or doubled: {rows:?}");
        }
        assert!(n >= self.seen.rows, "{n} rows after {}", self.seen.rows);
        self.seen.rows = n;
        true
    }

    fn files(&self) -> usize {
        let mut files = Vec::new();
        let folder = self.nest.join(".nuthatch/segments");
        if folder.is_dir() {
            super::walk(&folder, &mut files);
        }
        files.len()
    }

    /// Reads until this holds.
    async fn reads_until(&mut self, dev: &Dev, holds: impl Fn(&Emitter) -> bool) {
        let read = async {
            while !holds(self) {
                self.read(dev).await;
            }
        };
        tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(|_| panic!("{}", dev.log()));
    }

    async fn settled(&mut self, dev: &Dev, head: u64) -> super::Segments {
        dev.wait_done_to("token", head).await.unwrap();
        assert!(self.read(dev).await);
        assert_eq!(self.seen.rows, head * BLOCK_ROWS);
        // Every full cut below the final block.
        let wanted = ((head - 64) * BLOCK_ROWS / FILL) as usize;
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let found = segments_of(&self.nest).await;
            if found.len() == wanted {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "{} segments, not {wanted}: {}", found.len(), dev.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// I7: killed at any point of backfill, upload and commit, no row is missing, none doubled, no reader sees a committed
/// state go backwards, and the files are the same ones.
async fn kills(points: u64) {
    let mut emitter = Emitter::new(HEAD).await;
    let mut head = HEAD;
    for point in 0..points {
        let dev = emitter.dev().await;
        let (files, rows) = (emitter.files(), emitter.seen.rows);
        // Where it stands still because all is done, the chain goes on.
        head = emitter.rpc.advance(400);
        match point % 4 {
            // A file is there whose commit may not be.
            0 => emitter.reads_until(&dev, |it| it.files() > files).await,
            1 => emitter.reads_until(&dev, |it| it.seen.rows > rows).await,
            2 => emitter.reads_until(&dev, |it| it.files() > files + (point as usize % 5)).await,
            _ => {}
        }
        dev.kill().await.unwrap();
    }
    let dev = emitter.dev().await;
    let sealed = emitter.settled(&dev, head).await;
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
    let verified = run(EXE, &emitter.nest, &["segments", "verify"]).await.unwrap();
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);

    let mut straight = Emitter::new(head).await;
    let dev = straight.dev().await;
    assert_eq!(straight.settled(&dev, head).await, sealed);
    assert_eq!(dev.signal(Signal::TERM).await.unwrap(), 0);
}

#[tokio::test]
async fn kills_lose_nothing_and_double_nothing() {
    kills(5).await;
}

#[tokio::test]
async fn slow_kills_lose_nothing_and_double_nothing() {
    kills(50).await;
}
