#!/usr/bin/env python3
"""Makes wide_integers.jsonl: SQL over exact integers, and what it must answer.

Every expected value is computed with Python's own integers; nothing here knows of the code under test. Run it from
anywhere; it writes beside itself. The first lines are the tables, the others one query each, with its rows as text or a
part of the error it must end in.
"""

import json
import pathlib

MAX = 2**256 - 1
IMAX, IMIN = 2**255 - 1, -(2**255)
I64MAX, I64MIN, U64MAX = 2**63 - 1, -(2**63), 2**64 - 1
E18 = 10**18


def tdiv(a, b):
    """SQL's integer division: truncated toward zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def trem(a, b):
    """SQL's remainder: the sign of the left side."""
    return a - b * tdiv(a, b)


def units(value, decimals):
    """An integer as decimal text with a point."""
    digits = str(abs(value)).rjust(decimals + 1, "0")
    whole, fraction = digits[: len(digits) - decimals], digits[len(digits) - decimals :].rstrip("0")
    return ("-" if value < 0 else "") + whole + ("." + fraction if fraction else "")


U = [0, 1, E18, 2**64, 2**127, 2**128 - 1, 2**128, 2**255, MAX, MAX, None, 340282366920938463463374607431768211457]
I = [IMIN, IMAX, -1, 0, 1, -E18, 2**64, -(2**64), -(2**127), 2**127, None, 42]
N = [I64MIN, I64MAX, -1, 0, 1, 7, -7, 1000000007, None, 3, 2**40, -(2**40)]
B = [0, U64MAX, 1, 2**63, 5, 1000, None, 2**53 + 1, 17, 10**9, 255, 256]
S = ["0", str(MAX), "0xde0b6b3a7640000", "-5", str(2**64), "+7", "340282366920938463463374607431768211455", None, hex(MAX), "9", "1", "12"]
D = [0.5, 1e18, -2.0, 3.0, None, 1e30, 2.5, 0.0, 1.0, -1.5, 4.0, 1e-3]

ROWS = [
    dict(id=place + 1, k=place % 3, u=U[place], i=I[place], n=N[place], b=B[place], s=S[place], d=D[place])
    for place in range(12)
]

# Names and amounts to join with: int64 and text that meet wide columns.
KEYS = [
    dict(key=1, big=1, label="one"),
    dict(key=0, big=0, label="zero"),
    dict(key=7, big=MAX, label="max"),
    dict(key=42, big=2**64, label="word"),
    dict(key=None, big=None, label="none"),
]


def number(text):
    return None if text is None else int(text, 0)


def text(value):
    if value is None:
        return None
    if value is True or value is False:
        return str(value).lower()
    if isinstance(value, float):
        return repr(value).replace("e+", "e")
    return str(value)


OUT = []


def rows(sql, expected):
    OUT.append(dict(sql=sql, rows=[[text(cell) for cell in row] for row in expected]))


def one(sql, *cells):
    rows(sql, [cells])


def fails(sql, *parts):
    OUT.append(dict(sql=sql, error=list(parts)))


def each(expression, compute, where=None, keep=lambda row: True):
    """One expression over all rows of t, in order of id."""
    clause = f" WHERE {where}" if where else ""
    rows(f"SELECT id, {expression} FROM t{clause} ORDER BY id", [(row["id"], compute(row)) for row in ROWS if keep(row)])


def ids(condition, keep):
    """The rows that a condition lets through; `keep` gives None for unknown."""
    rows(f"SELECT id FROM t WHERE {condition} ORDER BY id", [(row["id"],) for row in ROWS if keep(row)])


def null_safe(function, *names):
    """A function of columns that is null where one of them is."""

    def compute(row):
        values = [row[name] for name in names]
        return None if any(value is None for value in values) else function(*values)

    return compute


def present(name):
    return [row[name] for row in ROWS if row[name] is not None]


# --- literals ---------------------------------------------------------------------------------------------------------
for value in [2**64, 2**64 - 1, 2**63, -(2**63) - 1, MAX, -MAX, IMIN, 10**77, 2**256, 2**512 - 1, -(2**1000)]:
    one(f"SELECT {value}", value)
one("SELECT 115792089237316195423570985008687907853269984665640564039457584007913129639935 + 1", MAX + 1)
one("SELECT +18446744073709551616", 2**64)
one("SELECT -(18446744073709551616)", -(2**64))
one("SELECT - 9223372036854775808, -(-9223372036854775809)", I64MIN, 2**63 + 1)
one("SELECT - - 18446744073709551616", 2**64)
one("SELECT 100000000000000000000000 = 1e23, 99999999999999999999999 < 1e23", True, True)
one("SELECT CASE WHEN 2 > 1 THEN 36893488147419103232 ELSE 1 END", 2**65)
one("SELECT CASE WHEN 2 < 1 THEN 36893488147419103232 ELSE 1 END", 1)
one("SELECT coalesce(NULL, 36893488147419103232)", 2**65)
rows("SELECT * FROM (VALUES (1), (36893488147419103232), (-1)) AS v(x) ORDER BY x", [(-1,), (1,), (2**65,)])
rows("SELECT x + 1 FROM (VALUES (NULL), (-36893488147419103232), (2 + 3)) AS v(x) ORDER BY x", [(-(2**65) + 1,), (6,), (None,)])
rows("VALUES (1, 'a'), (10^30, 'b')", [(1, "a"), (10**30, "b")])
one("SELECT 10^18, 10^77, 2^256 - 1, (-2)^255", 10**18, 10**77, MAX, IMIN)
one("SELECT -2^2, -(2^2), 2 * -3^3", 4, -4, -54)
one("SELECT 7 / 10^2 * 3, 2^3 * 2, 2^3^2, 1 + 2^10 % 1000", 0, 16, 64, 25)
one("SELECT power(2, 255) - 1, pow(-3, 161), power(0, 0), power(1, 99999999999999999999)", IMAX, (-3) ** 161, 1, 1)
one("SELECT to_integer('0xff'), to_integer('-0x10'), to_integer(' 12 '), to_integer('+5')", 255, -16, 12, 5)
one(f"SELECT uint256('{hex(MAX)}'), int256('{IMIN}')", MAX, IMIN)
one(f"SELECT {MAX} * {MAX}", MAX * MAX)
one(f"SELECT {MAX} * {MAX} * {MAX}", MAX**3)
one(f"SELECT ({MAX} * {MAX}) / {MAX}, ({MAX} * {MAX}) % 1000000007", MAX, MAX * MAX % 1000000007)
one("SELECT arrow_typeof(18446744073709551616), arrow_typeof(18446744073709551615)", "LargeBinary", "UInt64")

# --- arithmetic over columns ------------------------------------------------------------------------------------------
each("u", lambda row: row["u"])
each("i", lambda row: row["i"])
each("-u", null_safe(lambda u: -u, "u"))
each("-i", null_safe(lambda i: -i, "i"))
each("- (i - 1)", null_safe(lambda i: -(i - 1), "i"))
each("u + i", null_safe(lambda u, i: u + i, "u", "i"))
each("u - i", null_safe(lambda u, i: u - i, "u", "i"))
each("u * i", null_safe(lambda u, i: u * i, "u", "i"))
each("u / i", null_safe(tdiv, "u", "i"), "i <> 0", lambda row: row["i"] not in (None, 0))
each("u % i", null_safe(trem, "u", "i"), "i <> 0", lambda row: row["i"] not in (None, 0))
each("i / 3", null_safe(lambda i: tdiv(i, 3), "i"))
each("i % 7", null_safe(lambda i: trem(i, 7), "i"))
each("i / -1000000000000000000", null_safe(lambda i: tdiv(i, -E18), "i"))
each("u / n", null_safe(tdiv, "u", "n"), "n <> 0", lambda row: row["n"] not in (None, 0))
each("n / u", null_safe(tdiv, "n", "u"), "u <> 0", lambda row: row["u"] not in (None, 0))
each("u + n", null_safe(lambda u, n: u + n, "u", "n"))
each("n - u", null_safe(lambda n, u: n - u, "n", "u"))
each("u * b", null_safe(lambda u, b: u * b, "u", "b"))
each("b - i", null_safe(lambda b, i: b - i, "b", "i"))
each("u + '1'", null_safe(lambda u: u + 1, "u"))
each("u + s", lambda row: None if row["u"] is None or row["s"] is None else row["u"] + number(row["s"]))
each("u * u * u", null_safe(lambda u: u**3, "u"))
each("(u * u) / nullif(u, 0)", lambda row: None if not row["u"] else row["u"])
each("u / nullif(i, 0)", lambda row: None if row["u"] is None or not row["i"] else tdiv(row["u"], row["i"]))
each("abs(i)", null_safe(abs, "i"))
each("abs(u - i)", null_safe(lambda u, i: abs(u - i), "u", "i"))
each("sign(i)", null_safe(lambda i: (i > 0) - (i < 0), "i"))
each("u / 10^9", null_safe(lambda u: u // 10**9, "u"))
each("u / 10^9 * 3 - 1", null_safe(lambda u: u // 10**9 * 3 - 1, "u"))
each("u & 255", null_safe(lambda u: u & 255, "u"))
each("i & 65535", null_safe(lambda i: i & 65535, "i"))
each("u | i", null_safe(lambda u, i: u | i, "u", "i"))
each("u XOR i", null_safe(lambda u, i: u ^ i, "u", "i"))
each("u << 3", null_safe(lambda u: u << 3, "u"))
each("i >> 65", null_safe(lambda i: i >> 65, "i"))
each("(u >> 128) & 0xffff", null_safe(lambda u: (u >> 128) & 0xFFFF, "u"))
each("u + NULL", lambda row: None)
each("n + 0", lambda row: row["n"])
each("b / 2", null_safe(lambda b: b // 2, "b"))
each("b % 1000", null_safe(lambda b: b % 1000, "b"))
each("b - 1", null_safe(lambda b: b - 1, "b"), "b < 1000000000000", lambda row: row["b"] is not None and row["b"] < 10**12)
each("int256(b) - 1", null_safe(lambda b: b - 1, "b"))
each("int256(n) * n", null_safe(lambda n: n * n, "n"))
each("int256(n) - b", null_safe(lambda n, b: n - b, "n", "b"))

# --- comparison -------------------------------------------------------------------------------------------------------
OPS = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
for symbol, compare in OPS.items():
    each(f"u {symbol} i", null_safe(compare, "u", "i"))
    ids(f"u {symbol} {MAX}", lambda row: row["u"] is not None and compare(row["u"], MAX))
    ids(f"i {symbol} -1", lambda row: row["i"] is not None and compare(row["i"], -1))
    ids(f"{2**128} {symbol} u", lambda row: row["u"] is not None and compare(2**128, row["u"]))
    ids(f"u {symbol} b", lambda row: None not in (row["u"], row["b"]) and compare(row["u"], row["b"]))
    ids(f"n {symbol} i", lambda row: None not in (row["n"], row["i"]) and compare(row["n"], row["i"]))
    ids(f"u {symbol} s", lambda row: None not in (row["u"], row["s"]) and compare(row["u"], number(row["s"])))
ids(f"i = {IMIN}", lambda row: row["i"] == IMIN)
ids(f"i > {IMIN} AND i < {IMAX}", lambda row: row["i"] is not None and IMIN < row["i"] < IMAX)
ids("u = '1000000000000000000'", lambda row: row["u"] == E18)
ids("u = '0xde0b6b3a7640000'", lambda row: row["u"] == E18)
ids("u = 0xde0b6b3a7640000", lambda row: row["u"] == E18)
ids("'340282366920938463463374607431768211456' <= u", lambda row: row["u"] is not None and row["u"] >= 2**128)
ids("u > 1e18", lambda row: row["u"] is not None and row["u"] > E18)
ids("u >= 1e18", lambda row: row["u"] is not None and row["u"] >= E18)
ids("u > 0.5", lambda row: row["u"] is not None and row["u"] > 0)
ids("i >= -0.5", lambda row: row["i"] is not None and row["i"] >= 0)
ids("i < -0.5", lambda row: row["i"] is not None and row["i"] < 0)
ids("i = 0.5", lambda row: False)
ids("i <> 0.5", lambda row: row["i"] is not None)
ids("u = NULL", lambda row: False)
ids("u IS NULL", lambda row: row["u"] is None)
ids("u IS NOT NULL AND i IS NULL", lambda row: row["u"] is not None and row["i"] is None)
each("u IS DISTINCT FROM i", lambda row: row["u"] != row["i"])
each("u IS NOT DISTINCT FROM 1", lambda row: row["u"] == 1)
each("i IS DISTINCT FROM n", lambda row: row["i"] != row["n"])
each("u IS DISTINCT FROM NULL", lambda row: row["u"] is not None)
each("(u > 5) = (i > 5)", null_safe(lambda u, i: (u > 5) == (i > 5), "u", "i"))
one("SELECT 99999999999999999999 > 99999999999999999998, 99999999999999999999 = 99999999999999999999, -99999999999999999999 < 0", True, True, True)
one("SELECT count(*) FROM t WHERE d < u", sum(1 for r in ROWS if r["d"] is not None and r["u"] is not None and r["d"] < float(r["u"])))

# --- BETWEEN, IN ------------------------------------------------------------------------------------------------------
ids("u BETWEEN 1 AND 18446744073709551616", lambda row: row["u"] is not None and 1 <= row["u"] <= 2**64)
ids(f"u BETWEEN {2**127} AND {2**128}", lambda row: row["u"] is not None and 2**127 <= row["u"] <= 2**128)
ids("u NOT BETWEEN 1 AND 18446744073709551616", lambda row: row["u"] is not None and not 1 <= row["u"] <= 2**64)
ids("i BETWEEN '-1' AND '0x2a'", lambda row: row["i"] is not None and -1 <= row["i"] <= 42)
ids("i BETWEEN -1.5 AND 1e18", lambda row: row["i"] is not None and -1 <= row["i"] <= E18)
ids("n BETWEEN i AND u", lambda row: None not in (row["n"], row["i"], row["u"]) and row["i"] <= row["n"] <= row["u"])
ids("5 BETWEEN i AND u", lambda row: None not in (row["i"], row["u"]) and row["i"] <= 5 <= row["u"])
ids(f"u IN (1, {MAX}, 18446744073709551616)", lambda row: row["u"] in (1, MAX, 2**64))
ids("u IN ('1', '0x0', NULL)", lambda row: row["u"] in (1, 0))
ids(f"u NOT IN (0, {MAX})", lambda row: row["u"] is not None and row["u"] not in (0, MAX))
ids("u NOT IN (0, NULL)", lambda row: False)
ids(f"n IN (1, {2**70})", lambda row: row["n"] == 1)
ids("u IN (n, b, 1)", lambda row: row["u"] is not None and row["u"] in (row["n"], row["b"], 1))
ids("u IN (SELECT big FROM keys)", lambda row: row["u"] in (1, 0, MAX, 2**64))
ids("u IN (SELECT key FROM keys)", lambda row: row["u"] in (1, 0, 7, 42))
ids("n IN (SELECT big FROM keys WHERE big IS NOT NULL)", lambda row: row["n"] in (0, 1))
ids("u NOT IN (SELECT key FROM keys WHERE key IS NOT NULL)", lambda row: row["u"] is not None and row["u"] not in (1, 0, 7, 42))
ids("u > ALL (SELECT key FROM keys WHERE key IS NOT NULL)", lambda row: row["u"] is not None and row["u"] > 42)
ids("u = ANY (SELECT big FROM keys)", lambda row: row["u"] in (1, 0, MAX, 2**64))
ids("EXISTS (SELECT 1 FROM keys WHERE keys.big = t.u)", lambda row: row["u"] in (1, 0, MAX, 2**64))
ids("EXISTS (SELECT 1 FROM keys WHERE keys.key = t.i)", lambda row: row["i"] in (1, 0, 42))
ids("u = (SELECT max(u) FROM t)", lambda row: row["u"] == MAX)
ids("u > (SELECT max(n) FROM t)", lambda row: row["u"] is not None and row["u"] > I64MAX)
each("u - (SELECT min(i) FROM t)", null_safe(lambda u: u - IMIN, "u"))
each("(SELECT count(*) FROM keys WHERE keys.big = t.u)", lambda row: sum(1 for k in KEYS if row["u"] is not None and k["big"] == row["u"]))

# --- CASE, COALESCE and the like --------------------------------------------------------------------------------------
each("CASE WHEN u > 5 THEN u ELSE 0 END", lambda row: row["u"] if row["u"] is not None and row["u"] > 5 else 0)
each("CASE WHEN u > 5 THEN 0 ELSE u END", lambda row: 0 if row["u"] is not None and row["u"] > 5 else row["u"])
each("CASE WHEN u > 5 THEN 1 WHEN u = 0 THEN i ELSE b END + 1", lambda row: (lambda v: None if v is None else v + 1)(1 if row["u"] is not None and row["u"] > 5 else row["i"] if row["u"] == 0 else row["b"]))
each("CASE u WHEN 0 THEN 'zero' WHEN 18446744073709551616 THEN 'word' WHEN '1' THEN 'one' ELSE 'other' END", lambda row: {0: "zero", 2**64: "word", 1: "one"}.get(row["u"], "other"))
each("CASE n WHEN i THEN 'same' WHEN u THEN 'usame' END", lambda row: None if row["n"] is None else "same" if row["n"] == row["i"] else "usame" if row["n"] == row["u"] else None)
each("CASE WHEN u IS NULL THEN 'none' ELSE u END", lambda row: "none" if row["u"] is None else str(row["u"]))
each("coalesce(u, 0)", lambda row: row["u"] if row["u"] is not None else 0)
each("coalesce(n, u)", lambda row: row["n"] if row["n"] is not None else row["u"])
each("coalesce(u, i, -1)", lambda row: next(v for v in (row["u"], row["i"], -1) if v is not None))
each("coalesce(u, 'none')", lambda row: str(row["u"]) if row["u"] is not None else "none")
each("nullif(u, 1)", lambda row: None if row["u"] == 1 else row["u"])
each("nullif(u, i)", lambda row: None if row["u"] is not None and row["u"] == row["i"] else row["u"])
each("greatest(u, i)", lambda row: max((v for v in (row["u"], row["i"]) if v is not None), default=None))
each("least(u, i, 5)", lambda row: min(v for v in (row["u"], row["i"], 5) if v is not None))
each("greatest(n, b, i)", lambda row: max((v for v in (row["n"], row["b"], row["i"]) if v is not None), default=None))
each("nvl(u, 3)", lambda row: row["u"] if row["u"] is not None else 3)
each("nvl2(n, u, i)", lambda row: row["u"] if row["n"] is not None else row["i"])
each("[u, 1]", lambda row: f"[{'null' if row['u'] is None else row['u']}, 1]")

# --- order, groups, distinct ------------------------------------------------------------------------------------------
rows("SELECT u FROM t ORDER BY u, id", [(v,) for v in sorted(present("u"))] + [(None,)])
rows("SELECT i FROM t ORDER BY i DESC NULLS LAST", [(v,) for v in sorted(present("i"), reverse=True)] + [(None,)])
rows("SELECT i FROM t ORDER BY -i NULLS LAST LIMIT 3", [(v,) for v in sorted(present("i"), reverse=True)[:3]])
rows("SELECT id FROM t ORDER BY u % 10, id LIMIT 20", [(r["id"],) for r in sorted(ROWS, key=lambda r: (r["u"] is None, (r["u"] or 0) % 10, r["id"]))])
rows("SELECT DISTINCT u FROM t ORDER BY u", [(v,) for v in sorted(set(present("u")))] + [(None,)])
rows("SELECT u, count(*) FROM t GROUP BY u ORDER BY u", [(v, present("u").count(v)) for v in sorted(set(present("u")))] + [(None, 1)])
rows("SELECT u / 2, count(*) FROM t WHERE u IS NOT NULL GROUP BY u / 2 ORDER BY 1", [(v, sum(1 for u in present("u") if u // 2 == v)) for v in sorted({u // 2 for u in present("u")})])


def group(name, fold):
    return [(k, fold([r[name] for r in ROWS if r["k"] == k and r[name] is not None])) for k in range(3)]


rows("SELECT k, sum(u) FROM t GROUP BY k ORDER BY k", group("u", sum))
rows("SELECT k, sum(i) FROM t GROUP BY k ORDER BY k", group("i", sum))
rows("SELECT k, sum(n) FROM t GROUP BY k ORDER BY k", group("n", sum))
rows("SELECT k, sum(b) FROM t GROUP BY k ORDER BY k", group("b", sum))
rows("SELECT k, min(i) FROM t GROUP BY k ORDER BY k", group("i", min))
rows("SELECT k, max(i) FROM t GROUP BY k ORDER BY k", group("i", max))
rows("SELECT k, avg(u) FROM t GROUP BY k ORDER BY k", group("u", lambda v: tdiv(sum(v), len(v))))
rows("SELECT k, avg(i) FROM t GROUP BY k ORDER BY k", group("i", lambda v: tdiv(sum(v), len(v))))
rows("SELECT k, avg(k) FROM t GROUP BY k ORDER BY k", [(k, float(k)) for k in range(3)])
rows("SELECT k, count(u), count(DISTINCT u) FROM t GROUP BY k ORDER BY k", [(k, n, d) for (k, n), (_, d) in zip(group("u", len), group("u", lambda v: len(set(v))))])
rows("SELECT k, sum(DISTINCT u) FROM t GROUP BY k ORDER BY k", group("u", lambda v: sum(set(v))))
rows("SELECT k, sum(u) FILTER (WHERE u < 1000000) FROM t GROUP BY k ORDER BY k", [(k, sum(v) if v else None) for k, v in group("u", lambda v: [x for x in v if x < 1000000])])
rows("SELECT k, sum(u) FROM t GROUP BY k HAVING sum(u) > 2^256 ORDER BY k", [(k, v) for k, v in group("u", sum) if v > 2**256])
rows("SELECT k FROM t GROUP BY k HAVING min(i) < -(2^200) ORDER BY sum(i)", [(k,) for _, k in sorted((s, k) for (k, s), (_, m) in zip(group("i", sum), group("i", min)) if m < -(2**200))])

# --- aggregates -------------------------------------------------------------------------------------------------------
one("SELECT sum(u) FROM t", sum(present("u")))
one("SELECT sum(i), min(i), max(i), count(i) FROM t", sum(present("i")), min(present("i")), max(present("i")), len(present("i")))
one("SELECT min(u), max(u) FROM t", 0, MAX)
one("SELECT avg(u), avg(i) FROM t", tdiv(sum(present("u")), len(present("u"))), tdiv(sum(present("i")), len(present("i"))))
one("SELECT sum(n), sum(b) FROM t", sum(present("n")), sum(present("b")))
one("SELECT sum(n) + 1, sum(b) * 2 FROM t", sum(present("n")) + 1, sum(present("b")) * 2)
one("SELECT sum(u * u) FROM t", sum(u * u for u in present("u")))
one("SELECT sum(-u) FROM t", -sum(present("u")))
one("SELECT sum(u) FROM t WHERE u < 0", None)
one("SELECT avg(u) FROM t WHERE u < 0", None)
one("SELECT sum(DISTINCT u), sum(DISTINCT i) FROM t", sum(set(present("u"))), sum(set(present("i"))))
one("SELECT avg(DISTINCT u) FROM t", tdiv(sum(set(present("u"))), len(set(present("u")))))
one("SELECT count(DISTINCT u), count(DISTINCT u % 2) FROM t", len(set(present("u"))), 2)
one("SELECT sum(u) FILTER (WHERE id > 8), count(*) FILTER (WHERE u > 2^200) FROM t", sum(r["u"] for r in ROWS if r["id"] > 8 and r["u"] is not None), sum(1 for u in present("u") if u > 2**200))
one("SELECT sum(CASE WHEN i < 0 THEN 0 ELSE u END) FROM t", sum(r["u"] for r in ROWS if r["u"] is not None and not (r["i"] is not None and r["i"] < 0)))
one("SELECT sum(u) / count(u), sum(u) % 97 FROM t", sum(present("u")) // len(present("u")), sum(present("u")) % 97)
one("SELECT max(u) - min(i) FROM t", MAX - IMIN)
one("SELECT avg(n) FROM t WHERE id IN (5, 6, 10)", 11 / 3)
one("SELECT avg(id), avg(b) FROM t WHERE id <= 2", 1.5, U64MAX / 2)
one(f"SELECT sum(t.u) FROM t CROSS JOIN series WHERE t.u = {MAX}", 2 * 5000 * MAX)
one(f"SELECT avg(t.u), count(t.u) FROM t CROSS JOIN series WHERE t.u = {MAX}", MAX, 10000)
one("SELECT sum(t.i) FROM t CROSS JOIN series WHERE t.id = 1", 5000 * IMIN)
one("SELECT sum(t.b), sum(t.n) FROM t CROSS JOIN series WHERE t.id = 2", 5000 * U64MAX, 5000 * I64MAX)
one("SELECT sum(t.u * t.u) FROM t CROSS JOIN series WHERE t.id = 9", 5000 * MAX * MAX)
one("SELECT sum(x) FROM series", sum(range(1, 5001)))
rows("SELECT x % 2, sum(t.u) FROM t CROSS JOIN series WHERE t.id = 9 GROUP BY x % 2 ORDER BY 1", [(0, 2500 * MAX), (1, 2500 * MAX)])
one("SELECT array_agg(u ORDER BY u) FROM t WHERE u < 2^65", f"[0, 1, {E18}, {2**64}]")
one("SELECT median(i), stddev_pop(n) FROM t WHERE id IN (3, 4, 5)", 0.0, (2 / 3) ** 0.5)
one("SELECT string_agg(u, ',' ORDER BY u) FROM t WHERE u < 2^65", f"0,1,{E18},{2**64}")
one("SELECT first_value(u ORDER BY u DESC) FROM t WHERE u IS NOT NULL", MAX)

# --- joins and unions -------------------------------------------------------------------------------------------------
rows("SELECT t.id, keys.label FROM t JOIN keys ON t.u = keys.big ORDER BY t.id", [(r["id"], k["label"]) for r in ROWS for k in KEYS if r["u"] is not None and r["u"] == k["big"]])
rows("SELECT t.id, keys.label FROM t JOIN keys ON t.u = keys.key ORDER BY t.id", [(r["id"], k["label"]) for r in ROWS for k in KEYS if r["u"] is not None and r["u"] == k["key"]])
rows("SELECT t.id, keys.label FROM t JOIN keys ON keys.key = t.i ORDER BY t.id", [(r["id"], k["label"]) for r in ROWS for k in KEYS if r["i"] is not None and r["i"] == k["key"]])
rows("SELECT t.id, keys.label FROM t LEFT JOIN keys ON t.u = keys.big AND keys.key < 7 ORDER BY t.id", [(r["id"], next((k["label"] for k in KEYS if k["big"] == r["u"] and k["key"] is not None and k["key"] < 7), None)) for r in ROWS])
rows("SELECT a.id, b.id FROM t a JOIN t b ON a.u = b.u AND a.id < b.id ORDER BY 1", [(9, 10)])
rows("SELECT count(*) FROM t a JOIN t b ON a.u < b.i", [(sum(1 for x in present("u") for y in present("i") if x < y),)])
rows("SELECT key, label FROM (SELECT u AS key, id FROM t) w JOIN keys USING (key) ORDER BY label", [(1, "one"), (0, "zero")])
rows("SELECT u FROM t WHERE id <= 2 UNION ALL SELECT 5 ORDER BY 1", [(0,), (1,), (5,)])
rows("SELECT 5 AS x UNION ALL SELECT u FROM t WHERE id = 9 ORDER BY x", [(5,), (MAX,)])
rows("SELECT n AS x FROM t WHERE id = 5 UNION SELECT u FROM t WHERE id <= 2 ORDER BY x", [(0,), (1,)])
rows("SELECT b AS x FROM t WHERE id = 2 UNION ALL SELECT i FROM t WHERE id = 1 UNION ALL SELECT NULL ORDER BY x", [(IMIN,), (U64MAX,), (None,)])
rows("SELECT x + 1 FROM (SELECT 1 AS x UNION ALL SELECT u FROM t WHERE id = 9) ORDER BY 1", [(2,), (MAX + 1,)])
rows("SELECT u FROM t INTERSECT SELECT big FROM keys ORDER BY u", [(0,), (1,), (2**64,), (MAX,), (None,)])
rows("SELECT key FROM keys EXCEPT SELECT u FROM t ORDER BY key", [(7,), (42,)])
rows("SELECT u AS v FROM t WHERE id = 11 UNION ALL SELECT label FROM keys WHERE key = 1 ORDER BY v", [("one",), (None,)])
one("WITH RECURSIVE f(n, x) AS (SELECT 1, to_integer(1) UNION ALL SELECT n + 1, x * (n + 1) FROM f WHERE n < 60) SELECT max(x) FROM f", __import__("math").factorial(60))
one("WITH w AS (SELECT u * 2 AS y FROM t WHERE id = 9) SELECT y - 1 FROM w", MAX * 2 - 1)

# --- windows ----------------------------------------------------------------------------------------------------------


def running(name, fold):
    out, seen = [], []
    for row in ROWS:
        if row[name] is not None:
            seen.append(row[name])
        out.append((row["id"], fold(seen) if seen else None))
    return out


def sliding(name, fold, width=3):
    out = []
    for place, row in enumerate(ROWS):
        frame = [r[name] for r in ROWS[max(0, place - width + 1) : place + 1] if r[name] is not None]
        out.append((row["id"], fold(frame) if frame else None))
    return out


rows("SELECT id, sum(u) OVER (ORDER BY id) FROM t ORDER BY id", running("u", sum))
rows("SELECT id, sum(n) OVER (ORDER BY id) FROM t ORDER BY id", running("n", sum))
rows("SELECT id, avg(i) OVER (ORDER BY id) FROM t ORDER BY id", running("i", lambda v: tdiv(sum(v), len(v))))
rows("SELECT id, min(i) OVER (ORDER BY id) FROM t ORDER BY id", running("i", min))
rows("SELECT id, sum(i) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id", sliding("i", sum))
rows("SELECT id, sum(u * u) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id", [(row["id"], (lambda v: sum(x * x for x in v) if v else None)([r["u"] for r in ROWS[max(0, p - 2) : p + 1] if r["u"] is not None])) for p, row in enumerate(ROWS)])
rows("SELECT id, avg(u) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id", sliding("u", lambda v: tdiv(sum(v), len(v))))
rows("SELECT id, max(i) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id", sliding("i", max))
rows("SELECT id, sum(DISTINCT u) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM t ORDER BY id", sliding("u", lambda v: sum(set(v))))
rows("SELECT id, lag(u) OVER (ORDER BY id) FROM t ORDER BY id", [(r["id"], ROWS[p - 1]["u"] if p else None) for p, r in enumerate(ROWS)])
rows("SELECT id, lag(u, 1, 0) OVER (ORDER BY id) FROM t ORDER BY id", [(r["id"], ROWS[p - 1]["u"] if p else 0) for p, r in enumerate(ROWS)])
rows("SELECT id, lead(i, 2, -7) OVER (ORDER BY id) FROM t ORDER BY id", [(r["id"], ROWS[p + 2]["i"] if p + 2 < 12 else -7) for p, r in enumerate(ROWS)])
rows("SELECT id, u - lag(u, 1, 0) OVER (ORDER BY id) FROM t WHERE u IS NOT NULL ORDER BY id", (lambda kept: [(r["id"], r["u"] - (kept[p - 1]["u"] if p else 0)) for p, r in enumerate(kept)])([r for r in ROWS if r["u"] is not None]))
ranked = sorted((r for r in ROWS if r["u"] is not None), key=lambda r: (r["u"], r["id"]))
rows("SELECT id, row_number() OVER (ORDER BY u, id) FROM t WHERE u IS NOT NULL ORDER BY 2", [(r["id"], p + 1) for p, r in enumerate(ranked)])
rows("SELECT id, rank() OVER (ORDER BY u) FROM t WHERE u IS NOT NULL ORDER BY 2, 1", [(r["id"], 1 + sum(1 for x in ranked if x["u"] < r["u"])) for r in ranked])
rows("SELECT id, sum(id) OVER (ORDER BY u) FROM t WHERE u IS NOT NULL ORDER BY u, id", [(r["id"], sum(x["id"] for x in ranked if x["u"] <= r["u"])) for r in ranked])
rows("SELECT id, sum(u) OVER (ORDER BY u RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM t WHERE u IS NOT NULL ORDER BY u, id", [(r["id"], sum(x["u"] for x in ranked if x["u"] >= r["u"])) for r in ranked])
rows("SELECT id, sum(u) OVER (PARTITION BY k) FROM t ORDER BY id", [(r["id"], dict(group("u", sum))[r["k"]]) for r in ROWS])
rows("SELECT id, count(*) OVER (PARTITION BY u) FROM t ORDER BY id", [(r["id"], sum(1 for x in ROWS if x["u"] == r["u"])) for r in ROWS])
rows("SELECT id, first_value(u) OVER (ORDER BY u DESC NULLS LAST) FROM t ORDER BY id", [(r["id"], MAX) for r in ROWS])

# --- casts ------------------------------------------------------------------------------------------------------------
each("CAST(u AS VARCHAR)", null_safe(str, "u"))
each("i::text", null_safe(str, "i"))
each("CAST(i AS BIGINT)", null_safe(lambda i: i, "i"), f"i BETWEEN {I64MIN} AND {I64MAX}", lambda row: row["i"] is not None and I64MIN <= row["i"] <= I64MAX)
each("TRY_CAST(u AS BIGINT)", lambda row: row["u"] if row["u"] is not None and row["u"] <= I64MAX else None)
each("TRY_CAST(u AS BIGINT UNSIGNED)", lambda row: row["u"] if row["u"] is not None and row["u"] <= U64MAX else None)
each("CAST(n AS INT256) * 1000000000000000000", null_safe(lambda n: n * E18, "n"))
each("CAST(s AS INT256)", lambda row: number(row["s"]), "id NOT IN (2, 9)", lambda row: row["id"] not in (2, 9))
each("s::uint256", lambda row: number(row["s"]), "id <> 4", lambda row: row["id"] != 4)
each("try_uint256(i)", lambda row: row["i"] if row["i"] is not None and row["i"] >= 0 else None)
each("TRY_CAST(i AS UINT256)", lambda row: row["i"] if row["i"] is not None and row["i"] >= 0 else None)
each("TRY_CAST(u AS INT256)", lambda row: row["u"] if row["u"] is not None and row["u"] <= IMAX else None)
each("u || '!'", null_safe(lambda u: f"{u}!", "u"))
each("concat('n', i)", lambda row: f"n{'' if row['i'] is None else row['i']}")
each("length(u)", null_safe(lambda u: len(str(u)), "u"))
each("u LIKE '34028236692093846346337460743176821145_'", null_safe(lambda u: len(str(u)) == 39 and str(u).startswith("34028236692093846346337460743176821145"), "u"))
each("to_hex(u)", null_safe(lambda u: format(u, "x"), "u"))
each("format_units(u, 18)", null_safe(lambda u: units(u, 18), "u"))
each("format_units(i, 6)", null_safe(lambda i: units(i, 6), "i"))
each("format_units(i, 0)", null_safe(str, "i"))
one("SELECT parse_units('1.5', 18), parse_units('-0.000001', 6), parse_units('2', 0)", 15 * 10**17, -1, 2)
each("CAST(u AS DOUBLE) / 2", null_safe(lambda u: float(u) / 2, "u"), "id < 5", lambda row: row["id"] < 5)
each("u / 1e18", null_safe(lambda u: float(u) / 1e18, "u"), "id < 5", lambda row: row["id"] < 5)
one("SELECT CAST(123456789012345678901234567890 AS DECIMAL(38, 2))", "123456789012345678901234567890.00")
one("SELECT CAST(99999999999999999999 AS DECIMAL(20, 0)) + 1", 10**20)
one("SELECT to_integer(CAST('12345678901234567890.75' AS DECIMAL(38, 2)))", 12345678901234567890)
one("SELECT to_integer(-1.75e3), to_integer(1e30), to_integer(true)", -1750, int(1e30), 1)
one("SELECT CAST(to_integer(1) AS BOOLEAN), to_integer(255)::tinyint unsigned", True, 255)
one("SELECT CAST(u AS INT) FROM t WHERE id = 2", 1)
one("SELECT UINT256 '0x10', INT256 '-7'", 16, -7)
one("SELECT try_int256('nonsense'), try_to_integer('12x'), try_uint256(-1)", None, None, None)
one("SELECT uint256(word), int256(word) FROM words ORDER BY word DESC LIMIT 1", MAX, -1)
rows("SELECT uint256(word) FROM words ORDER BY 1", [(0,), (2**255,), (MAX,)])
rows("SELECT int256(word) FROM words ORDER BY 1", [(IMIN,), (-1,), (0,)])

# --- errors -----------------------------------------------------------------------------------------------------------
fails("SELECT u / 0 FROM t", "division by zero")
fails("SELECT u % i FROM t", "division by zero")
fails("SELECT 1 / 0", "division by zero")
fails("SELECT b % 0 FROM t", "division by zero")
fails("SELECT CAST(u AS BIGINT) FROM t", "does not fit bigint")
fails("SELECT CAST(i AS BIGINT UNSIGNED) FROM t", "does not fit bigint unsigned")
fails("SELECT CAST(u AS DECIMAL(38, 0)) FROM t", "does not fit decimal(38,0)")
fails("SELECT uint256(i) FROM t", "does not fit uint256")
fails("SELECT CAST(u AS INT256) FROM t", "does not fit int256")
fails("SELECT CAST('12a' AS UINT256)", "'12a' is not an integer")
fails("SELECT id FROM t WHERE u = 'abc'", "'abc' is not an integer")
fails("SELECT id FROM t WHERE u IN (1, 'x')", "'x' is not an integer")
fails("SELECT id FROM t WHERE u BETWEEN 'x' AND 5", "'x' is not an integer")
fails("SELECT id FROM t JOIN keys ON t.u = keys.label", "is not an integer")
fails("SELECT id FROM t WHERE u = true", "does not mix with boolean")
fails("SELECT u + true FROM t", "does not mix with boolean")
fails("SELECT t.id FROM t, words WHERE t.u = words.word", "does not mix with 32 bytes", "uint256(x)")
fails("SELECT n + 1 FROM t", "9223372036854775807 + 1 does not fit bigint", "int256(x)")
fails("SELECT n - 1 FROM t", "-9223372036854775808 - 1 does not fit bigint")
fails("SELECT n * n FROM t", "does not fit bigint")
fails("SELECT b + 1 FROM t", "18446744073709551615 + 1 does not fit bigint unsigned")
fails("SELECT -n FROM t", "does not fit bigint")
fails("SELECT u * u * u * u FROM t", "exceeds 1,008 bits")
fails("SELECT power(u, 4) FROM t", "exceeds 1,008 bits")
fails("SELECT 2^1008", "exceeds 1,008 bits")
fails("SELECT 10^-1", "power by -1")
fails("SELECT u << 2000 FROM t", "shift by 2000")
fails("SELECT sum(id) OVER (ORDER BY u RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM t", "RANGE with an offset")
fails("SELECT encode(u, 'hex') FROM t", "encode does not take a 256-bit integer")
fails("SELECT arrow_cast(u, 'Utf8') FROM t", "arrow_cast does not take a 256-bit integer")
fails("SELECT arrow_cast('abc', 'LargeBinary')", "arrow_cast does not take a 256-bit integer")
fails("SELECT CAST(u AS DATE) FROM t", "cannot cast a 256-bit integer")

TABLES = [
    dict(
        table="t",
        columns=[
            dict(name=name, type=ty, cells=[text(row[name]) for row in ROWS])
            for name, ty in [("id", "int64"), ("k", "int64"), ("u", "uint256"), ("i", "int256"), ("n", "int64"), ("b", "uint64"), ("s", "string"), ("d", "double")]
        ],
    ),
    dict(
        table="keys",
        columns=[
            dict(name=name, type=ty, cells=[text(row[name]) for row in KEYS])
            for name, ty in [("key", "int64"), ("big", "uint256"), ("label", "string")]
        ],
    ),
    dict(table="series", columns=[dict(name="x", type="int64", cells=[str(x) for x in range(1, 5001)])]),
    dict(table="words", columns=[dict(name="word", type="bytes32", cells=["00" * 32, "80" + "00" * 31, "ff" * 32])]),
]

target = pathlib.Path(__file__).with_suffix(".jsonl")
target.write_text("".join(json.dumps(line) + "\n" for line in TABLES + OUT))
print(f"{target.name}: {len(OUT)} queries")
