-- What every account holds: all that came in less all that went out, exact to the last of 18 digits.
SELECT account, sum(delta) AS balance
FROM (
  SELECT to_ AS account, CAST(value AS int256) AS delta FROM acorn__transfer
  UNION ALL
  SELECT from_ AS account, -CAST(value AS int256) AS delta FROM acorn__transfer
)
WHERE account <> '0x0000000000000000000000000000000000000000'
GROUP BY account
HAVING sum(delta) > 0
