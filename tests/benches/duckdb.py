"""Times statements over Parquet files in DuckDB. Standard input: {"files", "statements", "rounds"}; standard output: a
list of seconds and the answer's rows as text for each statement."""

import json
import sys
import time

import duckdb

job = json.load(sys.stdin)
database = duckdb.connect()
database.execute("PRAGMA enable_object_cache")
files = ", ".join("'" + file.replace("'", "''") + "'" for file in job["files"])
database.execute(f"CREATE VIEW t AS SELECT * FROM read_parquet([{files}])")
answers = []
for statement in job["statements"]:
    seconds = []
    for _ in range(job["rounds"]):
        started = time.perf_counter()
        rows = database.execute(statement).fetchall()
        seconds.append(time.perf_counter() - started)
    answers.append({"seconds": seconds, "rows": len(rows), "first": str(rows[0]) if rows else ""})
json.dump(answers, sys.stdout)
