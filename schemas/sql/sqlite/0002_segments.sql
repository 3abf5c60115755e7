-- Sealed history: which file holds which rows.

-- The catalogue. A row is written once; where a dataset goes, its rows go with it.
CREATE TABLE segments (
    dataset     INTEGER NOT NULL REFERENCES datasets (id),
    table_id    INTEGER NOT NULL,   -- place in the manifest; -1 rejected, -2 ignored
    first_block INTEGER NOT NULL,   -- of the first row
    last_block  INTEGER NOT NULL,   -- of the last row
    sealed_to   INTEGER NOT NULL,   -- the block at which it was cut: every row up to there is sealed
    rows        INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    hash        BLOB NOT NULL,
    key         TEXT NOT NULL UNIQUE,
    tree        BLOB NOT NULL,      -- inner hashes of the file: of each 64 KiB
    PRIMARY KEY (dataset, table_id, first_block),
    CHECK (first_block <= last_block AND last_block <= sealed_to AND rows > 0)
) STRICT, WITHOUT ROWID;

-- Keys that the catalogue named once. Their objects may be deleted a day later.
CREATE TABLE dropped_keys (
    key        TEXT PRIMARY KEY,
    dropped_at INTEGER NOT NULL     -- Unix milliseconds
) STRICT, WITHOUT ROWID;
