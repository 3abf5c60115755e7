-- The hot store of one chain's cursor. Numbers of blocks, rows and bytes are integers; hashes are blobs of 32 bytes.
PRAGMA application_id = 1853191272; -- 'nuth'

-- chain_id, store_id, owner_fence, lease_owner, branch, final_block (JSON), halted (text).
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Seeded here, so that the first claim finds the rows that every claim goes by.
INSERT INTO meta (key, value) VALUES ('owner_fence', '0'), ('lease_owner', ''), ('branch', '0');

-- AUTOINCREMENT: a number is never used again after a drop.
CREATE TABLE datasets (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    identity    BLOB NOT NULL,
    first_block INTEGER NOT NULL,
    nest        TEXT NOT NULL,
    bundle      BLOB NOT NULL,
    engine      TEXT NOT NULL,
    backfill    INTEGER,            -- N of --backfill N
    done_number INTEGER,
    done_hash   BLOB,
    fault       TEXT,               -- JSON; NULL while active
    dropped     INTEGER NOT NULL DEFAULT 0,
    CHECK ((done_number IS NULL) = (done_hash IS NULL))
) STRICT;

CREATE UNIQUE INDEX datasets_shared ON datasets (identity, first_block) WHERE backfill IS NULL AND NOT dropped;
-- A backfilled dataset belongs to its nest alone.
CREATE UNIQUE INDEX datasets_own ON datasets (identity, first_block, nest) WHERE backfill IS NOT NULL AND NOT dropped;

-- Schemas of a dataset's tables, once for all their chunks.
CREATE TABLE dataset_tables (
    dataset INTEGER NOT NULL REFERENCES datasets (id),
    place   INTEGER NOT NULL,
    schema  TEXT NOT NULL,          -- JSON
    PRIMARY KEY (dataset, place)
) STRICT, WITHOUT ROWID;

-- The current set, small and in order, so that a snapshot reads it without touching the bytes.
CREATE TABLE chunks (
    dataset     INTEGER NOT NULL REFERENCES datasets (id),
    table_id    INTEGER NOT NULL,   -- place in the manifest; -1 rejected, -2 ignored
    first_block INTEGER NOT NULL,
    last_block  INTEGER NOT NULL,
    rows        INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    PRIMARY KEY (dataset, table_id, first_block),
    CHECK (last_block >= first_block AND rows > 0)
) STRICT, WITHOUT ROWID;

-- Bytes by content address. A row is written once and deleted once, never updated.
CREATE TABLE chunk_bytes (
    hash        BLOB NOT NULL UNIQUE,
    dataset     INTEGER NOT NULL,
    table_id    INTEGER NOT NULL,
    first_block INTEGER NOT NULL,
    last_block  INTEGER NOT NULL,
    bytes       BLOB NOT NULL
) STRICT;

-- Chunks that left the current set; their bytes go later, when no query can ask for them any more.
CREATE TABLE retired (
    hash       BLOB PRIMARY KEY,
    dataset    INTEGER NOT NULL,
    retired_at INTEGER NOT NULL     -- Unix milliseconds
) STRICT, WITHOUT ROWID;

CREATE INDEX retired_by_time ON retired (retired_at);
CREATE INDEX retired_by_dataset ON retired (dataset);

-- Blocks above the final one that the cursor stands on, without gaps.
CREATE TABLE blocks (
    number INTEGER PRIMARY KEY,
    hash   BLOB NOT NULL
) STRICT;

CREATE TABLE endpoints (
    name     TEXT PRIMARY KEY,
    nest     TEXT NOT NULL,
    version  TEXT NOT NULL,
    bundle   BLOB NOT NULL,
    dataset  INTEGER NOT NULL REFERENCES datasets (id),
    manifest TEXT NOT NULL,
    views    TEXT NOT NULL,         -- JSON: [[name, sql], ...]
    epoch    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX endpoints_by_dataset ON endpoints (dataset);

-- The counter outlives the row, so that a serving epoch is never used twice.
CREATE TABLE endpoint_epochs (
    name  TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
