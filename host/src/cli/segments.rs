//! `nuthatch segments`: list, verify and clean up sealed history.

use std::collections::HashSet;

use clap::{Args, Subcommand};
use serde_json::json;

use super::{DataArgs, Output, admin, data_folder};
use crate::model::{ChainId, ContentHash};
use crate::segments::{KeysInUse, Place, PlaceError, folder_of};
use crate::store::sqlite::SqliteReader;
use crate::store::{HotReader, HotStore, SegmentMeta};

#[derive(Debug, Subcommand)]
pub enum SegmentsCommand {
    List(ListArgs),
    Verify(VerifyArgs),
    Gc(GcArgs),
}

/// List the sealed segments of a data folder
///
/// A segment is an immutable Parquet file with final rows of one table, named by its BLAKE3 hash. Any two indexes of
/// one nest have the same ones.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// Hash every segment again and compare with the catalogue
///
/// Exit code 1 where one is missing or damaged, or could not be read.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Where the segments are [default: `segments` in the data folder]
    #[arg(long, value_name = "PLACE")]
    pub segments: Option<String>,
}

/// Delete files that no catalogue has named for 24 hours
///
/// Only shows them, without --delete. Looks at files of this data folder's stores alone, wherever they lie.
#[derive(Debug, Args)]
pub struct GcArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Where the segments are [default: `segments` in the data folder]
    #[arg(long, value_name = "PLACE")]
    pub segments: Option<String>,
    /// Delete them
    #[arg(long)]
    pub delete: bool,
}

pub(super) async fn run(command: SegmentsCommand) -> anyhow::Result<()> {
    match command {
        SegmentsCommand::List(args) => list(args).await,
        SegmentsCommand::Verify(args) => verify(args).await,
        SegmentsCommand::Gc(args) => gc(args).await,
    }
}

/// A segment, whose it is.
struct Named {
    chain: ChainId,
    dataset: i64,
    table: String,
    meta: SegmentMeta,
}

async fn named(readers: &[(ChainId, SqliteReader)]) -> anyhow::Result<Vec<Named>> {
    let mut all = Vec::new();
    for (chain, reader) in readers {
        let mut read = reader.read().await?;
        for dataset in read.state().await?.datasets {
            for meta in read.segments(dataset.id).await? {
                let table = dataset.table_name(meta.table).to_owned();
                all.push(Named { chain: *chain, dataset: dataset.id.0, table, meta });
            }
        }
    }
    Ok(all)
}

async fn list(args: ListArgs) -> anyhow::Result<()> {
    let readers = data_folder::readers(&args.data.folder()).await?;
    let all = named(&readers).await?;
    let mut out = Output::new();
    for Named { chain, dataset, table, meta } in &all {
        if args.json {
            let row = json!({
                "chain": chain, "dataset": dataset, "table": table, "first_block": meta.range.first,
                "last_block": meta.range.last, "rows": meta.rows, "bytes": meta.bytes, "hash": meta.hash, "key": meta.key,
            });
            out.line(row.to_string())?;
        } else {
            let (range, rows, bytes) = (meta.range, meta.rows, meta.bytes);
            out.line(format!("{table}  blocks {range}  {rows} rows  {bytes} bytes  {}", meta.hash))?;
        }
    }
    if !args.json {
        let (rows, bytes) = totals(&all);
        out.line(format!("{} segments, {rows} rows, {bytes} bytes", all.len()))?;
    }
    out.finish()
}

fn totals(all: &[Named]) -> (u64, u64) {
    all.iter().fold((0, 0), |(rows, bytes), it| (rows + it.meta.rows, bytes + it.meta.bytes))
}

fn place(args: &DataArgs, segments: Option<&str>) -> anyhow::Result<Option<Place>> {
    Ok(data_folder::segments(&args.folder(), segments)?)
}

/// What came of looking at a segment.
enum Verified {
    Whole,
    /// It is gone, or has other bytes.
    Bad(String),
    /// Nothing is known of it.
    Unread(String),
}

async fn verify(args: VerifyArgs) -> anyhow::Result<()> {
    let all = named(&data_folder::readers(&args.data.folder()).await?).await?;
    let place = place(&args.data, args.segments.as_deref())?;
    let mut out = Output::new();
    let (mut bad, mut unread) = (0, 0);
    for Named { table, meta, .. } in &all {
        let why = match look_at(place.as_ref(), meta).await {
            Verified::Whole => continue,
            Verified::Bad(why) => {
                bad += 1;
                why
            }
            Verified::Unread(why) => {
                unread += 1;
                why
            }
        };
        out.line(format!("{table}  blocks {}  {}: {why}", meta.range, meta.key))?;
    }
    let (rows, bytes) = totals(&all);
    out.line(format!("{} segments with {rows} rows in {bytes} bytes; {bad} missing or damaged", all.len()))?;
    out.finish()?;
    if bad > 0 {
        anyhow::bail!(
            "{bad} segments are missing or damaged; put them back from a copy (any index of the same nest has the same \
             files), or `nuthatch reset` and index again"
        );
    }
    if unread > 0 {
        anyhow::bail!("{unread} segments could not be read, and may be whole; verify again when they can");
    }
    Ok(())
}

async fn look_at(place: Option<&Place>, meta: &SegmentMeta) -> Verified {
    let Some(place) = place else { return Verified::Bad("there is no folder for segments".to_owned()) };
    match place.get(&meta.key).await {
        Ok(bytes) => match ContentHash::of(&bytes) {
            found if found == meta.hash => Verified::Whole,
            found => Verified::Bad(format!("its bytes have the hash {found}")),
        },
        Err(error @ PlaceError::Missing { .. }) => Verified::Bad(error.to_string()),
        Err(error) => Verified::Unread(error.to_string()),
    }
}

async fn gc(args: GcArgs) -> anyhow::Result<()> {
    let data = args.data.folder();
    let mut out = Output::new();
    let Some(place) = place(&args.data, args.segments.as_deref())? else {
        out.line("there are no segments")?;
        return out.finish();
    };
    let (mut files, mut bytes) = (0, 0);
    let mut gone = Vec::new();
    for (chain, reader) in data_folder::readers(&data).await? {
        let folder = folder_of(reader.read().await?.as_mut()).await?;
        let listed = place.list(&folder).await?;
        // Read after the listing: what was committed meanwhile is named.
        let mut read = reader.read().await?;
        let keys = KeysInUse::read(read.as_mut()).await?;
        let now = read.now().await?;
        drop(read);
        let mut there: HashSet<String> = listed.iter().map(|object| object.key.clone()).collect();
        for garbage in keys.garbage(listed, now) {
            files += 1;
            bytes += garbage.object.size;
            let why = if garbage.was_named { "dropped" } else { "never committed" };
            out.line(format!("{}  {} bytes, {why}", garbage.object.key, garbage.object.size))?;
            if args.delete {
                place.delete(&garbage.object.key).await?;
                there.remove(&garbage.object.key);
            }
        }
        gone.push((chain, keys.gone(&there, now)));
    }
    out.line(match (files, args.delete) {
        (0, _) => "nothing to delete".to_owned(),
        (_, true) => format!("deleted {files} files, {bytes} bytes"),
        (_, false) => format!("{files} files, {bytes} bytes; --delete deletes them"),
    })?;
    out.finish()?;
    if args.delete { forget(&data, gone).await } else { Ok(()) }
}

/// Takes keys whose objects are gone off the lists, if nobody else owns the stores now; else a later gc does it.
async fn forget(data: &std::path::Path, gone: Vec<(ChainId, Vec<String>)>) -> anyhow::Result<()> {
    if gone.iter().all(|(_, keys)| keys.is_empty()) {
        return Ok(());
    }
    let Ok(stores) = admin::open_all(data).await else { return Ok(()) };
    for (chain, store) in stores {
        let keys = gone.iter().filter(|(of, _)| *of == chain).flat_map(|(_, keys)| keys.clone()).collect();
        store.forget_keys(keys).await?;
    }
    Ok(())
}
