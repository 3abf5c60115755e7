//! Writes the recorded chain that `nuthatch demo` replays: `cargo run --bin demo-chain`.

use anyhow::Context as _;
use nuthatch_tests::demo_chain;

fn main() -> anyhow::Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/assets/demo/chain.jsonl");
    let blocks = demo_chain::blocks();
    let text = demo_chain::record(&blocks);
    std::fs::write(path, &text).with_context(|| format!("{path} cannot be written"))?;
    let logs = blocks.iter().map(|block| block.logs.len()).sum::<usize>();
    println!("{path}: {} blocks, {logs} logs, {} bytes", blocks.len(), text.len());
    for name in ["acorn", "pool", "pair"] {
        println!("{name} {}", demo_chain::account(name));
    }
    Ok(())
}
