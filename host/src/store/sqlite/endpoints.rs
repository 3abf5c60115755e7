//! Endpoint rows, and the serving epochs that outlive them.

use sqlx::SqliteConnection;

use super::datasets;
use super::fail::Step;
use super::rows::{from_json, hash, int, parse, to_json, uint};
use crate::model::{BundleHash, DatasetId, Endpoint, NestName};

type Row = (String, String, String, Vec<u8>, i64, String, String, i64);

fn endpoint((name, nest, version, bundle, dataset, manifest, views, epoch): Row) -> Step<Endpoint> {
    Ok(Endpoint {
        name: parse("endpoint name", &name)?,
        nest: parse("nest name", &nest)?,
        version: parse("nest version", &version)?,
        bundle: BundleHash(hash(&bundle)?),
        dataset: DatasetId(dataset),
        manifest,
        views: from_json("views", &views)?,
        epoch: uint(epoch)?,
    })
}

/// All rows by name.
pub(super) async fn all(connection: &mut SqliteConnection) -> Step<Vec<Endpoint>> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT name, nest, version, bundle, dataset, manifest, views, epoch FROM endpoints ORDER BY name",
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter().map(endpoint).collect()
}

/// The row of this name.
pub(super) async fn one(connection: &mut SqliteConnection, name: &NestName) -> Step<Option<Endpoint>> {
    let row: Option<Row> = sqlx::query_as(
        "SELECT name, nest, version, bundle, dataset, manifest, views, epoch FROM endpoints WHERE name = ?",
    )
    .bind(name.as_str())
    .fetch_optional(connection)
    .await?;
    row.map(endpoint).transpose()
}

/// Writes the row; only a change counts the epoch up.
pub(super) async fn put(connection: &mut SqliteConnection, mut new: Endpoint) -> Step<Endpoint> {
    datasets::standing(connection, new.dataset).await?;
    if let Some(old) = one(connection, &new.name).await? {
        new.epoch = old.epoch;
        if new == old {
            return Ok(old);
        }
    }
    new.epoch = next_epoch(connection, new.name.as_str()).await?;
    sqlx::query(
        "INSERT INTO endpoints (name, nest, version, bundle, dataset, manifest, views, epoch) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET nest = excluded.nest, \
         version = excluded.version, bundle = excluded.bundle, dataset = excluded.dataset, \
         manifest = excluded.manifest, views = excluded.views, epoch = excluded.epoch",
    )
    .bind(new.name.as_str())
    .bind(new.nest.as_str())
    .bind(new.version.to_string())
    .bind(&new.bundle.0[..])
    .bind(new.dataset.0)
    .bind(&new.manifest)
    .bind(to_json(&new.views)?)
    .bind(int(new.epoch)?)
    .execute(connection)
    .await?;
    Ok(new)
}

async fn next_epoch(connection: &mut SqliteConnection, name: &str) -> Step<u64> {
    let (epoch,): (i64,) = sqlx::query_as(
        "INSERT INTO endpoint_epochs (name, epoch) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET epoch = epoch + 1 \
         RETURNING epoch",
    )
    .bind(name)
    .fetch_one(connection)
    .await?;
    uint(epoch)
}

/// Points all rows of one dataset at another.
pub(super) async fn move_all(connection: &mut SqliteConnection, old: DatasetId, new: DatasetId) -> Step<()> {
    let names: Vec<(String,)> =
        sqlx::query_as("SELECT name FROM endpoints WHERE dataset = ?").bind(old.0).fetch_all(&mut *connection).await?;
    for (name,) in names {
        let epoch = next_epoch(connection, &name).await?;
        sqlx::query("UPDATE endpoints SET dataset = ?, epoch = ? WHERE name = ?")
            .bind(new.0)
            .bind(int(epoch)?)
            .bind(name)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

pub(super) async fn remove(connection: &mut SqliteConnection, name: &NestName) -> Step<()> {
    sqlx::query("DELETE FROM endpoints WHERE name = ?").bind(name.as_str()).execute(connection).await?;
    Ok(())
}
