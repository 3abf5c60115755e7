//! Random histories against a model that keeps plain rows.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::world::*;
use crate::model::{BlockRef, Branch, DatasetId, TableId};
use crate::store::{Commit, DatasetCommit, HotStore, Rollback, StoreError};

/// What one dataset should hold.
struct Expect {
    id: DatasetId,
    first: u64,
    done: Option<BlockRef>,
    rows: Vec<Row>,
}

impl Expect {
    fn next(&self) -> u64 {
        self.done.map_or(self.first, |done| done.number.0 + 1)
    }

    /// A window over the chain as far as `last`, in one to three chunks, some blocks without rows.
    fn window(&self, chain: &Chain, last: u64, random: &mut StdRng) -> (DatasetCommit, Vec<Row>) {
        let first = self.next();
        let mut added = Vec::new();
        for number in first..=last {
            added.extend(rows(range(number, number), chain.fork(number), random.random_range(0..3)));
        }
        let mut chunks = Vec::new();
        let mut start = first;
        while start <= last {
            let end = random.random_range(start..=last);
            let part: Vec<Row> = added.iter().filter(|row| (start..=end).contains(&row.0)).copied().collect();
            if !part.is_empty() {
                chunks.push(new_chunk(0, range(start, end), &part));
            }
            start = end + 1;
        }
        (
            DatasetCommit { dataset: self.id, from: self.done, done_to: chain.block(last), chunks, sealed: Vec::new() },
            added,
        )
    }

    fn cut(&mut self, ancestor: BlockRef) {
        if self.done.is_some_and(|done| done.number > ancestor.number) {
            self.done = Some(ancestor).filter(|block| block.number.0 >= self.first);
            self.rows.retain(|row| row.0 <= ancestor.number.0);
        }
    }
}

/// The fork of each block from 0 on, and the final height.
struct Chain {
    forks: Vec<u64>,
    end: u64,
    branch: u64,
}

impl Chain {
    fn fork(&self, number: u64) -> u64 {
        self.forks[number as usize]
    }

    fn block(&self, number: u64) -> BlockRef {
        block(number, self.fork(number))
    }

    fn head(&self) -> u64 {
        self.forks.len() as u64 - 1
    }

    fn grow(&mut self, by: u64, fork: u64) -> Vec<BlockRef> {
        let from = self.forks.len() as u64;
        self.forks.extend((0..by).map(|_| fork));
        (from..from + by).map(|number| self.block(number)).collect()
    }
}

/// Invariants I6 and I7: whatever happened before, rows and progress are those of the model.
pub(crate) async fn random_histories_match_a_simple_model(store: &dyn HotStore) {
    let seed = std::env::var("NUTHATCH_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11);
    println!("seed {seed}; set NUTHATCH_TEST_SEED for another one");
    let mut random = StdRng::seed_from_u64(seed);
    let mut chain = Chain { forks: vec![0; 6], end: 5, branch: 0 };
    store.commit(Commit { final_block: Some(chain.block(5)), ..Commit::default() }).await.unwrap();
    let mut all = Vec::new();
    for (seed, first) in [(1, 1), (2, 4), (3, 30)] {
        let id = store.create_dataset(dataset(seed, first)).await.unwrap();
        all.push(Expect { id, first, done: None, rows: Vec::new() });
    }
    for step in 0..160 {
        match random.random_range(0..10) {
            0..=4 => grow(store, &mut chain, &mut all, &mut random).await,
            5..=6 => catch_up(store, &chain, &mut all, &mut random).await,
            7 => fork(store, &mut chain, &mut all, step + 1, &mut random).await,
            8 => {
                store.merge().await.unwrap();
            }
            _ => {
                store.sweep().await.unwrap();
            }
        }
        let now = state(store).await;
        assert_eq!(now.final_block, Some(chain.block(chain.end)));
        assert_eq!(now.branch, Branch(chain.branch));
        let above: Vec<BlockRef> = (chain.end + 1..=chain.head()).map(|number| chain.block(number)).collect();
        assert_eq!(now.blocks, above);
        for (dataset, expect) in now.datasets.iter().zip(&all) {
            assert_eq!((dataset.id, dataset.done_to), (expect.id, expect.done), "step {step}");
        }
        let expect = &all[step as usize % all.len()];
        let want: Vec<_> = expect.rows.iter().map(|row| (TableId::Event(0), *row)).collect();
        assert_eq!(seen(store, expect.id).await.1, want, "step {step}");
    }
}

/// New blocks at the tip, taken by the datasets that stand at the head; sometimes the commit is sent twice.
async fn grow(store: &dyn HotStore, chain: &mut Chain, all: &mut [Expect], random: &mut StdRng) {
    let head = chain.head();
    let fork = chain.fork(head);
    let blocks = chain.grow(random.random_range(1..5), fork);
    let last = chain.head();
    let mut commit = tip(Branch(chain.branch), blocks, vec![]);
    if random.random_bool(0.5) {
        chain.end = random.random_range(chain.end..=last.saturating_sub(8).max(chain.end));
        commit.final_block = Some(chain.block(chain.end));
    }
    for expect in all.iter_mut().filter(|expect| expect.next() == head + 1 || expect.done.is_none()) {
        if expect.next() > last {
            continue;
        }
        let (part, added) = expect.window(chain, last, random);
        expect.done = Some(part.done_to);
        expect.rows.extend(added);
        commit.datasets.push(part);
    }
    store.commit(commit.clone()).await.unwrap();
    if random.random_bool(0.3) {
        store.commit(commit).await.unwrap();
    }
}

/// A dataset that is behind takes a window; a final one names no branch.
async fn catch_up(store: &dyn HotStore, chain: &Chain, all: &mut [Expect], random: &mut StdRng) {
    let Some(expect) = all.iter_mut().find(|expect| expect.next() <= chain.head()) else { return };
    let last = random.random_range(expect.next()..=chain.head());
    let (part, added) = expect.window(chain, last, random);
    let branch = (last > chain.end).then_some(Branch(chain.branch));
    let done = part.done_to;
    store.commit(Commit { branch, datasets: vec![part], ..Commit::default() }).await.unwrap();
    expect.done = Some(done);
    expect.rows.extend(added);
}

/// A reorg of any depth that is not final; a stale window and a stale rollback are refused afterwards.
async fn fork(store: &dyn HotStore, chain: &mut Chain, all: &mut [Expect], fork: u64, random: &mut StdRng) {
    let ancestor = random.random_range(chain.end..=chain.head());
    let old = chain.head();
    let ancestor_block = chain.block(ancestor);
    chain.forks.truncate(ancestor as usize + 1);
    let blocks = chain.grow(random.random_range(1..8).max(old - ancestor), fork);
    let mut replacement = tip(Branch(chain.branch), blocks, vec![]);
    for expect in all.iter_mut() {
        let was_above = expect.done.is_some_and(|done| done.number.0 > ancestor);
        expect.cut(ancestor_block);
        // One of them has no part in it: it stands at the ancestor afterwards.
        if was_above && random.random_bool(0.7) {
            let (part, added) = expect.window(chain, chain.head(), random);
            expect.done = Some(part.done_to);
            expect.rows.extend(added);
            replacement.datasets.push(part);
        }
    }
    let rollback = Rollback { ancestor: ancestor_block, replacement };
    chain.branch += 1;
    assert_eq!(store.rollback(rollback.clone()).await.unwrap(), Branch(chain.branch));
    assert!(matches!(store.rollback(rollback).await.unwrap_err(), StoreError::WrongBranch { .. }));
}
