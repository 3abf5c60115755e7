//! Which segments there have to be, worked out from the rows that a user reads, and which there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::mock_nest::TABLES;
use crate::mock_rpc::MockChain;
use crate::process::{Dev, Finished, PATIENCE, number};

/// A segment: table, first block, last block, rows.
pub type Cut = (String, u64, u64, u64);

/// Segments with their hashes.
pub type Segments = BTreeMap<Cut, String>;

/// Where rows in these blocks are cut, at so many rows and up to this final block: first block, last block, rows. No
/// span ends in so few blocks.
pub fn cuts(blocks: &[u64], rows: u64, final_block: u64) -> Vec<(u64, u64, u64)> {
    let mut made = Vec::new();
    let mut start = 0;
    for (place, block) in blocks.iter().enumerate() {
        let ends = blocks.get(place + 1).is_none_or(|next| next != block);
        let held = (place + 1 - start) as u64;
        if ends && held >= rows && *block <= final_block {
            made.push((blocks[start], *block, held));
            start = place + 1;
        }
    }
    made
}

/// The segments that a mock nest has to have.
pub async fn wanted(dev: &Dev, nest: &str, rows: u64, final_block: u64) -> Result<BTreeSet<Cut>> {
    let mut wanted = BTreeSet::new();
    for table in TABLES.into_iter().chain(["_rejected", "_ignored"]) {
        let found = dev.sql(nest, &format!("SELECT block_number FROM {table} ORDER BY 1")).await?;
        let blocks: Option<Vec<u64>> = found.iter().map(|row| number(&row["block_number"])).collect();
        let cuts = cuts(&blocks.context("a block number")?, rows, final_block);
        wanted.extend(cuts.into_iter().map(|(first, last, rows)| (table.to_owned(), first, last, rows)));
    }
    Ok(wanted)
}

/// What `nuthatch segments list --json` printed: one object a segment.
pub fn listed(command: &Finished) -> Result<Vec<Value>> {
    if command.code != 0 {
        bail!("the segments cannot be listed: {}", command.stderr);
    }
    command.stdout.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The same by cut.
pub fn segments(command: &Finished) -> Result<Segments> {
    let of = |it: &Value| {
        let number = |key: &str| it[key].as_u64();
        let text = |key: &str| it[key].as_str().map(str::to_owned);
        Some(((text("table")?, number("first_block")?, number("last_block")?, number("rows")?), text("hash")?))
    };
    listed(command)?.iter().map(|it| of(it).with_context(|| format!("not a segment: {it}"))).collect()
}

/// Waits until the segments are those that have to be; gives them.
pub async fn settled(dev: &Dev, wanted: &BTreeSet<Cut>, list: impl AsyncFn() -> Result<Finished>) -> Result<Segments> {
    let started = Instant::now();
    loop {
        let found = segments(&list().await?)?;
        if found.keys().eq(wanted) {
            return Ok(found);
        }
        if started.elapsed() > PATIENCE {
            bail!("{found:#?}\nwanted {wanted:#?}\n{}", dev.log());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// As [`settled`], where windows came as faults let them: a cut in a window that reaches over the final block waits
/// until all of that window is final, so the chain goes on, block by block, until every cut is made.
pub async fn settled_by_and_by(
    dev: &Dev,
    nest: &str,
    chain: &MockChain,
    rows: u64,
    list: impl AsyncFn() -> Result<Finished>,
) -> Result<Segments> {
    let started = Instant::now();
    loop {
        dev.wait_at(nest, chain.head()).await?;
        let wanted = wanted(dev, nest, rows, chain.final_block().number.0).await?;
        let found = segments(&list().await?)?;
        if found.keys().eq(&wanted) && wanted.len() > 3 {
            return Ok(found);
        }
        if started.elapsed() > PATIENCE {
            bail!("{found:#?}\nwanted {wanted:#?}\n{}", dev.log());
        }
        chain.advance(1);
    }
}
