//! What a query asks of the object store: no file that cannot matter, no part that is not needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nuthatch::model::ChainId;
use nuthatch::segments::Place;
use nuthatch::store::sqlite::{DataLock, SqliteOptions, SqliteStore};
use nuthatch_tests::clock::Clock;
use nuthatch_tests::process::run_with;
use nuthatch_tests::s3::{Op, S3};
use nuthatch_tests::sealed_store::{NEST, SEGMENT_BLOCKS, SEGMENT_ROWS, TABLE, fill, sender};
use tempfile::TempDir;

use super::EXE;

/// The leaves of a file's hash tree: what is read is rounded out to them.
const LEAF: u64 = 64 << 10;

/// A store of full segments in a bucket.
struct Sealed {
    s3: S3,
    data: TempDir,
    segments: u64,
    /// Files in block order, with their sizes.
    files: Vec<(String, u64)>,
}

/// Bytes that one query read, by file.
type Read = BTreeMap<String, u64>;

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => walk(&path, found),
            false => found.push(path),
        }
    }
}

impl Sealed {
    async fn new(segments: u64) -> Sealed {
        let s3 = S3::start(&Clock::real()).await.unwrap();
        let data = tempfile::tempdir().unwrap();
        let made = tempfile::tempdir().unwrap();
        let place = Place::folder(made.path()).unwrap();
        let lock = DataLock::acquire(data.path()).unwrap();
        let store = SqliteStore::open(&lock, ChainId(1), SqliteOptions::default()).await.unwrap();
        let files = fill(&store, &place, segments).await.unwrap();
        drop((store, lock));
        let mut found = Vec::new();
        walk(made.path(), &mut found);
        for path in found {
            let key = path.strip_prefix(made.path()).unwrap().display().to_string();
            s3.upload(&format!("history/{key}"), std::fs::read(&path).unwrap()).await.unwrap();
        }
        Sealed { s3, data, segments, files }
    }

    /// The answer, as CSV without its head, and what was read for it by a process that knew nothing before.
    async fn ask(&self, sql: &str) -> (String, Read) {
        self.s3.forget_calls();
        let env = self.s3.env();
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (data, place) = (self.data.path().display().to_string(), self.s3.place("history"));
        let args = ["sql", "--dir", &data, "--nest", NEST, "--segments", &place, "--format", "csv", sql];
        let done = run_with(EXE, self.data.path(), &args, &env).await.unwrap();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let mut read = Read::new();
        for call in self.s3.calls() {
            assert_eq!(call.op, Op::Get, "{call:?}");
            let (_, key) = call.key.split_once("history/").unwrap();
            *read.entry(key.to_owned()).or_default() += call.received;
        }
        let answer = done.stdout.split_once('\n').map(|(_, rows)| rows.trim_end().to_owned());
        (answer.unwrap_or_default(), read)
    }

    fn size(&self) -> u64 {
        self.files.iter().map(|(_, size)| size).sum()
    }
}

fn total(read: &Read) -> u64 {
    read.values().sum()
}

async fn reads_only_what_it_needs(segments: u64) {
    let sealed = Sealed::new(segments).await;
    let rows = segments * SEGMENT_ROWS;
    let whole = sealed.size();
    println!("{rows} rows in {segments} files, {} MiB", whole >> 20);
    let report = |what: &str, read: &Read| println!("  {what}: {} KiB of {} files", total(read) >> 10, read.len());

    // Two leaves hold the footer with the page index.
    let (count, read) = sealed.ask(&format!("SELECT count(*) FROM {TABLE}")).await;
    report("count(*)", &read);
    assert_eq!(count, rows.to_string());
    assert!(read.values().all(|bytes| *bytes <= 3 * LEAF), "more than footers: {read:?}");

    // From the middle of the second file to the middle of the third.
    let (first, last) = (SEGMENT_BLOCKS * 3 / 2, SEGMENT_BLOCKS * 5 / 2 - 1);
    let (count, read) =
        sealed.ask(&format!("SELECT count(*) FROM {TABLE} WHERE block_number BETWEEN {first} AND {last}")).await;
    report("count in a block range", &read);
    assert_eq!(count, SEGMENT_ROWS.to_string());
    let within: Vec<&String> = sealed.files[1..3].iter().map(|(key, _)| key).collect();
    assert!(read.keys().all(|key| within.contains(&key)), "files beside the range: {read:?}");

    // By time too, whose bounds are in the footers.
    let (count, read) = sealed
        .ask(&format!(
            "SELECT count(*) FROM {TABLE} WHERE block_timestamp < to_timestamp({})",
            nuthatch_tests::sealed_store::time(SEGMENT_BLOCKS / 2)
        ))
        .await;
    report("count before a time", &read);
    assert_eq!(count, (SEGMENT_ROWS / 2).to_string());
    let beside = read.iter().filter(|(key, _)| **key != sealed.files[0].0);
    assert!(beside.clone().all(|(_, bytes)| *bytes <= 3 * LEAF), "more than footers of other files: {read:?}");

    // A sender that never was, and one that was once.
    let absent = hex::encode(sender(rows + 12_345));
    let (found, read) = sealed.ask(&format!("SELECT * FROM {TABLE} WHERE from_ = '0x{absent}'")).await;
    report("an absent address", &read);
    assert_eq!(found, "");
    // A filter of 256 KiB in leaves of its own, and the footer. One file in a hundred is looked into for nothing.
    let blooms = read.values().filter(|bytes| **bytes <= 256 * 1_024 + 5 * LEAF).count() as u64;
    assert!(blooms + 1 + segments / 20 >= segments, "pages were read: {read:?}");
    let once = hex::encode(sender(rows / 2 + 7));
    let (found, read) = sealed.ask(&format!("SELECT block_number FROM {TABLE} WHERE from_ = '0x{once}'")).await;
    report("one address", &read);
    assert_eq!(found, ((rows / 2 + 7) / 128).to_string());

    // One column and no other: a number of eight bytes a row, which hardly compress.
    let (_, read) = sealed.ask(&format!("SELECT sum(amount) FROM {TABLE}")).await;
    report("sum of a column", &read);
    let column = rows * 8;
    assert!(total(&read) < column + segments * 5 * LEAF, "{} bytes for a column of {column}", total(&read));
    assert!(total(&read) < whole / 3);

    let (found, read) = sealed.ask(&format!("SELECT * FROM {TABLE} LIMIT 10")).await;
    report("LIMIT 10", &read);
    assert_eq!(found.lines().count(), 10);
    assert!(read.len() <= 2 && total(&read) <= sealed.files[0].1 * 2, "{read:?}");
    assert_eq!(sealed.segments, segments);
}

#[tokio::test]
async fn queries_read_only_what_they_need() {
    reads_only_what_it_needs(5).await;
}

/// Ten million rows.
#[tokio::test]
async fn slow_queries_over_many_files_read_only_what_they_need() {
    reads_only_what_it_needs(77).await;
}
