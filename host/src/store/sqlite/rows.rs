//! Between SQL values and the model.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::SqliteConnection;

use super::fail::{Fail, Step};
use crate::model::{BlockHash, BlockNumber, BlockRef, Branch};

/// A count as SQLite keeps it.
pub(super) fn int(number: u64) -> Step<i64> {
    i64::try_from(number).map_err(|_| {
        Fail::Store(crate::store::StoreError::Refused(format!("{number} is beyond what the store can count")))
    })
}

pub(super) fn uint(number: i64) -> Step<u64> {
    u64::try_from(number).map_err(|_| Fail::Damaged(format!("{number} stands where a count should")))
}

pub(super) fn hash(bytes: &[u8]) -> Step<[u8; 32]> {
    bytes.try_into().map_err(|_| Fail::Damaged(format!("a hash of {} bytes", bytes.len())))
}

pub(super) fn block(number: i64, bytes: &[u8]) -> Step<BlockRef> {
    Ok(BlockRef { number: BlockNumber(uint(number)?), hash: BlockHash::from(hash(bytes)?) })
}

pub(super) fn maybe_block(number: Option<i64>, bytes: Option<Vec<u8>>) -> Step<Option<BlockRef>> {
    match (number, bytes) {
        (Some(number), Some(bytes)) => block(number, &bytes).map(Some),
        (None, None) => Ok(None),
        _ => Err(Fail::Damaged("a block with only one of number and hash".to_owned())),
    }
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Step<String> {
    serde_json::to_string(value).map_err(|error| {
        Fail::Store(crate::store::StoreError::Refused(format!("a value that JSON cannot hold: {error}")))
    })
}

pub(super) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Step<T> {
    serde_json::from_str(text).map_err(|error| Fail::Damaged(format!("{what}: {error}")))
}

pub(super) fn parse<T: std::str::FromStr>(what: &str, text: &str) -> Step<T>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error| Fail::Damaged(format!("{what}: {error}")))
}

pub(super) async fn meta(connection: &mut SqliteConnection, key: &str) -> Step<Option<String>> {
    let row: Option<(String,)> =
        sqlx::query_as("SELECT value FROM meta WHERE key = ?").bind(key).fetch_optional(connection).await?;
    Ok(row.map(|(value,)| value))
}

pub(super) async fn meta_number(connection: &mut SqliteConnection, key: &str) -> Step<u64> {
    let text = meta(connection, key).await?;
    let text = text.ok_or_else(|| Fail::Damaged(format!("meta has no {key}")))?;
    parse(key, &text)
}

pub(super) async fn set_meta(connection: &mut SqliteConnection, key: &str, value: &str) -> Step<()> {
    sqlx::query("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")
        .bind(key)
        .bind(value)
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn clear_meta(connection: &mut SqliteConnection, key: &str) -> Step<()> {
    sqlx::query("DELETE FROM meta WHERE key = ?").bind(key).execute(connection).await?;
    Ok(())
}

pub(super) async fn branch(connection: &mut SqliteConnection) -> Step<Branch> {
    Ok(Branch(meta_number(connection, "branch").await?))
}

pub(super) async fn raise_branch(connection: &mut SqliteConnection) -> Step<Branch> {
    let branch = Branch(branch(connection).await?.0 + 1);
    set_meta(connection, "branch", &branch.to_string()).await?;
    Ok(branch)
}

pub(super) async fn final_block(connection: &mut SqliteConnection) -> Step<Option<BlockRef>> {
    meta(connection, "final_block").await?.map(|text| from_json("meta final_block", &text)).transpose()
}

pub(super) async fn set_final_block(connection: &mut SqliteConnection, block: Option<BlockRef>) -> Step<()> {
    match block {
        Some(block) => set_meta(connection, "final_block", &to_json(&block)?).await,
        None => clear_meta(connection, "final_block").await,
    }
}

/// Unix milliseconds.
pub(super) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) async fn set_halted(connection: &mut SqliteConnection, reason: Option<&str>) -> Step<()> {
    match reason {
        Some(reason) => set_meta(connection, "halted", reason).await,
        None => clear_meta(connection, "halted").await,
    }
}
