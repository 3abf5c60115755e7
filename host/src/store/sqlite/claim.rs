//! Claiming the store: schema, owner and fence.

use sqlx::{SqliteConnection, raw_sql};

use super::fail::{Fail, Step};
use super::rows::{meta, meta_number, set_meta};
use crate::model::{ChainId, Fence};
use crate::store::{StoreError, StoreId};

/// Each brings the schema from the version before to its own.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../../schemas/sql/sqlite/0001_hot_store.sql"),
    include_str!("../../../../schemas/sql/sqlite/0002_segments.sql"),
];

/// The newest schema that this binary knows.
pub(super) const KNOWN: i64 = MIGRATIONS.len() as i64;
/// The oldest that it reads without changing it.
const OLDEST_READ: i64 = if KNOWN > 1 { KNOWN - 1 } else { KNOWN };
/// What marks a SQLite file as ours: 'nuth'.
const APPLICATION: i64 = 0x6e75_7468;

/// What this process wrote when it claimed the store. Every write compares it with what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub fence: Fence,
    pub owner: String,
}

/// Makes or migrates the schema, checks that the store is this chain's, and takes it over. Runs inside a write
/// transaction, so that two claims come one after the other and the schema is never seen half made.
pub(super) async fn claim(connection: &mut SqliteConnection, path: &str, chain: ChainId) -> Step<Claim> {
    let found = version(connection, path).await?;
    if found > KNOWN {
        return Err(newer(path, found));
    }
    for (place, migration) in MIGRATIONS.iter().enumerate().skip(usize::try_from(found).unwrap_or(0)) {
        raw_sql(*migration).execute(&mut *connection).await?;
        // A pragma takes no parameters.
        raw_sql(sqlx::AssertSqlSafe(format!("PRAGMA user_version = {}", place + 1))).execute(&mut *connection).await?;
    }
    if found == 0 {
        set_meta(connection, "chain_id", &chain.to_string()).await?;
        set_meta(connection, "store_id", &StoreId::random().to_string()).await?;
    }
    check_chain(connection, path, chain).await?;
    let fence = Fence(meta_number(connection, "owner_fence").await? + 1);
    let owner = format!("process {} ({})", std::process::id(), hex::encode(rand::random::<[u8; 8]>()));
    set_meta(connection, "owner_fence", &fence.to_string()).await?;
    set_meta(connection, "lease_owner", &owner).await?;
    Ok(Claim { fence, owner })
}

/// Gives the store another name. What the catalogue named once lies under the old one, whose owner deletes it.
pub(super) async fn fork(connection: &mut SqliteConnection) -> Step<StoreId> {
    let name = StoreId::random();
    set_meta(connection, "store_id", &name.to_string()).await?;
    sqlx::query("DELETE FROM dropped_keys").execute(connection).await?;
    Ok(name)
}

/// Refuses a write unless fence and owner in the store are this process's own.
pub(super) async fn guard(connection: &mut SqliteConnection, claim: &Claim) -> Step<()> {
    let current = Fence(meta_number(connection, "owner_fence").await?);
    let holder = meta(connection, "lease_owner").await?.unwrap_or_default();
    if current != claim.fence || holder != claim.owner {
        return Err(StoreError::LostOwnership { held: claim.fence, current, holder }.into());
    }
    Ok(())
}

/// Checks that a reader, which changes nothing, can read the schema.
pub(super) async fn check_readable(connection: &mut SqliteConnection, path: &str, chain: ChainId) -> Step<()> {
    let found = version(connection, path).await?;
    match found {
        0 => return Err(StoreError::NoStore { path: path.to_owned(), chain: chain.0 }.into()),
        newer_one if newer_one > KNOWN => return Err(newer(path, found)),
        older if older < OLDEST_READ => {
            return Err(StoreError::OlderSchema { path: path.to_owned(), found, oldest: OLDEST_READ }.into());
        }
        _ => {}
    }
    check_chain(connection, path, chain).await
}

fn newer(path: &str, found: i64) -> Fail {
    StoreError::NewerSchema { path: path.to_owned(), found, known: KNOWN }.into()
}

/// The schema's version; 0 for an empty file.
async fn version(connection: &mut SqliteConnection, path: &str) -> Step<i64> {
    let (version,): (i64,) = sqlx::query_as("PRAGMA user_version").fetch_one(&mut *connection).await?;
    let (application,): (i64,) = sqlx::query_as("PRAGMA application_id").fetch_one(&mut *connection).await?;
    let (objects,): (i64,) = sqlx::query_as("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    match (version, objects) {
        (0, 0) => Ok(0),
        (1.., 1..) if application == APPLICATION => Ok(version),
        _ => Err(StoreError::Corrupt {
            path: path.to_owned(),
            reason: "it is a SQLite database of something else".to_owned(),
        }
        .into()),
    }
}

async fn check_chain(connection: &mut SqliteConnection, path: &str, chain: ChainId) -> Step<()> {
    let found = meta_number(connection, "chain_id").await?;
    if found != chain.0 {
        return Err(StoreError::OtherChain { path: path.to_owned(), found, wanted: chain.0 }.into());
    }
    Ok(())
}
