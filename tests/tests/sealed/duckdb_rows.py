"""What DuckDB reads in segments. Standard input: {"files"}; standard output: answers by name, integers as text. Sums of
256-bit values are Python's."""

import collections
import json
import sys

import duckdb

files = ", ".join("'" + file.replace("'", "''") + "'" for file in json.load(sys.stdin)["files"])
database = duckdb.connect()
database.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet([{files}])")


def number(value):
    return int.from_bytes(value, "big")


def text(value):
    return "0x" + value.hex()


rows = database.execute("SELECT address, from_, value, block_number FROM t").fetchall()
by_address = collections.defaultdict(lambda: [0, 0])
for address, _, value, _ in rows:
    by_address[text(address)][0] += 1
    by_address[text(address)][1] += number(value)
count, blocks, logs, first, last = database.execute(
    "SELECT count(*), count(DISTINCT block_number), sum(log_index), min(epoch(block_timestamp)), "
    "max(epoch(block_timestamp)) FROM t"
).fetchone()
by_block = database.execute(
    "SELECT block_number // 50 AS part, count(*), sum(tx_index) FROM t GROUP BY part ORDER BY part"
).fetchall()
json.dump(
    {
        "totals": [str(it) for it in (count, blocks, int(logs), int(first), int(last))],
        "sum": str(sum(number(value) for _, _, value, _ in rows)),
        "most": str(max(number(value) for _, _, value, _ in rows)),
        "by_address": sorted([address, str(n), str(total)] for address, (n, total) in by_address.items()),
        "by_block": [[str(part), str(n), str(int(total))] for part, n, total in by_block],
        "one": sorted([str(block), text(sender)] for _, sender, _, block in rows if text(sender) == text(rows[0][1])),
        "sender": text(rows[0][1]),
    },
    sys.stdout,
)
