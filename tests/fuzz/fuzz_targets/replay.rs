//! Foreign bytes as a recorded chain: no panic and no endless reading, and what is played holds together.
#![no_main]

use std::io::Write;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rooms::chain::{LogFilters, Pace, ReplayOptions, ReplaySource, Source, Tip};
use rooms::model::{BlockNumber, BlockRange, ChainId, LogFilter};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().build().expect("a runtime"));

/// Logs of any contract from block 1 on.
fn filters() -> LogFilters {
    LogFilters::parse(&[LogFilter { addresses: vec![], topics: vec![], start_block: 1 }]).expect("a good filter")
}

async fn play(source: &ReplaySource) {
    let Ok(mut head) = source.head().await else { return };
    for _ in 0..4 {
        let range = BlockRange { first: BlockNumber(0), last: head.number };
        if let Ok(logs) = source.logs(&filters(), range).await {
            assert!(logs.iter().all(|log| log.block.number.0 >= 1 && log.block.number <= head.number));
            assert!(logs.block_number.is_sorted());
        }
        assert_eq!(source.header(head.number).await.expect("a recording answers").as_ref(), Some(&head));
        let parent = BlockNumber(head.number.0.saturating_sub(3));
        if let Some(parent) = source.header(parent).await.expect("a recording answers")
            && let Ok(Tip::Window(window)) = source.tip_window(&filters(), parent.block_ref(), head.number).await
        {
            assert_eq!(window.headers.len() as u64, head.number.0 - parent.number.0);
            assert!(window.headers.windows(2).all(|pair| pair[1].parent_hash == pair[0].hash));
        }
        let _ = (source.finalized().await, source.range_hint(), source.finished());
        let Ok(next) = source.head().await else { return };
        assert!(next.number >= head.number, "the head fell");
        head = next;
    }
}

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new_in("/dev/shm").expect("a file in memory");
    file.write_all(data).expect("it is written");
    for (pace, chain) in [(Pace::EachLook, None), (Pace::AtOnce, Some(ChainId(1)))] {
        if let Ok(source) = ReplaySource::open(file.path(), ReplayOptions { pace, chain }) {
            RUNTIME.block_on(play(&source));
        }
    }
});
